"""Keeps a graph's own properties apart from those that the embedded engine makes up.

The engine answers ``n.id``, ``n.name`` and some others for any node, whether or not it has such a
property. So a property of such a name is stored under another one, and every query is rewritten
to ask for that: what the engine makes up is never asked for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from planweave.tools.cypher.tokens import Token
from planweave.tools.database import QueryFailed

INVENTED = frozenset(
    ("connection_type", "end", "id", "label", "name", "node_type", "start", "title", "type")
)
"""Properties that the engine makes up; found by asking it for every word that it holds."""

_MARK = "planweave__"
_NAMES = "[" + ", ".join(f"'{name}'" for name in sorted(INVENTED)) + "]"
_KEY = f"{_MARK}key"
_OWN_KEY = f"CASE WHEN {_KEY} IN {_NAMES} THEN '{_MARK}' + {_KEY} ELSE {_KEY} END"
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
_CLAUSES = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL", "USE"}
# Words after which a bracket opens a list and is no access to what stands before it.
_BEFORE_LIST = {"AND", "AS", "BY", "CASE", "CONTAINS", "DISTINCT", "ELSE", "END", "IN", "IS", "NOT"}
_BEFORE_LIST |= {"OR", "ON", "RETURN", "THEN", "UNWIND", "WHEN", "WHERE", "WITH", "XOR"}
_AFTER_ITEMS = {"ORDER", "SKIP", "LIMIT", "OFFSET", "UNION"}
_GATHERING = {"avg", "collect", "count", "max", "min", "stdev", "stdevp", "sum"}
_OF_TEXTS = {"left", "lower", "ltrim", "replace", "reverse", "right", "rtrim", "split", "substring"}
_OF_TEXTS |= {"tolower", "tostring", "tostringlist", "tostringornull", "toupper", "trim", "upper"}
ELEMENT_AS_TEXT = re.compile(
    r"\(:[^(){}]+ \{id: \d+\}\)|\[:[^\[\]{}]+ \{id: \d+, start: \d+, end: \d+\}\]"
)
"""How the engine writes a node or a relationship where a text is needed; Neo4j refuses that."""


def own(name: str) -> str:
    """The name under which the engine keeps a property."""
    return _MARK + name if name in INVENTED else name


def shown(text: str) -> str:
    """A name, column or message of the engine's as a person wrote it."""
    return text.replace(_MARK, "")


def rewritten(statement: str, tokens: Sequence[Token]) -> str:
    """The statement that asks for the graph's own properties alone.

    Raises:
        QueryFailed: It needs what the engine cannot tell apart.
    """
    if _MARK in statement:
        raise QueryFailed(f"No name may hold {_MARK!r}.", mend="Use another name.")
    return _Rewriting(statement, tokens).text()


