"""Keeps a graph's own properties apart from those that the embedded engine makes up.

The engine answers ``n.id``, ``n.name`` and some others for any node, whether or not it has such a
property. So a property of such a name is stored under another one, and every query is rewritten
to ask for that: what the engine makes up is never asked for.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from planweave.tools.cypher.tokens import CLOSING, OPENING, Tokens, brackets
from planweave.tools.database import QueryFailed

INVENTED = frozenset(
    ("connection_type", "end", "id", "label", "name", "node_type", "start", "title", "type")
)
"""Properties that the engine makes up; found by asking it for every word that it holds."""

_MARK = "planweave__"
_NAMES = "[" + ", ".join(f"'{name}'" for name in sorted(INVENTED)) + "]"
_KEY = f"{_MARK}key"
_OWN_KEY = f"CASE WHEN {_KEY} IN {_NAMES} THEN '{_MARK}' + {_KEY} ELSE {_KEY} END"
_CLAUSES = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL", "USE"}
# Words after which a bracket opens a list and is no access to what is before it.
_BEFORE_LIST = {"AND", "AS", "BY", "CASE", "CONTAINS", "DISTINCT", "ELSE", "END", "IN", "IS", "NOT"}
_BEFORE_LIST |= {"OR", "ON", "RETURN", "THEN", "UNWIND", "WHEN", "WHERE", "WITH", "XOR"}
_AFTER_ITEMS = {"ORDER", "SKIP", "LIMIT", "OFFSET", "UNION"}
_GATHERING = {"avg", "collect", "count", "max", "min", "stdev", "stdevp", "sum"}
_OF_TEXTS = {"left", "lower", "ltrim", "replace", "reverse", "right", "rtrim", "split", "substring"}
_OF_TEXTS |= {"tolower", "tostring", "tostringlist", "tostringornull", "toupper", "trim", "upper"}
_OF_VALUES = _OF_TEXTS - {"reverse"}
_OF_VALUES |= {"abs", "avg", "count", "exists", "id", "length", "round", "size", "sum"}
_OF_VALUES |= {"ceil", "date", "datetime", "duration", "elementid", "floor", "sqrt", "stdev"}
_OF_VALUES |= {"stdevp", "tofloat", "tointeger", "type", "valuetype"}
_OF_LISTS = {"collect", "keys", "labels", "nodes", "range", "relationships", "split"}
# Words and marks at which what is added ends. A bar may be half an operator.
_ENDS = {"AND", "AS", "ASC", "ASCENDING", "BY", "CONTAINS", "DESC", "DESCENDING", "DISTINCT"}
_ENDS |= {"ELSE", "ENDS", "IN", "IS", "LIMIT", "MATCH", "NOT", "OFFSET", "OPTIONAL", "OR", "ORDER"}
_ENDS |= {"RETURN", "SKIP", "STARTS", "THEN", "UNION", "UNWIND", "WHEN", "WHERE", "WITH", "XOR"}
_ENDS |= {",", ":", "=", "<", ">", "-", "~"}
_NAMES_SEEN = 20  # of a sum
_TEXT = f"{_MARK}text"
_IS_ELEMENT = f"valueType({_TEXT}) =~ '(NODE|RELATIONSHIP|PATH|MAP).*'"
_HAS_LIST = f"any({_KEY} IN [{{}}] WHERE valueType({_KEY}) STARTS WITH 'LIST')"
_IS_NO_VALUE = f"valueType({_TEXT}) =~ '(NODE|RELATIONSHIP|PATH|MAP|LIST).*'"
ELEMENT_AS_TEXT = re.compile(
    r"\(:[^(){}]+ \{id: \d+\}\)|\[:[^\[\]{}]+ \{id: \d+, start: \d+, end: \d+\}\]"
)
"""How the engine writes a node or a relationship where a text is needed; Neo4j refuses that."""

NO_TEXT = "toBoolean() expects a boolean or a string, got "
"""How the engine fails where a query would make a text of an element."""


def own(name: str) -> str:
    """The name under which the engine keeps a property."""
    return _MARK + name if name in INVENTED else name


def shown(text: str) -> str:
    """A name, column or message of the engine's as a person wrote it."""
    return text.replace(_MARK, "")


