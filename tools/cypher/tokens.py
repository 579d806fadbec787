"""Split Cypher into tokens; text that engines could read in two ways is refused."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
_PLAIN_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_KEYWORDS = """
    all and any as asc ascending by call case contains count create delete desc descending detach
    distinct drop else end ends exists false foreach from group having in is limit load match merge
    no node none not null on optional or order remove return set single skip starts then true union
    unique unwind using when where with xor yield
"""
_RESERVED = frozenset(_KEYWORDS.split())
_CLAUSE_WORDS = """
    MATCH OPTIONAL UNWIND CALL WITH WHERE RETURN ORDER SKIP LIMIT UNION GROUP HAVING
"""
_CLAUSES = frozenset(_CLAUSE_WORDS.split())
_BEFORE_NAMES = (":", ".", "|", "STARTS", "ENDS")
_ESCAPE = re.compile(r"\\u(?:(?P<hex>[0-9a-fA-F]{4}))?")
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
_ASCII_FIX = "Write the query in plain ASCII; other letters belong in strings or backticked names."


@dataclass(frozen=True, slots=True)
class CypherToken:
    """One token: its kind (string, number, name, quoted, mark), text and position in the query."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The position after it."""
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """The upper-case word of an unquoted name, else an empty string."""
        return self.text.upper() if self.kind == "name" else ""

    @property
    def identifier(self) -> str:
        """The label, property or variable that the token names, else an empty string."""
        if self.kind == "quoted":
            return self.text[1:-1].replace("``", "`")
        return self.text if self.kind == "name" else ""

    def replace_with(self, text: str) -> "Edit":
        """Write ``text`` in place of the token."""
        return Edit(self.start, self.end, text)

    def insert_before(self, text: str) -> "Edit":
        """Write ``text`` before the token."""
        return Edit(self.start, self.start, text)

    def insert_after(self, text: str) -> "Edit":
        """Write ``text`` after the token."""
        return Edit(self.end, self.end, text)


class Edit(NamedTuple):
    """Text that replaces the query from ``start`` to ``end``."""

    start: int
    end: int
    text: str


Tokens: TypeAlias = Sequence[CypherToken]
Corrections: TypeAlias = Iterator[tuple[list[Edit], str]]
"""Edits that belong together, and the change that is reported for them."""

_NO_TOKEN = CypherToken("", "", 0)


def token_at(tokens: Tokens, index: int) -> CypherToken:
    """The token at ``index``; an empty token if there is none."""
    return tokens[index] if 0 <= index < len(tokens) else _NO_TOKEN


def apply_edits(statement: str, edits: Iterable[Edit]) -> str:
    """The statement with all edits, each applied once."""
    for edit in sorted({*edits}, reverse=True):
        statement = statement[: edit.start] + edit.text + statement[edit.end :]
    return statement


def quote_name(name: str) -> str:
    """A label, type, property or variable; in backticks, unless it is a plain name."""
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def tokenize(query: str) -> tuple[CypherToken, ...]:
    """Split ``query`` into tokens, without comments and white space.

    Raises:
        QueryRefused: A quote or comment is open, a character outside quotes is not ASCII, or a
            Unicode escape would end a string once the engine decodes it.
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
    return QueryRefused(
        f"The query holds the character {shown!r} outside of quotes.", fix=_ASCII_FIX
    )


def _check(kind: str, text: str) -> None:
    r"""Refuse text whose meaning changes if an engine decodes ``\uXXXX`` before it parses."""
    if kind not in ("string", "quoted"):
        return
    if kind == "quoted" and not text.isprintable():
        raise QueryRefused("A quoted name holds an invisible character.", fix=_ASCII_FIX)
    for escape in _ESCAPE.finditer(text):
        decoded = chr(int(escape["hex"], 16)) if escape["hex"] else ""
        if kind == "quoted" or not decoded.isprintable() or decoded in "'\"`\\":
            raise QueryRefused(
                "The query hides a character behind a \\u escape.",
                fix="Write the character itself.",
            )


def remove_comments(query: str, tokens: Tokens) -> str:
    """The query without comments, trailing semicolons and outer white space."""
    pieces: list[str] = []
    end = tokens[0].start if tokens else 0
    for token in tokens:
        between = query[end : token.start]
        # Only a comment may separate two words; engines agree on blanks, not on comments.
        pieces.append(between if between.isspace() else " " if between else "")
        pieces.append(token.text)
        end = token.end
    return "".join(pieces)


class Brackets(NamedTuple):
    """The brackets of a query, by the indices of their tokens.

    Attributes:
        closing: The closing bracket of each opening one; the engine rejects unbalanced ones.
        around: For each token the innermost opening bracket around it.
    """

    closing: dict[int, int]
    around: list[int | None]


def find_brackets(tokens: Tokens) -> Brackets:
    """Match the brackets of a query."""
    found, opened = Brackets({}, []), list[int]()
    for index, token in enumerate(tokens):
        if token.text in CLOSING and opened:
            found.closing[opened.pop()] = index
        found.around.append(opened[-1] if opened else None)
        if token.text in OPENING:
            opened.append(index)
    return found


def find_clauses(tokens: Tokens) -> list[CypherToken]:
    """The words that begin a clause; labels, properties and operators of such names are skipped."""
    found = []
    for index, token in enumerate(tokens):
        before, after = token_at(tokens, index - 1), token_at(tokens, index + 1)
        is_name = (before.identifier.upper() or before.text) in _BEFORE_NAMES
        is_half = token.word in ("ORDER", "GROUP") and after.word != "BY"
        if token.word in _CLAUSES and not is_name and not is_half:
            found.append(token)
    return found


def lacks_return(query: str) -> bool:
    """Whether a query returns nothing; some engines then show what they matched.

    Raises:
        QueryRefused: It cannot be split into tokens.
    """
    words = [token.word for token in find_clauses(tokenize(query))]
    return bool(words) and "RETURN" not in words


def split_items(text: str) -> list[str]:
    """The expressions of a list, split at its outer commas."""
    tokens = tokenize(text)
    marks = zip(tokens, find_brackets(tokens).around, strict=True)
    commas = [token.start for token, opened in marks if token.text == "," and opened is None]
    return [text[a + 1 : b].strip() for a, b in pairwise([-1, *commas, len(text)])]
