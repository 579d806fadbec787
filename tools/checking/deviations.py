"""Where a query deviates from its question: bounds, values, numbers, "or"."""

import re
from collections.abc import Iterator

from planweave.tools.checking.queries import QueryReading, blank_brackets
from planweave.tools.checking.units import is_rival_unit
from planweave.tools.checking.words import (
    denies,
    find_bounds,
    find_numbers,
    find_superlatives,
    root,
    roots,
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
_LEFT_OUT = re.compile(
    r"(?:<>|!=|\bnot\s+like\b)\s*'([^']*)'|\bnot\s+(?:[\w.\"`]+\s+)?in\s*\(([^()]*)\)"
    r"|\bnot\s+[\w.\"`]+\s*(?:=|like)\s*'([^']*)'",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"([\w.\"`]+)\s+is\s+null\b", re.IGNORECASE)
_UNSET = re.compile(r"([\w.\"`]+)\s*=\s*0(?![\w.])")
_ZERO = re.compile(r"\bzero\b|(?<![\d.,])0(?![\d.,]*\d)")
_LEAVES_OUT = re.compile(
    r"\b(?:others?|else|another|besides|apart|aside|leav\w+ out|ignor\w+|outside|non|together"
    r"|than|rather|beyond|out of|still|yet|missing|unknown|blank|empty|open|only|no longer|off)\b",
    re.IGNORECASE,
)
"""Words by which a question leaves something out without a denial."""
_WHERE = re.compile(r"\bwhere\b(.*?)(?=\bgroup\s+by\b|\border\s+by\b|\blimit\b|$)", re.I | re.S)
_BETWEEN = re.compile(r"\bbetween\s+\S+\s+and\b", re.IGNORECASE)
_OR = re.compile(
    r"([\w.\"`]+)\s*(?:=|<>|<=?|>=?|\blike\b|\bis\b)[^()]*?\bor\b\s*\(?([\w.\"`]+)", re.IGNORECASE
)
_EITHER = re.compile(r"\b(?:or|either|any|and)\b", re.IGNORECASE)
_EXTREME = re.compile(r"\b(?:min|max)\s*\([^,()]*\)", re.IGNORECASE)
_COMPARED = re.compile(
    r"(?:[\w\"\]`]|\))\s*(?:<=|>=|<>|!=|<|>|=)\s*(\d+(?:\.\d+)?)(?![\w.'\-])(?!\s*[-+*/])"
)
_KEY = re.compile(r"(?:id|code|key|number|[_N]o)$|^no$")
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
_COUNTED = re.compile(r"\b(?:how many|number of) (?:different |distinct )?(\w+)", re.IGNORECASE)
_COUNT = re.compile(r"\bcount\s*\(\s*(?:\w+\.)?([\w\"`]+)\s*\)", re.IGNORECASE)
_UNIQUE = re.compile(r"\b(?:different|distinct|unique)\b", re.IGNORECASE)
_ONCE = re.compile(r"\b(?:distinct|group\s+by|union)\b", re.IGNORECASE)
SHARE = re.compile(r"(?<!\d )\b(?:percent(?:age)?|share|proportion|fraction)\b", re.IGNORECASE)
_RATIO = re.compile(r"\bratio\b", re.IGNORECASE)
_DIVIDES = re.compile(r"[/%]|avg|percent|pct|rate|share|proportion|fraction|ratio", re.IGNORECASE)
_TIMES_100 = re.compile(r"\b100(?:\.0*)?\s*\*|\*\s*100\b")
_IN_UNIT = re.compile(r"\bin ([^\W\d_]+|[$€£])", re.IGNORECASE)
_PLAIN = re.compile(r"[\w.\"`]+|(?:sum|avg|min|max)\(\s*[\w.\"`]+\s*\)", re.IGNORECASE)
_ENDS = re.compile(
    r"\b(?:until|since|range|up to|span|difference|ever|recent|when|how (?:old|long)|age|far|newly"
    r"|gap|from\b.* to|first|last)\b",
    re.IGNORECASE,
)


def find_deviation(question: str, reading: QueryReading) -> str:
    """The first point in which a query deviates from a question; empty if it deviates in none."""
    return next(filter(None, _find_deviations(question, reading)), "")


def _find_deviations(question: str, reading: QueryReading) -> Iterator[str]:
    query = reading.text
    if not denies(question):
        yield _find_wrong_bound(question, query)
        if not _LEAVES_OUT.search(question):
            yield _find_exclusion(question, query)
    if _mixes_and_with_or(reading.bare) or (
        not _EITHER.search(question)
        and any(left.lower() != right.lower() for left, right in _OR.findall(reading.bare))
    ):
        yield "The query takes rows for which one of several conditions holds."
    if "avg" in reading.aggregates and _MEANS.isdisjoint(tokens(question)):
        yield "The query takes a mean, of which the question says nothing."
    if any(map(_EXTREME.search, reading.expressions.values())) and not (
        find_superlatives(question) or _ENDS.search(question)
    ):
        yield "The query takes a least or greatest value, of which the question says nothing."
    yield _find_wrong_count(question, reading)
    if SHARE.search(question) or _RATIO.search(question):
        if not _DIVIDES.search(query):
            yield "The question asks for a share."
    elif _COUNTED.match(question.strip()) and _TIMES_100.search(query):
        yield "The query shows a share where the question asks for a number."
    yield from _find_wrong_units(question, reading)
    if number := find_unasked_number(question, reading):
        yield f"The query compares with {number}, of which the question says nothing."


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
    for word, day in _DAY.findall(question):
        near = (day,) if "-" in day else tuple(str(int(day) + step) for step in (-1, 0, 1))
        signs = {sign for one in near for sign in _find_signs(one, query, is_prefix=True)}
        direction = ">" if word.lower() in _BEGINS else "<"
        if signs and not any(sign.startswith(direction) for sign in signs):
            return f"The query does not ask for “{word} {day}”."
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


def _find_exclusion(question: str, query: str) -> str:
    """A value that the question names and the query excludes, or a column that it wants empty."""
    asked = roots(question)
    for one, several, other in _LEFT_OUT.findall(query):
        for value in (one, other, *re.findall(r"'([^']*)'", several)):
            name = value.strip("%")
            if len(name) > 2 and roots(name) and roots(name) <= asked:
                return f"The query leaves out {name!r}."
    where = " ".join(_WHERE.findall(query))
    for column in _EMPTY.findall(where):
        is_filled = re.search(rf"\bnot\s+{re.escape(column)}\s+is\b", query, re.IGNORECASE)
        if not is_filled and roots(column.rpartition(".")[2]) & asked:
            return f"The query asks for rows without {column}."
    for column in _UNSET.findall(where):
        if roots(column.rpartition(".")[2]) & asked and not _ZERO.search(question):
            return f"The query asks for rows whose {column} is 0."
    return ""


def _mixes_and_with_or(query: str) -> bool:
    """Whether a query joins conditions by both AND and OR without brackets."""
    found = _WHERE.search(query)
    tests = _BETWEEN.sub("", blank_brackets(found[1])) if found else ""
    return all(re.search(rf"\b{word}\b", tests, re.IGNORECASE) for word in ("and", "or"))


def _find_wrong_count(question: str, reading: QueryReading) -> str:
    """A count of repeated values, a number that no row holds, or a limit that nobody asked for."""
    query, counted = reading.text, _COUNTED.search(question)
    repeated = "The query counts the same value several times."
    if _UNIQUE.search(question) and "count" in reading.aggregates and not _ONCE.search(query):
        return repeated
    for column in _COUNT.findall(query) if counted else ():
        noun, words = root(counted[1]), roots(column)  # type: ignore[index]
        is_key = _KEY.search(column.strip('"`'))
        if noun in words and noun not in reading.tables and not is_key:
            return repeated
    if any(re.fullmatch(r"\d+(?:\.\d+)?", shown) for shown in reading.expressions.values()):
        return "The query names its result itself."
    limit = re.search(r"\blimit\s+(\d+)", query, re.IGNORECASE)
    asked = find_numbers(write_in_digits(question)) if limit else ()
    if limit and int(limit[1]) > 1 and float(limit[1]) not in asked:
        return f"The query shows {limit[1]} rows, of which the question says nothing."
    return ""


def _find_wrong_units(question: str, reading: QueryReading) -> Iterator[str]:
    """The units that the question asks for, if the query shows a stored column in another one."""
    for unit in _IN_UNIT.findall(question):
        for shown in reading.expressions.values():
            if _PLAIN.fullmatch(shown) and is_rival_unit(unit, shown):
                yield f"The query does not show it in {unit}."


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
