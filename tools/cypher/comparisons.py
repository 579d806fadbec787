"""Comparisons that cannot be meant as a query writes them: maps, parts of texts, dates, lists.

A model writes ``{tagline: 'end'}`` where the question says "containing 'end'", and compares a whole
date with a year. The question and the types of the schema tell what was meant.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from planweave.tools.comparison_words import TextPlace, find_bound_operator, find_text_place
from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.patterns import Element
from planweave.tools.cypher.reach import last_before
from planweave.tools.cypher.sql_habits import clauses
from planweave.tools.cypher.tokens import (
    Corrections,
    CypherToken,
    Edit,
    Tokens,
    before,
    behind,
    instead,
)
from planweave.tools.database import Field

_OPERATORS: dict[TextPlace, str] = {
    "contains": "CONTAINS",
    "starts": "STARTS WITH",
    "ends": "ENDS WITH",
}
_VALUE = r"-?\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\""
_TEST = re.compile(rf"(?:[<>]=?|<>|STARTS WITH|ENDS WITH|CONTAINS|=)\s*(?:{_VALUE})", re.IGNORECASE)
"""A comparison where a map has room for a value only."""
_RANGE = re.compile(r"\{?(?:\w+:)?(\d+)(?:\.\.|,max:)(\d+)\}?")
_WILD = re.compile(r"(?P<open>[*%]?)(?P<text>[^*%]+)(?P<close>[*%]?)")
_WILDCARDS = {(True, False): "ENDS WITH", (False, True): "STARTS WITH"}
"""Where a mark stands for any text: before, behind."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"\d{4}(?:-\d{2})?")


class _Entry(NamedTuple):
    """A key of a map and its value, by the numbers of their tokens."""

    key: int
    first: int
    last: int


def compared_as_meant(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Equalities that mean a part of a text, a year or an item of a list."""
    for access in names.patterns.accesses:
        place = access.place
        if place < 0 or place + 4 >= len(tokens):
            continue
        field = _field(names, access.variable, access.property)
        sign, value = tokens[place + 3], tokens[place + 4]
        if field is None or value.kind not in ("string", "number"):
            continue
        if field.type == "LIST" and sign.text.upper() in ("=", "CONTAINS"):
            edits = [
                before(tokens[place], "any(item IN "),
                before(sign, "WHERE item "),
                behind(value, ")"),
            ]
            yield edits, f"{access.property} is a list: any of its items counts"
        elif (sign.text == "=" or sign.word in ("LIKE", "ILIKE")) and (
            test := _meant(value, field, question, like=bool(sign.word))
        ):
            yield [Edit(sign.start, value.end, test)], f"{access.property} {test}"
    yield from _maps(names, tokens, question)
    yield from _same(names, tokens, question)


def _same(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Two variables for what the question calls the same: "directed by the same person"."""
    for label in names.nodes:
        variables = dict.fromkeys(
            element.variable
            for element in names.patterns.elements.values()
            if element.is_node and element.variable and label in element.names
        )
        said = re.search(rf"\bthe same {re.escape(label)}\b", question, re.IGNORECASE)
        if said is None or len(variables) != 2:
            continue
        first, second = variables
        edits = [
            instead(token, first)
            for earlier, token in pairwise(tokens)
            if token.identifier == second and earlier.text not in (".", ":")
        ]
        yield edits, f"{second} is the same {label} as {first}"


def _maps(names: Names, tokens: Tokens, question: str) -> Corrections:
    """The first entry of a pattern's map that is no equality."""
    for place, element in names.patterns.elements.items():
        start = _map_of(tokens, place)
        for entry in _entries(tokens, start):
            name, value = tokens[entry.key].identifier, _value(tokens, entry)
            fields = [f for e in names.entities(element) for f in e.fields if f.name == name]
            if len(fields) != 1:
                continue
            test = _test(tokens, entry)
            if not test and value is not None:
                test = _meant(value, fields[0], question)
            if test and (edits := moved_to_where(names, tokens, place, name, test)):
                yield edits, f"{name} {test}"
                return


def _test(tokens: Tokens, entry: _Entry) -> str:
    """The comparison that a map has instead of a value; empty if it has a value."""
    written = [token.identifier or token.text for token in tokens[entry.first : entry.last + 1]]
    text = re.sub(r"([<>]) =", r"\1=", " ".join(written))
    if span := _RANGE.fullmatch("".join(written)):
        return f"IN range({span[1]}, {span[2]})"
    again = f"(?:{re.escape(tokens[entry.key].identifier)} : )?"
    if either := re.fullmatch(f"({_VALUE}) OR {again}({_VALUE})", text, re.IGNORECASE):
        return f"IN [{either[1]}, {either[2]}]"
    return text if _TEST.fullmatch(text) else ""


def _meant(value: CypherToken, field: Field, question: str, *, like: bool = False) -> str:
    """The test that a question means by equality, or by SQL's ``like``; empty if it means that."""
    text = value.text.strip("'\"")
    is_decade = text.endswith("0") and f"{text}s" in re.findall(r"\b\d{3}0s\b", question)
    if any(map(_DATE.match, field.samples)) and _YEAR.fullmatch(text):
        return f"STARTS WITH '{text[:-1] if is_decade else text}'"
    if is_decade and value.kind == "number":
        return f"IN range({text}, {int(text) + 9})"
    if bound := find_bound_operator(question, text):
        return f"{bound} {value.text}"
    if value.kind != "string":
        return ""
    wild = _WILD.fullmatch(text)
    if wild and (like or ("*" in text and text not in question)):
        operator = _WILDCARDS.get((bool(wild["open"]), bool(wild["close"])), "CONTAINS")
        return f"{operator} {value.text.replace(text, wild['text'])}"
    part = find_text_place(question, text)
    return f"{_OPERATORS[part]} {value.text}" if part else ""


def _field(names: Names, variable: str, name: str) -> Field | None:
    found = [f for owner in names.owners(variable) for f in owner.fields if f.name == name]
    return found[0] if len(found) == 1 else None


def _map_of(tokens: Tokens, place: int) -> int:
    """Where the map of an element opens; -1 if it has none."""
    for at in range(place + 1, len(tokens)):
        if tokens[at].text == "{":
            return at
        if tokens[at].text in (")", "]", "("):
            return -1
    return -1


def _entries(tokens: Tokens, start: int) -> Iterator[_Entry]:
    """The keys of the map that opens at a token, with their values."""
    depth, key = 0, start + 1
    for at in range(start + 1, len(tokens) if start >= 0 else 0):
        text = tokens[at].text
        if depth == 0 and text in (",", "}"):
            if at > key + 2 and tokens[key + 1].text == ":":
                yield _Entry(key, key + 2, at - 1)
            key = at + 1
        if depth == 0 and text == "}":
            return
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))


