"""Cypher cut into tokens, strictly: what an engine could read in two ways is refused."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from planweave.tools.database import QueryRefused

_TOKEN = re.compile(
    r"""
      (?P<space>   \s+ )
    | (?P<comment> //[^\n\r]* | /\*.*?\*/ )
    | (?P<string>  '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
    | (?P<quoted>  `(?:[^`]|``)*` )
    | (?P<number>  0[xo][0-9a-f]+ | (?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)? )
    | (?P<name>    [a-z_]\w* )
    | (?P<mark>    /(?!\*) | [()\[\]{}.,:;|&!%+\-*^=<>~$?] )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)
_ESCAPE = re.compile(r"\\u(?:(?P<hex>[0-9a-fA-F]{4}))?")
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
_PLAIN = "Write the query in plain ASCII; other letters belong in strings or backticked names."


@dataclass(frozen=True, slots=True)
class CypherToken:
    """One token: its kind (string, number, name, quoted, mark), text and place in the query."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The place behind it."""
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """The upper-case word of an unquoted name, else an empty string."""
        return self.text.upper() if self.kind == "name" else ""

    @property
    def identifier(self) -> str:
        """The label, property or variable that a name stands for, else an empty string."""
        if self.kind == "quoted":
            return self.text[1:-1].replace("``", "`")
        return self.text if self.kind == "name" else ""


class Edit(NamedTuple):
    """Text that takes the place of the query from ``start`` to ``end``."""

    start: int
    end: int
    text: str


Tokens: TypeAlias = Sequence[CypherToken]
Corrections: TypeAlias = Iterator[tuple[list[Edit], str]]
"""Edits that belong together, and what is reported of them."""


def instead(token: CypherToken, text: str) -> Edit:
    """Write ``text`` in the place of a token."""
    return Edit(token.start, token.end, text)


def before(token: CypherToken, text: str) -> Edit:
    """Write ``text`` before a token."""
    return Edit(token.start, token.start, text)


def behind(token: CypherToken, text: str) -> Edit:
    """Write ``text`` behind a token."""
    return Edit(token.end, token.end, text)


def tokenize(query: str) -> tuple[CypherToken, ...]:
    """Cut ``query`` into tokens; comments and white space are left out.

    Raises:
        QueryRefused: Something is left open, is not ASCII outside of quotes, or is a Unicode
            escape that would end a string once the engine decodes it.
    """
    return tuple(_tokens(query))


def _tokens(query: str) -> Iterator[CypherToken]:
    position = 0
    while position < len(query):
        match = _TOKEN.match(query, position)
        if match is None:
            raise _unreadable(query, position)
        kind = match.lastgroup or ""
        if kind not in ("space", "comment"):
            _check(kind, match.group())
            yield CypherToken(kind, match.group(), position)
        position = match.end()


def _unreadable(query: str, position: int) -> QueryRefused:
    character = query[position]
    if character in "'\"`":
        return QueryRefused("The query leaves a quote open.", fix="Close every string and name.")
    if query.startswith("/*", position):
        return QueryRefused("The query leaves a comment open.", fix="Drop the comment.")
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return QueryRefused(f"The query holds the character {shown!r} outside of quotes.", fix=_PLAIN)


def _check(kind: str, text: str) -> None:
    r"""Refuse what changes its meaning when an engine decodes ``\uXXXX`` before it parses."""
    if kind not in ("string", "quoted"):
        return
    if kind == "quoted" and not text.isprintable():
        raise QueryRefused("A quoted name holds an invisible character.", fix=_PLAIN)
    for escape in _ESCAPE.finditer(text):
        decoded = chr(int(escape["hex"], 16)) if escape["hex"] else ""
        if kind == "quoted" or not decoded.isprintable() or decoded in "'\"`\\":
            raise QueryRefused(
                "The query hides a character behind a \\u escape.",
                fix="Write the character itself.",
            )


def bare(query: str, tokens: tuple[CypherToken, ...]) -> str:
    """The query without comments, trailing semicolons and outer white space."""
    pieces: list[str] = []
    end = tokens[0].start if tokens else 0
    for token in tokens:
        between = query[end : token.start]
        # A comment may be all that parts two words; engines disagree on comments, not on blanks.
        pieces.append(between if between.isspace() else " " if between else "")
        pieces.append(token.text)
        end = token.end
    return "".join(pieces)


class Brackets(NamedTuple):
    """The brackets of a query, by the places of their tokens.

    Attributes:
        closing: The bracket that closes each opening one; what is unbalanced is for the engine.
        around: For each token the opening bracket that it is directly inside of.
    """

    closing: dict[int, int]
    around: list[int | None]


def brackets(tokens: Tokens) -> Brackets:
    """Find the brackets of a query."""
    found, opened = Brackets({}, []), list[int]()
    for index, token in enumerate(tokens):
        if token.text in CLOSING and opened:
            found.closing[opened.pop()] = index
        found.around.append(opened[-1] if opened else None)
        if token.text in OPENING:
            opened.append(index)
    return found
