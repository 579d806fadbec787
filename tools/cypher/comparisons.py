"""Correct comparisons that cannot be meant as written: in maps, with parts of texts, dates, lists.

A model writes ``{tagline: 'end'}`` although the question says "containing 'end'", and compares a
whole date with a year. The question and the types of the schema show what is meant.
"""

import re
from itertools import pairwise

from planweave.tools.comparison_words import TextPlace, find_bound_operator, find_text_place
from planweave.tools.cypher.patterns import MapEntry
from planweave.tools.cypher.resolved import ResolvedQuery
from planweave.tools.cypher.tokens import Corrections, CypherToken, Edit, Tokens, quote_name
from planweave.tools.database import Field

_OPERATORS: dict[TextPlace, str] = {
    "contains": "CONTAINS",
    "starts": "STARTS WITH",
    "ends": "ENDS WITH",
}
_VALUE = r"-?\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\""
_TEST = re.compile(rf"(?:[<>]=?|<>|STARTS WITH|ENDS WITH|CONTAINS|=)\s*(?:{_VALUE})", re.IGNORECASE)
"""A comparison in the place of a map's value."""
_RANGE = re.compile(r"\{?(?:\w+:)?(\d+)(?:\.\.|,max:)(\d+)\}?")
_WILD = re.compile(r"(?P<open>[*%]?)(?P<text>[^*%]+)(?P<close>[*%]?)")
_WILDCARDS = {(True, False): "ENDS WITH", (False, True): "STARTS WITH"}
"""The operator for a wildcard before the text, and for one after it."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"\d{4}(?:-\d{2})?")


def correct_comparisons(query: ResolvedQuery) -> Corrections:
    """Replace equalities that mean a part of a text, a year or an item of a list."""
    for access in query.accesses:
        index, tokens = access.index, query.tokens
        if index < 0 or index + 4 >= len(tokens):
            continue
        owners = query.owners_of(access.variable)
        fields = [f for owner in owners for f in owner.fields if f.name == access.property]
        operator, value = tokens[index + 3], tokens[index + 4]
        if len(fields) != 1 or value.kind not in ("string", "number"):
            continue
        if fields[0].type == "LIST" and operator.text.upper() in ("=", "CONTAINS"):
            edits = [
                tokens[index].insert_before("any(item IN "),
                operator.insert_before("WHERE item "),
                value.insert_after(")"),
            ]
            yield edits, f"{access.property} is a list: any of its items counts"
        elif operator.text == "=" or operator.word in ("LIKE", "ILIKE"):
            is_like = bool(operator.word)
            if test := _test_as_asked(value, fields[0], query.question, is_like=is_like):
                yield [Edit(operator.start, value.end, test)], f"{access.property} {test}"
    yield from _correct_map(query)
    yield from _unite_variables(query)


def _unite_variables(query: ResolvedQuery) -> Corrections:
    """Use one variable for what the question calls the same: "directed by the same person"."""
    for label in query.nodes:
        variables = dict.fromkeys(
            element.variable
            for element in query.elements.values()
            if element.is_node and element.variable and label in element.names
        )
        is_same = re.search(rf"\bthe same {re.escape(label)}\b", query.question, re.IGNORECASE)
        if not is_same or len(variables) != 2:
            continue
        first, second = variables
        edits = [
            token.replace_with(first)
            for before, token in pairwise(query.tokens)
            if token.identifier == second and before.text not in (".", ":")
        ]
        yield edits, f"{second} is the same {label} as {first}"


def _correct_map(query: ResolvedQuery) -> Corrections:
    """Move the first entry of a pattern's map that does not mean equality to WHERE."""
    for start, element in query.elements.items():
        for entry in query.map_entries(element.map_start):
            name, value = query.tokens[entry.key].identifier, _literal_of(entry, query)
            fields = [f for e in query.entities_of(element) for f in e.fields if f.name == name]
            if len(fields) != 1:
                continue
            test = _written_test(query.tokens, entry)
            if not test and value is not None:
                test = _test_as_asked(value, fields[0], query.question)
            if test and (edits := _move_to_where(query, start, entry, test)):
                yield edits, f"{name} {test}"
                return


def _written_test(tokens: Tokens, entry: MapEntry) -> str:
    """The comparison that a map has in the place of a value; empty if it has a value."""
    written = [token.identifier or token.text for token in tokens[entry.first : entry.last + 1]]
    text = re.sub(r"([<>]) =", r"\1=", " ".join(written))
    if span := _RANGE.fullmatch("".join(written)):
        return f"IN range({span[1]}, {span[2]})"
    again = f"(?:{re.escape(tokens[entry.key].identifier)} : )?"
    if either := re.fullmatch(f"({_VALUE}) OR {again}({_VALUE})", text, re.IGNORECASE):
        return f"IN [{either[1]}, {either[2]}]"
    return text if _TEST.fullmatch(text) else ""


def _test_as_asked(
    value: CypherToken, field: Field, question: str, *, is_like: bool = False
) -> str:
    """The test that the question means by ``=`` or ``LIKE``; empty if it means equality."""
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
    if wild and (is_like or ("*" in text and text not in question)):
        operator = _WILDCARDS.get((bool(wild["open"]), bool(wild["close"])), "CONTAINS")
        return f"{operator} {value.text.replace(text, wild['text'])}"
    part = find_text_place(question, text)
    return f"{_OPERATORS[part]} {value.text}" if part else ""


def _literal_of(entry: MapEntry, query: ResolvedQuery) -> CypherToken | None:
    """The literal of an entry, or of the only entry of a map inside it; None without one."""
    inner = query.map_entries(entry.first)
    if len(inner) == 1:
        entry = inner[0]
    token = query.tokens[entry.first]
    return token if entry.first == entry.last and token.kind in ("string", "number") else None


def _move_to_where(query: ResolvedQuery, start: int, entry: MapEntry, test: str) -> list[Edit]:
    """Take an entry out of the map of an element and test it in WHERE; empty if it cannot move."""
    tokens, element = query.tokens, query.elements[start]
    before, after = query.clauses_around(start)
    if not after or not before or before[-1].word != "MATCH":
        return []
    end = after[1].start if len(after) > 1 else tokens[-1].start
    if any(one.word in ("OR", "XOR") and after[0].start < one.start < end for one in tokens):
        return []  # AND would bind more tightly
    key, last, closing = tokens[entry.key], tokens[entry.last], tokens[entry.last + 1]
    if len(query.map_entries(element.map_start)) == 1:
        span = tokens[element.map_start].start, closing.end
    elif closing.text == ",":
        span = key.start, closing.end
    else:
        span = tokens[entry.key - 1].start, last.end
    edits = [Edit(*span, "")]
    variable = element.variable or "named"
    if not element.variable:
        edits.append(tokens[start].insert_after(variable))
    tested = f"{variable}.{quote_name(key.identifier)} {test}"
    if after[0].word == "WHERE":
        edits.append(after[0].insert_after(f" {tested} AND"))
    else:
        edits.append(query.token_before(after[0]).insert_after(f" WHERE {tested}"))
    return edits