class _Rewriting:
    def __init__(self, statement: str, tokens: Sequence[Token]) -> None:
        self._statement, self._tokens = statement, tokens
        self._closing = dict(_pairs(tokens))
        self._around = list(_innermost(tokens))
        self._texts = [token.text for token in tokens]
        self._before: dict[int, str] = {}
        self._after: dict[int, str] = {}
        self._changed: set[int] = set()

    def text(self) -> str:
        for index, token in enumerate(self._tokens):
            if token.identifier in INVENTED:
                self._name(index)
            if token.text == "[" and self._is_access(index):
                self._access(index)
            if token.text == "(" and index and self._tokens[index - 1].kind == "name":
                self._call(index - 1)
            if token.text == "*" and self._tokens[index - 1].text == ".":
                self._check_item(index, "{.*}")
        self._keep_column_names()
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        end = 0
        for index, token in enumerate(self._tokens):
            yield self._statement[end : token.start]
            yield self._before.get(index, "") + self._texts[index] + self._after.get(index, "")
            end = token.start + len(token.text)
        yield self._statement[end:]

    def _at(self, index: int) -> str:
        return self._tokens[index].text if 0 <= index < len(self._tokens) else ""

    def _name(self, index: int) -> None:
        """Rename a property or the key of a map; leave variables, labels and functions."""
        name, before, after = (
            self._tokens[index].identifier,
            self._at(index - 1),
            self._at(index + 1),
        )
        if before == "." and self._at(index - 2)[-1:] != "." and after != "(":
            self._texts[index] = own(name)
        elif before in ("{", ",") and self._is_in_map(index):
            if after == ":":
                self._texts[index] = own(name)
            elif after in (",", "}"):  # n {name}: the variable under its own name
                self._texts[index] = f"{own(name)}: {self._tokens[index].text}"

    def _is_in_map(self, index: int) -> bool:
        """Whether the innermost bracket is that of a map, not of a subquery."""
        opened = self._around[index]
        if opened is None or self._at(opened) != "{":
            return False
        first = self._tokens[opened + 1]
        return first.word not in _CLAUSES or self._at(opened + 2) in (":", ",", "}")

    def _is_access(self, index: int) -> bool:
        before = self._tokens[index - 1] if index else None
        if before is None or (before.word in _BEFORE_LIST and self._at(index - 2) != "."):
            return False
        return bool(before.identifier) or before.text in (")", "]", "}")

    def _access(self, index: int) -> None:
        """``n['name']`` and ``n[key]``; an index of a list stays what it is."""
        end = self._closing.get(index, index + 1)
        inside = self._tokens[index + 1 : end]
        texts = [token.text for token in inside]
        if [token.kind for token in inside] in (["number"], ["mark", "number"]) or not inside:
            return
        if any(first == "." and second[0] == "." for first, second in pairwise(texts)):
            return  # a part of a list, as in l[0..2]
        if len(inside) == 1 and inside[0].kind == "string" and "\\" not in texts[0]:
            name = texts[0][1:-1]
            self._texts[index + 1] = f"'{own(name)}'" if name in INVENTED else texts[0]
            return
        self._wrap(index + 1, end - 1, f"head([{_KEY} IN [", f"] | {_OWN_KEY}])")

    def _call(self, index: int) -> None:
        """Functions that show what an element has."""
        if self._at(index - 1) == ".":
            if self._tokens[index].text == "propertyKeys":
                raise QueryFailed(
                    "db.propertyKeys() is not available here.", mend="The schema lists the keys."
                )
            return
        name = self._tokens[index].text.lower()
        end = self._closing.get(index + 1, index + 1)
        if name == "keys":
            kept = f" WHERE NOT {_KEY} IN {_NAMES} | replace({_KEY}, '{_MARK}', '')]"
            self._wrap(index, end, f"[{_KEY} IN ", kept)
        elif name == "properties":
            is_argument = self._at(index - 1) == "(" and self._at(index - 2).lower() == "keys"
            if not is_argument and self._at(end + 1) not in (".", "["):
                self._check_item(index, "properties()")
        elif (
            name in _OF_TEXTS and self._at(index + 3) in (")", ",") and self._is_element(index + 2)
        ):
            raise QueryFailed(
                f"{self._tokens[index].text}() takes a value, not a node or relationship.",
                mend="Write one of its properties.",
            )

    def _is_element(self, index: int) -> bool:
        """Whether a node or relationship of a pattern is the whole argument."""
        variable = self._tokens[index].identifier
        return self._at(index + 1) in (")", ",") and any(
            token.identifier == variable
            and self._at(place - 1) in ("(", "[")
            and self._at(place + 1) in (":", ")", "]", "{")
            and self._at(place - 2).upper() in ("MATCH", ",", "-", ">", "=")
            for place, token in enumerate(self._tokens)
        )

    def _check_item(self, index: int, what: str) -> None:
        """Allow all properties at once only where nothing compares them but a person."""
        start, end = self._last_return()
        words = {token.text.lower() for token in self._tokens[start:end]}
        is_compared = words & (_GATHERING | {"distinct", "=", "<", ">", "in"})
        unites = any(
            token.word == "UNION" and self._tokens[place + 1].word != "ALL"
            for place, token in enumerate(self._tokens[:-1])
        )
        if index < start or index >= end or is_compared or unites:
            raise QueryFailed(
                f"{what} can only be an item of the last RETURN here, without DISTINCT, comparison "
                "or aggregate.",
                mend="Name the properties, as in n {.a, .b}, or return the node itself.",
            )

    def _last_return(self) -> tuple[int, int]:
        """The items of the last RETURN that stands in no bracket."""
        starts = [start for start, _ in self._returns()]
        return next((pair for pair in self._returns() if pair[0] == max(starts)), (0, 0))

    def _returns(self) -> Iterator[tuple[int, int]]:
        for index, token in enumerate(self._tokens):
            if (
                token.word == "RETURN"
                and self._around[index] is None
                and self._at(index - 1) != "."
            ):
                end = index + 1
                while end < len(self._tokens) and not (
                    self._around[end] is None and self._tokens[end].word in _AFTER_ITEMS
                ):
                    end += 1
                yield index + 1, end

    def _wrap(self, start: int, end: int, before: str, after: str) -> None:
        self._before[start] = before + self._before.get(start, "")
        self._after[end] = self._after.get(end, "") + after
        self._changed.update((start, end))

    def _keep_column_names(self) -> None:
        """An item without AS is named by its text: by the one that was written."""
        for start, end in self._returns():
            for first, last in self._items(start + (self._at(start).upper() == "DISTINCT"), end):
                if not self._changed & set(range(first, last + 1)):
                    continue
                if any(
                    self._tokens[place].word == "AS" and self._around[place] is None
                    for place in range(first, last)
                ):
                    continue
                final = self._tokens[last]
                text = self._statement[self._tokens[first].start : final.start + len(final.text)]
                name = text.replace("`", "``")
                self._after[last] = self._after.get(last, "") + f" AS `{name}`"

    def _items(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        first = start
        for index in range(start, end):
            if self._at(index) == "," and self._around[index] is None:
                yield first, index - 1
                first = index + 1
        if first < end:
            yield first, end - 1


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Each opening bracket with the one that closes it."""
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in _OPENING:
            opened.append(index)
        elif token.text in _CLOSING and opened:
            yield opened.pop(), index


def _innermost(tokens: Sequence[Token]) -> Iterator[int | None]:
    """For each token the bracket that it stands in."""
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in _CLOSING and opened:
            opened.pop()
        yield opened[-1] if opened else None
        if token.text in _OPENING:
            opened.append(index)


def plain_map(value: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The entries of a map of the engine's that are the graph's or the query's own."""
    for key, item in value.items():
        if key not in INVENTED:
            yield shown(key), item
