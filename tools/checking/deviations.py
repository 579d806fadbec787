"""Finds deviations of a query from its question: bounds, numbers, an unrequested mean."""

import re

from planweave.tools.checking.queries import QueryReading
from planweave.tools.checking.words import (
    denies,
    find_bounds,
    find_numbers,
    root,
    tokens,
    word_set,
)
from planweave.tools.documents.quotes import write_in_digits
from planweave.tools.present import depends_on_present

_SIGNS = {"at_least": ">=", "at_most": "<=", "more": ">", "less": "<"}
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_DAY = re.compile(
    r"\b(on or after|from|since|after|on or before|before|until|till|up to) (?:the )?"
    r"((?:19|20)\d{2}(?:-\d{2}-\d{2})?)\b(?! (?:to|and|until|till)\b)",
    re.IGNORECASE,
)
_BEGINS = ("on or after", "from", "since", "after")
_STRICT = {"before": {"<"}, "after": {">"}, "on or before": {"<="}, "on or after": {">="}}
_EXACTLY = re.compile(r"\bexactly (\d+(?:\.\d+)?)\b", re.IGNORECASE)
_PERIOD = re.compile(
    r"\b(?:in|of|during) (?:the year )?((?:[a-z]+ )?(?:19|20)\d{2})\b(?!-)", re.IGNORECASE
)
_OPEN_PERIOD = re.compile(
    r"\b(?:later|after|onwards?|since|from|beginning|start|end|half|earlier|before|until)\b", re.I
)
"""Words that make one end of a period the start of an open one, as in "in 2018 or later"."""
_ONE_SIDE = re.compile(r">=?\s*'?(?:19|20)\d{2}")
_OTHER_SIDE = re.compile(
    r"<|(?<![<>!])=\s*'?(?:19|20)\d{2}|'\)?\s*>|\b(?:like|between|substr|strftime|date_part)\b"
    r"|\bin\s*\(|year|month",
    re.IGNORECASE,
)
_DIFFERENT = re.compile(r"\bhow many (?:different|distinct|unique) (\w+)", re.IGNORECASE)
_DISTINCT = re.compile(r"\b(?:distinct|group\s+by)\b", re.IGNORECASE)
_WHEN = r"^\W*when (?:did|was|were|has|have)\b(?!.*\b(?:low|high|small|large|cheap|dear)\w*\b).*"
_ENDS = (
    ("first", "highest", re.compile(rf"{_WHEN}\bfirst\b", re.IGNORECASE)),
    ("last", "lowest", re.compile(rf"{_WHEN}\blast\b", re.IGNORECASE)),
)
_COMPARED = re.compile(
    r"(?:[\w\"\]`]|\))\s*(?:<=|>=|<>|!=|<|>|=)\s*(\d+(?:\.\d+)?)(?![\w.'\-])(?!\s*[-+*/])"
)
_HALF = re.compile(r"\bhalf\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:both|as well as|several|twice|multiple|pair|double|same|repeat\w*|again)\b", re.I
)
_UNITS = (1, 7, 12, 24, 60, 100, 1000, 3600)
_YEAR = re.compile(r"'((?:19|20)\d{2})\b")
_DECADE = re.compile(r"\b(\d{3}0)s\b")
_MEANS = word_set(
    "average averages averaged mean avg typical typically usual usually ordinary per each share "
    "percent percentage proportion fraction rate rated"
)


def find_deviation(question: str, rules: str, reading: QueryReading) -> str:
    """The first deviation of a query from question and rules; empty if there is none."""
    if problem := _find_wrong_extent(question, reading):
        return problem
    question = f"{question} {rules}"
    if not denies(question) and (problem := _find_wrong_bound(question, reading.text)):
        return problem
    if "avg" in reading.aggregates and _MEANS.isdisjoint(tokens(question)):
        return "The query takes a mean, of which the question says nothing."
    if number := find_unasked_number(question, reading):
        return f"The query compares with {number}, of which the question says nothing."
    return ""


