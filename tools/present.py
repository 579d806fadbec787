"""Spans of days that a question names relative to today, such as "last month".

A small model does not know the date. Without the date in its prompt, it invents a year; with a date
that the question does not need, it filters by that day. So only some prompts contain the date.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from planweave.texts import COUNT, count_of

_SEVERAL = re.compile(
    rf"\b(?P<side>last|past|previous|next|coming) (?P<count>{COUNT}) (?P<whole>calendar )?"
    r"(?P<unit>day|week|month|year)s?\b"
    r"(?! (?:of|in) (?:19|20)\d\d\b)"
    r"(?! (?:of|before) (?:the|that|a|an|each|every|its|their|his|her)\b)",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(?P<the>\bthe |\bthis )?\b(?P<side>last|past|previous|this|current|next|coming) "
    r"(?P<unit>week|month|quarter|year)\b(?! (?:of|in which|that|when|with)\b)",
    re.IGNORECASE,
)
_AGO = re.compile(rf"\b(?P<count>{COUNT}) (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE)
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_DAY = re.compile(rf"\b(?:{'|'.join(_DAYS)})\b", re.IGNORECASE)
_WITHOUT_THIS = re.compile(
    r"\b(?:not including|excluding|without) (?:the |this )?(?:current|present)\b", re.IGNORECASE
)
_PRESENT = re.compile(
    r"\b(?:ago|now|at present|presently|how (?:old|long (?:has|have|is|are)))\b", re.IGNORECASE
)
_PART = re.compile(
    r"\b(?:(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th) (?P<part>quarter|half)"
    rf"|(?P<end>first|last) (?P<count>{COUNT}) (?P<unit>day|week|month)s?)"
    r" (?:of|in) (?P<year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_PLACES = {"1": 0, "f": 0, "2": 1, "s": 1, "3": 2, "t": 2, "4": 3}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


class SpokenSpan(NamedTuple):
    """A span of days: the words of the question, the first day and the last day."""

    said: str
    first: date
    last: date


def depends_on_present(question: str) -> bool:
    """Whether the answer to a question depends on the current date."""
    return any(one.search(question) for one in (_SEVERAL, _ONE, _AGO, _DAY, _PRESENT))


def remove_counted_spans(question: str) -> str:
    """Remove spans such as "the past 30 days", whose number is not a value of the data."""
    return _AGO.sub(" ", _SEVERAL.sub(" ", question))


def find_spans(question: str, today: date) -> Iterator[SpokenSpan]:
    """Find the spans of a question that are relative to today, in the order of their kinds.

    "Last year" is the previous calendar year; "the last year" and "the past year" begin a year ago.
    """
    for found in _SEVERAL.finditer(question):
        yield SpokenSpan(found[0], *_read_counted_span(found, question, today))
    without = _WITHOUT_THIS.search(question)
    for found in _ONE.finditer(question):
        if without and found.start() < without.end() and found.end() > without.start():
            continue  # "not including the current month"
        yield SpokenSpan(found[0].strip(), *_read_single_span(found, today))
    for found in _AGO.finditer(question):
        day = _shift(today, -count_of(found["count"]), found["unit"].lower())
        yield SpokenSpan(found[0], day, day)
    for found in _DAY.finditer(question):
        day = today + timedelta(days=_DAYS[found[0].lower()])
        yield SpokenSpan(found[0], day, day)


def find_year_parts(question: str) -> Iterator[SpokenSpan]:
    """Find parts of a given year: "the second quarter of 2023", "the last two months of 2023"."""
    for found in _PART.finditer(question):
        first, unit = date(int(found["year"]), 1, 1), (found["unit"] or "month").lower()
        if found["part"]:
            months = 3 if found["part"].lower() == "quarter" else 6
            nth = found["nth"].lower()
            place = 12 // months - 1 if nth == "last" else 3 if nth == "fourth" else _PLACES[nth[0]]
            begin = _shift(first, place * months, unit)
            after = _shift(begin, months, unit)
        else:
            count = count_of(found["count"])
            after = _shift(first, 12, "month")
            is_last = found["end"].lower() == "last"
            begin = _shift(after, -count, unit) if is_last else first
            after = after if is_last else _shift(first, count, unit)
        yield SpokenSpan(found[0], begin, after - timedelta(days=1))


def _read_counted_span(found: re.Match[str], question: str, today: date) -> tuple[date, date]:
    """The last or next n days, weeks, months or years; calendar ones if the question says so."""
    count, unit = count_of(found["count"]), found["unit"].lower()
    if found["side"].lower() in ("next", "coming"):
        return today, _shift(today, count, unit)
    if unit != "day" and (found["whole"] or _WITHOUT_THIS.search(question)):
        begin = _first_day(today, unit)
        return _shift(begin, -count, unit), begin - timedelta(days=1)
    return _shift(today, -count, unit), today


def _read_single_span(found: re.Match[str], today: date) -> tuple[date, date]:
    """A calendar week, month, quarter or year, or the one that ends today."""
    side, unit = found["side"].lower(), found["unit"].lower()
    if side == "past" or (side == "last" and found["the"]):
        return _shift(today, -1, unit), today
    steps = {"this": 0, "current": 0, "next": 1, "coming": 1}.get(side, -1)
    first = _shift(_first_day(today, unit), steps, unit)
    return first, _shift(first, 1, unit) - timedelta(days=1)


def _first_day(day: date, unit: str) -> date:
    """The first day of the week, month, quarter or year of a day."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    months = _MONTHS[unit]
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def _shift(day: date, count: int, unit: str) -> date:
    """Shift a day by ``count`` units; in a shorter month, to its last day."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    years, month = divmod(day.year * 12 + day.month - 1 + count * _MONTHS[unit], 12)
    return date(years, month + 1, min(day.day, monthrange(years, month + 1)[1]))