def _value(tokens: Tokens, entry: _Entry) -> CypherToken | None:
    """The literal of an entry, or of the only entry of its map."""
    if entry.first == entry.last:
        found = tokens[entry.first]
    elif tokens[entry.first].text == "{":
        inner = [*_entries(tokens, entry.first)]
        if len(inner) != 1 or inner[0].first != inner[0].last:
            return None
        found = tokens[inner[0].first]
    else:
        return None
    return found if found.kind in ("string", "number") else None


def moved_to_where(names: Names, tokens: Tokens, place: int, name: str, test: str) -> list[Edit]:
    """Take an entry out of its map, and test it in WHERE; empty where there is no place for it."""
    element: Element = names.patterns.elements[place]
    start = _map_of(tokens, place)
    entry = next(one for one in _entries(tokens, start) if tokens[one.key].identifier == name)
    words = clauses(tokens)
    after = [one for one in words if one.start > tokens[place].start]
    earlier = [one for one in words if one.start < tokens[place].start]
    if not after or not earlier or earlier[-1].word != "MATCH":
        return []
    end = after[1].start if len(after) > 1 else tokens[-1].start
    if any(one.word in ("OR", "XOR") and after[0].start < one.start < end for one in tokens):
        return []  # AND would bind more tightly
    key, last = tokens[entry.key], tokens[entry.last]
    closing = tokens[entry.last + 1]
    if len([*_entries(tokens, start)]) == 1:
        span = tokens[start].start, closing.end
    elif closing.text == ",":
        span = key.start, closing.end
    else:
        span = tokens[entry.key - 1].start, last.end
    edits = [Edit(*span, "")]
    variable = element.variable or "named"
    if not element.variable:
        edits.append(behind(tokens[place], variable))
    tested = f"{variable}.{quoted(tokens[entry.key].identifier)} {test}"
    if after[0].word == "WHERE":
        edits.append(behind(after[0], f" {tested} AND"))
    else:
        edits.append(behind(last_before(tokens, after[0]), f" WHERE {tested}"))
    return edits