def _find_wrong_bound(question: str, query: str) -> str:
    """A bound that the query reverses, or in which it wrongly includes or excludes the number."""
    bounds = find_bounds(write_in_digits(question))
    for bound in bounds:
        if not (signs := _find_signs(f"{bound.number:g}", query)):
            continue
        meant = {_SIGNS[one.relation] for one in bounds if one.number == bound.number}
        is_distance = bound.text.lower().startswith("over") and signs == {"="}
        if not signs & meant and not is_distance:
            return f"The query does not ask for “{bound.text}”."
    for number in _EXACTLY.findall(write_in_digits(question)):
        signs = _find_signs(number, query)
        if signs and "=" not in signs and signs != {">=", "<="}:
            return f"The query does not ask for “exactly {number}”."
    for word, day in _DAY.findall(question):
        near = (day,) if "-" in day else tuple(str(int(day) + step) for step in (-1, 0, 1))
        signs = {sign for one in near for sign in _find_signs(one, query, is_prefix=True)}
        direction = ">" if word.lower() in _BEGINS else "<"
        strict = _STRICT.get(word.lower(), signs) if "-" in day else signs
        if signs and not any(sign.startswith(direction) for sign in signs & strict):
            return f"The query does not ask for “{word} {day}”."
    return ""


def _find_wrong_extent(question: str, reading: QueryReading) -> str:
    """A period without its end, the wrong end of a time, or a count of repeated values."""
    query = reading.text
    period = _PERIOD.search(question)
    is_open = not period or _OPEN_PERIOD.search(question)
    if period and not is_open and _ONE_SIDE.search(query) and not _OTHER_SIDE.search(query):
        return f"The query goes beyond “{period[1]}”."
    taken = {direction for direction, _ in reading.extremes}
    for word, opposite, asked in _ENDS:
        if asked.search(question) and taken == {opposite}:
            return f"The query does not take the {word}."
    different = _DIFFERENT.search(question)
    repeats = "count" in reading.aggregates and not _DISTINCT.search(query)
    if different and repeats and root(different[1]) not in reading.tables:
        return "The query counts repeated values, and the question asks for different ones."
    return ""


def _find_signs(number: str, query: str, *, is_prefix: bool = False) -> set[str]:
    """The operators that compare with a number or a day, as if it were on the right."""
    value = rf"'?{re.escape(number)}(?:\.0+)?" + ("" if is_prefix else r"'?(?![\w.-])")
    found = set(re.findall(rf"(<=|>=|<>|!=|<|>|=)\s*{value}", query))
    found |= {
        _MIRRORED[sign] for sign in re.findall(rf"(?<![\w.'-]){value}'?\s*(<=|>=|<|>)", query)
    }
    if re.search(rf"\bbetween\s+{value}", query, re.IGNORECASE):
        found.add(">=")
    if re.search(rf"\bbetween\s+\S+\s+and\s+{value}", query, re.IGNORECASE):
        found.add("<=")
    return found


def find_unasked_number(asked: str, reading: QueryReading) -> str:
    """Find a number or year that a query compares with and that ``asked`` does not contain.

    0, 1, a neighbour of an asked number, and a number in another unit may express other words.
    Empty if there is none.
    """
    numbers = {*find_numbers(write_in_digits(asked))}
    numbers |= {*map(float, re.findall(r"\d+(?:\.\d+)?", asked))}
    if _HALF.search(asked):
        numbers |= {number + 0.5 for number in numbers}
    numbers |= {float(start) + 9 for start in _DECADE.findall(asked)}  # its last year
    text: str
    for text in _COMPARED.findall(reading.bare):
        number = float(text)
        shapes = (*(number / unit for unit in _UNITS), number * 100, number - 1, number + 1)
        is_plain = number in (0, 1) or (number == 2 and _SEVERAL.search(asked))
        if not is_plain and not any(abs(one - n) < 1e-9 for one in shapes for n in numbers):
            return text
    if not depends_on_present(asked):
        for text in _YEAR.findall(reading.text):
            if not any(abs(float(text) - number) <= 1 for number in numbers):
                return text
    return ""
