"""Signs, in rows and their query, that they have another shape than the question asks for."""

import re
from collections.abc import Iterator

from planweave.tools.asked_average import find_inner_aggregate
from planweave.tools.checking.decisions import COUNTING
from planweave.tools.checking.known_words import is_known
from planweave.tools.checking.queries import QueryReading
from planweave.tools.checking.tables import FactRows
from planweave.tools.checking.units import is_unit_word
from planweave.tools.checking.words import find_numbers, find_superlatives, root, roots

EACH = re.compile(r"\b(?:each|every|per)\b", re.IGNORECASE)
FOR_EACH = re.compile(r"\bfor (?:each|every)\b|\beach of (?:our|the|my|these)\b", re.IGNORECASE)
_ASKS_ONE = re.compile(r"^\W*(?:which|who|what|where)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:most|least|\w+est)(?: \w+)? first\b", re.IGNORECASE)
"""An order of all rows, and no superlative that asks for one."""
_NAMES = re.compile(r"\b(?:first|last)[ _]?names?\b", re.IGNORECASE)
_TIME_BETWEEN = re.compile(
    r"\b(?:julianday|datediff|timestampdiff|timediff|age)\s*\(|\bstrftime\s*\(.*\)\s*-|::date\s*-",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a query that computes the time between two moments."""
_BACKWARDS = re.compile(r"\b(?:negative|early|earlier|before)\b", re.IGNORECASE)
_THING = re.compile(
    r"\b(?:which|what|who)(?:['’]s| is| are| was| were)? (?:the |our |my )?(\w+) (\w+)"  # noqa: RUF001
    r"(?=[?.!,;]|$| (?:in|at|on|of|that|which|we|you|they|ever)\b)",
    re.IGNORECASE,
)
_ANY_THING = frozenset({"thing", "one", "item"})
_BOUND_OF_AGGREGATE = re.compile(
    r"\b(?:average|mean|total|sum)\b[^.,;?]{0,40}\b(?:above|below|over|under|at least|at most|"
    r"(?:more|less|higher|lower|greater) than) (?:[€$£] ?)?(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_WHERE = re.compile(r"\bwhere\b(.*?)(?=\bgroup\b|\border\b|$)", re.IGNORECASE | re.DOTALL)
_ON_GROUPS = re.compile(r"\b(?:having|with|select.*select)\b", re.IGNORECASE | re.DOTALL)
_EXTREME = re.compile(
    r"\b(?:min|max|\w*rank|collect|first_value)\s*\(|row_number|distinct\s+on|\blimit\b|"
    r"\bnot exists\b|[<>]=\s*all\b",
    re.IGNORECASE,
)
_NESTED = re.compile(r"\bfrom\s*\(|\bwith\b|\bsize\(", re.IGNORECASE)
_CYPHER = re.compile(r"\s*(?:match|optional|unwind|call)\b", re.IGNORECASE)
_TWO_GROUPS = re.compile(r"\b(for|of|in|at|by)\b[^?]{1,80}\band \1\b", re.IGNORECASE)
_LIST = re.compile(r"\bin\s*\(\s*(?:'[^']*'|[\d.]+)\s*,", re.IGNORECASE)
_ALIAS = re.compile(r"\bas\s+(?:`[^`]+`|\w+)", re.IGNORECASE)
_COLUMN = re.compile(r"\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b")
"""A word that only a schema has, such as ``unit_price``."""
_PER = re.compile(
    r"\b(?:per|for each|of each|for every) (?:different |distinct |single )?"
    r"(?!(?:of|cent|the|our|my|one|other|time)\b)(\w+)",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"\bgroup\s+by\b(.*)", re.IGNORECASE | re.DOTALL)
_ASKS_ONE_NUMBER = re.compile(
    r"^\W*what(?: is| was|['’]s) the (?:average|mean|total|overall|sum|number|difference)\b(?!.*\b"  # noqa: RUF001
    r"(?:each|every|per|by|split|broken|grouped|respective\w*|and|for (?:all|the))\b)",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_COUNT = re.compile(r"^\W*count\b", re.IGNORECASE)
_ASKS_WHO = re.compile(r"^\W*who\b", re.IGNORECASE)
_IDENTIFIES = re.compile(r"id|no|code|nr|num|year|month|date", re.IGNORECASE)
"""Matches a column whose numbers may name things."""
_BUT_NOT = re.compile(r"\bbut\b.{0,200}(?:\b(?:never|no|not|nothing|none)\b|n['’]t)", re.IGNORECASE)  # noqa: RUF001
_TWO_CONDITIONS = re.compile(r"\b(?:and|join|intersect|except)\b|\bmatch\b.*\bmatch\b", re.I | re.S)
_PERIODS = {
    "month": (
        re.compile(r"\b(?:per|each|every|by) month\b", re.IGNORECASE),
        re.compile(r"%m|month|substr|date_trunc|left\(", re.IGNORECASE),
    ),
    "year": (
        re.compile(r"\b(?:per|each|every|by) year\b", re.IGNORECASE),
        re.compile(r"%y|year|substr|date_trunc|left\(", re.IGNORECASE),
    ),
}


def find_wrong_shape(question: str, view: FactRows, *, trusted: bool) -> Iterator[str]:
    """The signs that rows are not what a question asks for; empty ones do not count.

    Whole nodes of a graph do not count if the query is ``trusted``.
    """
    yield _find_cut(question, view)
    yield _find_odd_cells(question, view, trusted=trusted)
    yield _find_other_kind(question, view)
    yield _find_bound_of_rows(question, view.reading.text)
    yield _find_missing_steps(question, view)
    yield from _find_missing_parts(question, view.reading)


def _find_cut(question: str, view: FactRows) -> str:
    """One row where the question asks about all."""
    if not view.reading.limited or len(view.rows) != 1:
        return ""
    is_about_each = EACH.search(question) and not _ASKS_ONE.match(question)
    is_list = _FIRST.search(question) and not find_numbers(question)
    if is_about_each or is_list or FOR_EACH.search(question):
        return "The question asks about several things, and the query shows one."
    return ""


def _find_odd_cells(question: str, view: FactRows, *, trusted: bool) -> str:
    cells = [cell for row in view.rows for cell in row]
    is_time = _TIME_BETWEEN.search(view.reading.text) and not _BACKWARDS.search(question)
    if is_time and any(isinstance(cell, int | float) and cell < 0 for cell in cells):
        return "A length of time is negative."
    is_chosen = len(view.rows) == 1 and (view.reading.limited or view.reading.extremes)
    shown = [view.reading.expressions.get(column, column) for column in view.columns]
    computed = [row[at] for row in view.rows for at, text in enumerate(shown) if "(" in text]
    if None in (cells if is_chosen else computed):
        return "A value is missing in the rows."
    has_maps = any(isinstance(cell, str) and cell.startswith("{") for cell in cells)
    if has_maps and not trusted and _CYPHER.match(view.reading.text):
        return "The query shows whole nodes."
    is_average = len(view.rows) == 1 and find_inner_aggregate(question, ()) == "count"
    if is_average and view.rows[0][-1] == 1:
        return "The average is 1, as if each thing was counted for itself."
    return ""


def _find_other_kind(question: str, view: FactRows) -> str:
    """Numbers for a thing, a thing for a number, or several numbers for one."""
    cells = [cell for row in view.rows for cell in row]
    are_numbers = all(isinstance(cell, int | float) for cell in cells)
    if are_numbers and _ASKS_WHO.match(question) and not _IDENTIFIES.search(" ".join(view.columns)):
        return "The question asks who, and the query shows numbers."
    counts = are_numbers or view.reading.aggregates & {"count", "sum"}
    if _ASKS_COUNT.match(question) and not counts:
        return "The question asks for a number, and the query counts nothing."
    if len(view.rows) > 1 and _ASKS_ONE_NUMBER.match(question):
        return "The question asks for one number, and the query shows several."
    is_one = len(view.rows) == 1 and view.reading.aggregates
    if is_one and _TWO_GROUPS.search(question) and _LIST.search(view.reading.text):
        return "The question asks about several groups, and the query takes them together."
    asked = _THING.search(question)
    if asked and view.reading.extremes and len(view.columns) == 1 and find_superlatives(asked[1]):
        thing = asked[2].lower()
        if thing in _ANY_THING or roots(thing) & view.reading.tables:
            return f"The question asks for a {thing}, and the query shows a value."
    return ""


def _find_bound_of_rows(question: str, query: str) -> str:
    """A bound of single rows where the question bounds an average or total."""
    bound, where = _BOUND_OF_AGGREGATE.search(question), _WHERE.search(query)
    if bound is None or where is None or _ON_GROUPS.search(query) or not _GROUPS.search(query):
        return ""
    if re.search(rf"(?<![\d.]){re.escape(bound[1])}(?![\d.])", where[1]):
        return f"The query compares single rows with {bound[1]}."
    return ""


def _find_missing_steps(question: str, view: FactRows) -> str:
    """A count before an average, or a choice for each thing, that the query does not make."""
    reading = view.reading
    words = re.findall(r"\w+", " ".join(reading.expressions.values()).lower())
    counts_first = _NESTED.search(reading.text) or ("count" in words and "/" in reading.text)
    if find_inner_aggregate(question, words) == "count" and not counts_first:
        return "The query counts nothing for each, before it takes the average."
    if FOR_EACH.search(question) and not _EXTREME.search(reading.text):
        ranks = find_superlatives(_FIRST.sub("", _NAMES.sub("", question)))
        if words := [rank.word for rank in ranks if rank.word not in ("min", "max")]:
            return f"The query does not look for what is {words[0]} for each."
    return ""


def _find_missing_parts(question: str, reading: QueryReading) -> Iterator[str]:
    """Columns, periods, groups, conditions and counted things that only the question names."""
    query, bare = reading.text, _ALIAS.sub("", reading.text)
    written = query.casefold().replace("_", "")
    for name in _COLUMN.findall(question):
        if name.casefold().replace("_", "") not in written:
            yield f"The query leaves out {name}."
    groups = _GROUPS.search(query)
    shown = " ".join([*reading.expressions.values(), groups[1] if groups else ""])
    for period, (asked, used) in _PERIODS.items():
        if asked.search(question) and not used.search(shown):
            yield f"The query does not group by {period}."
    known = roots(bare)
    each = [
        name
        for name in _PER.findall(question)
        if not roots(name) & known and not is_known(name.lower(), known)
    ]
    yield from (f"The query does not group by {name}." for name in each)
    if _BUT_NOT.search(question) and not _TWO_CONDITIONS.search(query):
        yield "The question has two conditions, and the query has one."
    counted = COUNTING.search(question) if _CYPHER.match(query) else None
    if counted and not known & {noun := root(counted[1].lower())} and not is_unit_word(noun):
        yield f"The query does not count {counted[1]}."
