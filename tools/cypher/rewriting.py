"""Rewrite queries so that the embedded engine returns only properties that the graph stores.

The engine returns ``n.id``, ``n.name`` and some others for any node, even if the node has no such
property. So the graph stores properties of these names under other names, and every query is
rewritten to ask for those.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from operator import itemgetter

from planweave.tools.cypher.tokens import CLOSING, OPENING, Tokens, find_brackets, token_at
from planweave.tools.database import QueryFailed

INVENTED = frozenset(
    ("connection_type", "end", "id", "label", "name", "node_type", "start", "title", "type")
)
"""Properties that the engine invents; found by asking it for every word in its binary."""

_MARK = "planweave__"
_INVENTED_NAMES = "[" + ", ".join(f"'{name}'" for name in sorted(INVENTED)) + "]"
_KEY = f"{_MARK}key"
_STORED_KEY = f"CASE WHEN {_KEY} IN {_INVENTED_NAMES} THEN '{_MARK}' + {_KEY} ELSE {_KEY} END"
_CLAUSES = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL", "USE"}
_WORDS_BEFORE_LIST = """
    AND AS BY CASE CONTAINS DISTINCT ELSE END IN IS NOT OR ON RETURN THEN UNWIND WHEN WHERE WITH XOR
"""
_BEFORE_LIST = frozenset(_WORDS_BEFORE_LIST.split())
"""Words after which a bracket opens a list, not a subscript."""
_AFTER_ITEMS = {"ORDER", "SKIP", "LIMIT", "OFFSET", "UNION"}
_AGGREGATES = {"avg", "collect", "count", "max", "min", "stdev", "stdevp", "sum"}
_NAMES_OF_TEXT_FUNCTIONS = """
    left lower ltrim replace reverse right rtrim split substring tolower tostring tostringlist
    tostringornull toupper trim upper
"""
_TEXT_FUNCTIONS = frozenset(_NAMES_OF_TEXT_FUNCTIONS.split())
_NAMES_OF_VALUE_FUNCTIONS = """
    abs avg ceil count date datetime duration elementid exists floor id length round size sqrt stdev
    stdevp sum tofloat tointeger type valuetype
"""
_VALUE_FUNCTIONS = _TEXT_FUNCTIONS - {"reverse"} | {*_NAMES_OF_VALUE_FUNCTIONS.split()}
_LIST_FUNCTIONS = {"collect", "keys", "labels", "nodes", "range", "relationships", "split"}
_WORDS_AFTER_TERM = """
    AND AS ASC ASCENDING BY CONTAINS DESC DESCENDING DISTINCT ELSE ENDS IN IS LIMIT MATCH NOT OFFSET
    OPTIONAL OR ORDER RETURN SKIP STARTS THEN UNION UNWIND WHEN WHERE WITH XOR
"""
_TERM_ENDS = frozenset((*_WORDS_AFTER_TERM.split(), *",:=<>-~"))
"""Words and marks that end a term of a sum; a bar may be half an operator."""
_MAX_NAMES = 20
"""Most names of a sum that are checked for lists."""
_TEXT = f"{_MARK}text"
_IS_ELEMENT = f"valueType({_TEXT}) =~ '(NODE|RELATIONSHIP|PATH|MAP).*'"
_HAS_LIST = f"any({_KEY} IN [{{}}] WHERE valueType({_KEY}) STARTS WITH 'LIST')"
_IS_NO_VALUE = f"valueType({_TEXT}) =~ '(NODE|RELATIONSHIP|PATH|MAP|LIST).*'"
ELEMENT_AS_TEXT = re.compile(
    r"\(:[^(){}]+ \{id: \d+\}\)|\[:[^\[\]{}]+ \{id: \d+, start: \d+, end: \d+\}\]"
)
"""How the engine converts a node or relationship to text; Neo4j refuses to."""

NO_TEXT_ERROR = "toBoolean() expects a boolean or a string, got "
"""The engine's error if a rewritten query would convert an element to text."""


def stored_name(name: str) -> str:
    """The name under which the engine stores a property."""
    return _MARK + name if name in INVENTED else name


def restore_names(text: str) -> str:
    """A name, column or message of the engine as the user wrote it."""
    return text.replace(_MARK, "")