def rewritten(statement: str, tokens: Tokens) -> str:
    """The statement that asks for the graph's own properties alone.

    Raises:
        QueryFailed: It needs what the engine cannot distinguish.
    """
    if _MARK in statement:
        raise QueryFailed(f"No name may hold {_MARK!r}.", fix="Use another name.")
    return _Rewriting(statement, tokens).text()


class _Wrap(NamedTuple):
    """What is written around the tokens from ``start`` to ``end``."""

    start: int
    end: int
    before: str
    after: str


def _length(wrap: _Wrap) -> int:
    return wrap.end - wrap.start


class _Rewriting:
    def __init__(self, statement: str, tokens: Tokens) -> None:
        self._statement, self._tokens = statement, tokens
        self._closing, self._around = brackets(tokens)
        self._other_end = self._closing | {end: start for start, end in self._closing.items()}
        self._texts = [token.text for token in tokens]
        self._clauses = list(_clauses_of(tokens))
        self._signs = {index for index in range(len(tokens)) if self._is_sign(index)}
        self._in_pattern = {
            token.identifier for index, token in enumerate(tokens) if self._is_in_pattern(index)
        }
        self._beginning: defaultdict[int, list[_Wrap]] = defaultdict(list)
        self._ending: defaultdict[int, list[_Wrap]] = defaultdict(list)
        self._names: dict[int, str] = {}
        self._changed: set[int] = set()

    def text(self) -> str:
        for index, token in enumerate(self._tokens):
            if token.identifier in INVENTED:
                self._name(index)
            if token.text == "[" and self._is_access(index):
                self._access(index)
            if token.text == "(" and index and self._tokens[index - 1].kind == "name":
                self._call(index - 1)
            if index in self._signs:
                self._sum(index)
            if token.text == "*" and self._tokens[index - 1].text == ".":
                self._check_item(index, "{.*}")
        self._keep_column_names()
        self._count_row_by_row()
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        end = 0
        for index, token in enumerate(self._tokens):
            yield self._statement[end : token.start]
            # Of several that begin here the longest is outermost; one that came later is outer.
            begin = sorted(self._beginning[index], key=_length, reverse=True)
            yield "".join(one.before for one in begin) + self._texts[index]
            ending = sorted(self._ending[index], key=_length)
            yield "".join(one.after for one in ending) + self._names.get(index, "")
            end = token.end
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
                    "db.propertyKeys() is not available here.", fix="The schema lists the keys."
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
        elif name in _OF_TEXTS and end > index + 2:
            _, last = next(self._items(index + 2, end))
            if not self._is_value(index + 2, last):
                self._refuse(index + 2, last, _IS_ELEMENT if name == "reverse" else _IS_NO_VALUE)

    # The engine makes a text of a node where one is added to a text, or given to a function of
    # texts. Only it knows what a value is: so it is asked, and fails on purpose.

    def _is_sign(self, index: int) -> bool:
        """Whether an operator is here that adds, or joins texts (``||``)."""
        if self._at(index) == "|":
            first, second = self._tokens[index], self._tokens[index + 1 : index + 2]
            return any(one.text == "|" and one.start == first.start + 1 for one in second)
        opened = self._around[index]
        in_map = opened is not None and self._at(opened) == "{"
        is_sign = self._at(index) == "+" and self._at(index + 1) != "="
        return is_sign and (in_map or self._clauses[index] != "MATCH")

    def _sum(self, index: int) -> None:
        """Refuse an element among what is added, unless it is added to a list."""
        if any(place in self._signs for place in self._beside(index, -1)):
            return  # done with the first sign of this sum
        terms = [pair for pair in self._terms(index) if pair[0] <= pair[1] < len(self._tokens)]
        if any(self._is_list(first, last) for first, last in terms):
            return
        names = [self._at(a) for a, z in terms if a == z and not self._is_value(a, z)][:_NAMES_SEEN]
        for first, last in terms:
            if not self._is_value(first, last):
                others = [name for name in names if (first, name) != (last, self._at(last))]
                lists = _HAS_LIST.format(", ".join(others))
                self._refuse(
                    first, last, f"{_IS_ELEMENT} AND NOT {lists}" if others else _IS_ELEMENT
                )

    def _refuse(self, first: int, last: int, what: str) -> None:
        is_element = first == last and self._tokens[first].identifier in self._in_pattern
        if is_element and self._clauses[first] == "BY":
            raise QueryFailed(  # a failing order is no error to the engine
                "A node or relationship is no text.", fix="Write one of its properties."
            )
        failing = f"CASE WHEN {what} THEN toBoolean({_TEXT}) ELSE {_TEXT} END"
        self._wrap(first, last, f"head([{_TEXT} IN [", f"] | {failing}])")

    def _terms(self, index: int) -> Iterator[tuple[int, int]]:
        """First and last token of each part of a sum, of which a sign is at ``index``."""
        before, after = list(self._beside(index, -1)), list(self._beside(index, 1))
        signs = [place for place in (*reversed(before), index, *after) if place in self._signs]
        start = before[-1] if before else index
        for sign in signs:
            yield start, sign - 1
            start = sign + (2 if self._at(sign) == "|" else 1)
        yield start, after[-1] if after else start

    def _beside(self, index: int, step: int) -> Iterator[int]:
        """Tokens of the same sum before or behind ``index``, those in brackets left out."""
        place = index + step
        while 0 <= place < len(self._tokens):
            token, is_name = self._tokens[place], self._at(place - 1) == "."
            is_bar = token.text == "|" and self._signs.isdisjoint((place, place - 1))
            at_end = (token.word if token.kind == "name" else token.text) in _ENDS and not is_name
            shut = token.text in (OPENING if step < 0 else CLOSING)
            if is_bar or at_end or shut:
                return
            yield place
            other = self._past(place, step)
            if other != place:
                yield other
            place = other + step

    def _past(self, place: int, step: int) -> int:
        """The other end of a bracket or a CASE that begins (or, going back, ends) here."""
        if place in self._other_end:
            return self._other_end[place]
        begin, end = ("CASE", "END") if step > 0 else ("END", "CASE")
        if self._tokens[place].word != begin:
            return place
        depth = 0
        for other in range(place, len(self._tokens) if step > 0 else -1, step):
            depth += (self._tokens[other].word == begin) - (self._tokens[other].word == end)
            if depth == 0:
                return other
        return place

    def _is_value(self, first: int, last: int) -> bool:
        """Whether this is surely no element: a literal, a property, what some functions give."""
        token = self._tokens[first]
        if first == last:
            return not token.identifier or token.word in ("TRUE", "FALSE", "NULL")
        if self._at(first + 1) == "(" and self._closing.get(first + 1) == last:
            return token.word.lower() in _OF_VALUES
        is_property = last == first + 2 and self._at(first + 1) == "."
        return is_property and token.identifier in self._in_pattern

    def _is_list(self, first: int, last: int) -> bool:
        bracket = first + (self._at(first).lower() in _OF_LISTS)
        is_list = self._at(bracket) == "[" or bracket > first
        return is_list and self._closing.get(bracket) == last

    def _is_in_pattern(self, index: int) -> bool:
        return (
            self._at(index - 1) in ("(", "[")
            and self._at(index + 1) in (":", ")", "]", "{")
            and self._at(index - 2).upper() in ("MATCH", ",", "-", ">", "=")
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
                fix="Name the properties, as in n {.a, .b}, or return the node itself.",
            )

    def _last_return(self) -> tuple[int, int]:
        """The items of the last RETURN that is in no bracket."""
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
        wrap = _Wrap(start, end, before, after)
        self._beginning[start].insert(0, wrap)
        self._ending[end].append(wrap)
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
                text = self._statement[self._tokens[first].start : self._tokens[last].end]
                name = text.replace("`", "``")
                self._names[last] = f" AS `{name}`"

    def _count_row_by_row(self) -> None:
        """A count that is all that is returned: DISTINCT keeps its one row as it is.

        Without it the engine takes a short cut over two links that leaves out rows, or does not
        look at the properties of the node at the end.
        """
        for start, _ in self._returns():
            if self._at(start).lower() == "count":
                self._texts[start - 1] += " DISTINCT"

    def _items(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        first = start
        for index in range(start, end):
            if self._at(index) == "," and self._around[index] == self._around[start]:
                yield first, index - 1
                first = index + 1
        if first < end:
            yield first, end - 1


def _clauses_of(tokens: Tokens) -> Iterator[str]:
    """For each token the word of the clause that it is in."""
    clause = ""
    for token in tokens:
        yield clause
        clause = token.word if token.word in _CLAUSES | {"WHERE", "BY"} else clause


def plain_map(value: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The entries of a map of the engine's that are the graph's or the query's own."""
    for key, item in value.items():
        if key not in INVENTED:
            yield shown(key), item