def restore_map(value: Mapping[str, object]) -> dict[str, object]:
    """The entries of an engine's map that the graph stores or the query made."""
    return {restore_names(key): item for key, item in value.items() if key not in INVENTED}


def rewrite(statement: str, tokens: Tokens) -> str:
    """Rewrite a statement so that it asks only for stored properties.

    Raises:
        QueryFailed: The engine cannot distinguish stored and invented properties in it.
    """
    if _MARK in statement:
        raise QueryFailed(f"No name may hold {_MARK!r}.", fix="Use another name.")
    return _Rewriter(statement, tokens).rewrite()


class _Rewriter:
    def __init__(self, statement: str, tokens: Tokens) -> None:
        self._statement, self._tokens = statement, tokens
        self._closing, self._around = find_brackets(tokens)
        self._partner = self._closing | {end: start for start, end in self._closing.items()}
        self._texts = [token.text for token in tokens]
        self._clauses = list(_find_clause_words(tokens))
        self._additions = {index for index in range(len(tokens)) if self._is_addition(index)}
        self._in_pattern = {
            token.identifier for index, token in enumerate(tokens) if self._is_in_pattern(index)
        }
        self._before: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        self._after: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        self._column_names: dict[int, str] = {}

    def rewrite(self) -> str:
        for index, token in enumerate(self._tokens):
            if token.identifier in INVENTED:
                self._rename_property(index)
            if token.text == "[" and self._is_subscript(index):
                self._rewrite_subscript(index)
            if token.text == "(" and index and self._tokens[index - 1].kind == "name":
                self._rewrite_call(index - 1)
            if index in self._additions:
                self._check_sum(index)
            if token.text == "*" and self._tokens[index - 1].text == ".":
                self._check_all_properties(index, "{.*}")
        self._name_columns()
        self._count_without_shortcut()
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        end = 0
        for index, token in enumerate(self._tokens):
            yield self._statement[end : token.start]
            before = sorted(self._before[index], key=itemgetter(0), reverse=True)
            after = sorted(self._after[index], key=itemgetter(0))
            yield "".join(text for _, text in before) + self._texts[index]
            yield "".join(text for _, text in after) + self._column_names.get(index, "")
            end = token.end
        yield self._statement[end:]

    def _text(self, index: int) -> str:
        return token_at(self._tokens, index).text

    def _rename_property(self, index: int) -> None:
        """Rename a property or the key of a map; leave variables, labels and functions."""
        name = self._tokens[index].identifier
        before, after = self._text(index - 1), self._text(index + 1)
        if before == "." and self._text(index - 2)[-1:] != "." and after != "(":
            self._texts[index] = stored_name(name)
        elif before in ("{", ",") and self._is_in_map(index):
            if after == ":":
                self._texts[index] = stored_name(name)
            elif after in (",", "}"):  # n {name}: the value of the variable
                self._texts[index] = f"{stored_name(name)}: {self._tokens[index].text}"

    def _is_in_map(self, index: int) -> bool:
        """Whether the innermost bracket belongs to a map, not to a subquery."""
        opened = self._around[index]
        if opened is None or self._text(opened) != "{":
            return False
        first = self._tokens[opened + 1]
        return first.word not in _CLAUSES or self._text(opened + 2) in (":", ",", "}")

    def _is_subscript(self, index: int) -> bool:
        before = token_at(self._tokens, index - 1)
        if before.word in _BEFORE_LIST and self._text(index - 2) != ".":
            return False
        return bool(before.identifier) or before.text in (")", "]", "}")

    def _rewrite_subscript(self, index: int) -> None:
        """Rewrite ``n['name']`` and ``n[key]``; leave the index of a list."""
        end = self._closing.get(index, index + 1)
        inside = self._tokens[index + 1 : end]
        texts = [token.text for token in inside]
        if [token.kind for token in inside] in (["number"], ["mark", "number"]) or not inside:
            return
        if any(first == "." and second[0] == "." for first, second in pairwise(texts)):
            return  # a slice of a list, as in l[0..2]
        if len(inside) == 1 and inside[0].kind == "string" and "\\" not in texts[0]:
            name = texts[0][1:-1]
            self._texts[index + 1] = f"'{stored_name(name)}'" if name in INVENTED else texts[0]
            return
        self._wrap(index + 1, end - 1, f"head([{_KEY} IN [", f"] | {_STORED_KEY}])")

    def _rewrite_call(self, index: int) -> None:
        """Rewrite or check functions that show the properties of an element."""
        if self._text(index - 1) == ".":
            if self._tokens[index].text == "propertyKeys":
                raise QueryFailed(
                    "db.propertyKeys() is not available here.", fix="The schema lists the keys."
                )
            return
        name = self._tokens[index].text.lower()
        end = self._closing.get(index + 1, index + 1)
        if name == "keys":
            kept = f" WHERE NOT {_KEY} IN {_INVENTED_NAMES} | replace({_KEY}, '{_MARK}', '')]"
            self._wrap(index, end, f"[{_KEY} IN ", kept)
        elif name == "properties":
            is_argument = self._text(index - 1) == "(" and self._text(index - 2).lower() == "keys"
            if not is_argument and self._text(end + 1) not in (".", "["):
                self._check_all_properties(index, "properties()")
        elif name in _TEXT_FUNCTIONS and end > index + 2:
            _, last = next(self._items(index + 2, end))
            if not self._is_value(index + 2, last):
                self._fail_for(index + 2, last, _IS_ELEMENT if name == "reverse" else _IS_NO_VALUE)

    # The engine converts a node to text if it is added to a text or passed to a text function. Only
    # the engine knows the type of a value, so the rewritten query makes the engine check the type
    # and fail on purpose.

    def _is_addition(self, index: int) -> bool:
        """Whether an operator that adds, or joins texts (``||``), begins here."""
        if self._text(index) == "|":
            second = token_at(self._tokens, index + 1)
            return second.text == "|" and second.start == self._tokens[index].end
        opened = self._around[index]
        in_map = opened is not None and self._text(opened) == "{"
        is_plus = self._text(index) == "+" and self._text(index + 1) != "="
        return is_plus and (in_map or self._clauses[index] != "MATCH")

    def _check_sum(self, index: int) -> None:
        """Let the query fail if a term of a sum is an element, unless another term is a list."""
        if any(place in self._additions for place in self._neighbours(index, -1)):
            return  # the first operator of this sum has been handled
        terms = [pair for pair in self._terms(index) if pair[0] <= pair[1] < len(self._tokens)]
        if any(self._is_list(first, last) for first, last in terms):
            return
        alone = [first for first, last in terms if first == last]
        names = [self._text(i) for i in alone if not self._is_value(i, i)][:_MAX_NAMES]
        for first, last in terms:
            if not self._is_value(first, last):
                others = [name for name in names if (first, name) != (last, self._text(last))]
                no_list = f" AND NOT {_HAS_LIST.format(', '.join(others))}" if others else ""
                self._fail_for(first, last, f"{_IS_ELEMENT}{no_list}")

    def _fail_for(self, first: int, last: int, condition: str) -> None:
        """Let the query fail if the value of these tokens meets a condition."""
        is_element = first == last and self._tokens[first].identifier in self._in_pattern
        if is_element and self._clauses[first] == "BY":
            raise QueryFailed(  # the engine ignores errors in ORDER BY
                "A node or relationship is no text.", fix="Write one of its properties."
            )
        failing = f"CASE WHEN {condition} THEN toBoolean({_TEXT}) ELSE {_TEXT} END"
        self._wrap(first, last, f"head([{_TEXT} IN [", f"] | {failing}])")

    def _terms(self, index: int) -> Iterator[tuple[int, int]]:
        """First and last token of each term of the sum that has an operator at ``index``."""
        before, after = list(self._neighbours(index, -1)), list(self._neighbours(index, 1))
        operators = [i for i in (*reversed(before), index, *after) if i in self._additions]
        start = before[-1] if before else index
        for operator in operators:
            yield start, operator - 1
            start = operator + (2 if self._text(operator) == "|" else 1)
        yield start, after[-1] if after else start

    def _neighbours(self, index: int, step: int) -> Iterator[int]:
        """Tokens of the same sum before or after ``index``, except those in brackets."""
        place = index + step
        while 0 <= place < len(self._tokens):
            token = self._tokens[place]
            is_bar = token.text == "|" and self._additions.isdisjoint((place, place - 1))
            is_end = (token.word or token.text) in _TERM_ENDS and self._text(place - 1) != "."
            if is_bar or is_end or token.text in (OPENING if step < 0 else CLOSING):
                return
            yield place
            other = self._skip(place, step)
            if other != place:
                yield other
            place = other + step

    def _skip(self, place: int, step: int) -> int:
        """The other end of a bracket or CASE that begins (or, going back, ends) at ``place``."""
        if place in self._partner:
            return self._partner[place]
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
        """Whether tokens are certainly not an element: a literal, a property, some functions."""
        token = self._tokens[first]
        if first == last:
            return not token.identifier or token.word in ("TRUE", "FALSE", "NULL")
        if self._text(first + 1) == "(" and self._closing.get(first + 1) == last:
            return token.word.lower() in _VALUE_FUNCTIONS
        is_property = last == first + 2 and self._text(first + 1) == "."
        return is_property and token.identifier in self._in_pattern

    def _is_list(self, first: int, last: int) -> bool:
        bracket = first + (self._text(first).lower() in _LIST_FUNCTIONS)
        is_list = self._text(bracket) == "[" or bracket > first
        return is_list and self._closing.get(bracket) == last

    def _is_in_pattern(self, index: int) -> bool:
        return (
            self._text(index - 1) in ("(", "[")
            and self._text(index + 1) in (":", ")", "]", "{")
            and self._text(index - 2).upper() in ("MATCH", ",", "-", ">", "=")
        )

    def _check_all_properties(self, index: int, what: str) -> None:
        """Allow all properties at once only if the query does not compare them."""
        start, end = max(self._returns(), default=(0, 0))
        words = {token.text.lower() for token in self._tokens[start:end]}
        is_compared = words & (_AGGREGATES | {"distinct", "=", "<", ">", "in"})
        unites = any(
            token.word == "UNION" and following.word != "ALL"
            for token, following in pairwise(self._tokens)
        )
        if index < start or index >= end or is_compared or unites:
            raise QueryFailed(
                f"{what} can only be an item of the last RETURN here, without DISTINCT, comparison "
                "or aggregate.",
                fix="Name the properties, as in n {.a, .b}, or return the node itself.",
            )

    def _returns(self) -> Iterator[tuple[int, int]]:
        """The start and end of the items of each RETURN outside of brackets."""
        outer = [index for index, opened in enumerate(self._around) if opened is None]
        for start in outer:
            if self._tokens[start].word == "RETURN" and self._text(start - 1) != ".":
                ends = (i for i in outer if i > start and self._tokens[i].word in _AFTER_ITEMS)
                yield start + 1, next(ends, len(self._tokens))

    def _wrap(self, start: int, end: int, before: str, after: str) -> None:
        """Write text around tokens: the longest is outermost, of equal ones the latest."""
        self._before[start].insert(0, (end - start, before))
        self._after[end].append((end - start, after))

    def _name_columns(self) -> None:
        """Name each rewritten item without AS by the text that the query has for it."""
        changed = self._before.keys() | self._after.keys()
        for start, end in self._returns():
            for first, last in self._items(start + (self._text(start).upper() == "DISTINCT"), end):
                has_alias = any(
                    self._tokens[place].word == "AS" and self._around[place] is None
                    for place in range(first, last)
                )
                if not has_alias and not changed.isdisjoint(range(first, last + 1)):
                    text = self._statement[self._tokens[first].start : self._tokens[last].end]
                    name = text.replace("`", "``")
                    self._column_names[last] = f" AS `{name}`"

    def _count_without_shortcut(self) -> None:
        """Add DISTINCT to a RETURN that begins with a count; it does not change a single row.

        Without it the engine takes a shortcut over two links that omits rows or ignores the
        properties of the node at the end.
        """
        for start, _ in self._returns():
            if self._text(start).lower() == "count":
                self._texts[start - 1] += " DISTINCT"

    def _items(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """First and last token of each item; commas separate the items."""
        first = start
        for index in range(start, end):
            if self._text(index) == "," and self._around[index] == self._around[start]:
                yield first, index - 1
                first = index + 1
        if first < end:
            yield first, end - 1


def _find_clause_words(tokens: Tokens) -> Iterator[str]:
    """For each token, the word of the clause that contains it."""
    clause = ""
    for token in tokens:
        yield clause
        clause = token.word if token.word in _CLAUSES | {"WHERE", "BY"} else clause
