"""Finds the types of text columns: numbers and dates as people write them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_HEAD_ROWS = 1_000
"""Rows that are tested before all others."""
_SPACE = r"[\s\x{a0}\x{202f}]"
_BLANK = r"\s\x{a0}\x{202f}\x{27}\x{2019}"
"""Characters between thousands that are never a decimal sign."""
_UNIT = r"(?:[€$£¥%]|EUR|USD|GBP|CHF)"
_PLUS = r"[-+\x{2212}]?"
_NEGATIVE = r"^\D*[-\x{2212}(]"
_TRIMMED = r"^[^\d.,]+|\D+$"
# A whole number with a leading zero, such as 01234, is a code.
_POINT = (
    rf"(?:[1-9]\d{{0,2}}(?:[,{_BLANK}]\d{{3}})+|[1-9]\d?(?:,\d{{2}})+,\d{{3}}|0|[1-9]\d*)?"
    r"(?:\.\d*)?(?:[eE][-+]?\d+)?"
)
_COMMA = rf"(?:[1-9]\d{{0,2}}(?:[.{_BLANK}]\d{{3}})+|0|[1-9]\d*)?(?:,\d*)?"
_DAY_FIRST = ("%d/%m/%y", "%d/%m/%Y", "%d-%m-%y", "%d-%m-%Y")
_MONTH_FIRST = ("%m/%d/%y", "%m/%d/%Y", "%m-%d-%y", "%m-%d-%Y")
_DATES = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y", "%d.%m.%Y", *_DAY_FIRST, *_MONTH_FIRST),
    *("%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y", "%d. %B %Y"),
    *("%b %d, %Y", "%b %d %Y", "%B %d, %Y", "%B %d %Y"),
)
"""A two-digit year comes before a four-digit one: DuckDB reads 24 as the year 24."""
_TIMES = (
    *(" %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", ", %H:%M", ", %H:%M:%S"),
    *("T%H:%M", "T%H:%M:%S", "T%H:%M:%S.%f", "T%H:%M:%SZ", "T%H:%M:%S.%fZ"),
)
_LIKE_A_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|\d{4})"
    r"|\d{1,2}[-. ]{1,2}[A-Za-z]{3,9}[- ](?:\d{2}|\d{4})|[A-Za-z]{3,9} \d{1,2},? \d{4})(?:\D.*)?"
)


class TypedColumn(NamedTuple):
    """How to read a column, its type in SQLite, and a note on guesses."""

    expression: str
    type: str
    note: str = ""


class _NumberFormat(NamedTuple):
    """A way to write numbers: their pattern, the thousands separators, the decimal sign."""

    pattern: str
    thousands: str
    point: str


_SIGNS = (_NumberFormat(_POINT, f"[,{_BLANK}]", "."), _NumberFormat(_COMMA, f"[.{_BLANK}]", ","))


def is_true(engine: "DuckDBPyConnection", condition: str, column: str) -> bool:
    """Whether the values of a column meet a condition; False without values."""
    query = f"SELECT {condition} FROM loaded WHERE {column} IS NOT NULL"  # noqa: S608 (quoted)
    return (engine.execute(query).fetchone() or (None,))[0] is True


def typed(
    engine: "DuckDBPyConnection", columns: Iterable[str], *, comma: bool
) -> dict[str, TypedColumn]:
    """How to read columns of texts, by quoted name.

    If the values of one column allow several readings, the other columns decide.

    Args:
        engine: Has the table ``loaded``.
        columns: Quoted names of columns of texts.
        comma: Whether a decimal comma is more likely if no column decides.
    """
    numbers = {column: _find_number_formats(engine, column) for column in columns}
    dates = {
        column: _find_date_formats(engine, column) for column, signs in numbers.items() if not signs
    }
    clear = {signs[0].point for signs in numbers.values() if len(signs) == 1}
    point = next(iter(clear)) if len(clear) == 1 else "," if comma and not clear else "."
    firsts = {_is_month_first(found) for found in dates.values() if found} - {None}
    read = {}
    for column, signs in numbers.items():
        if signs:
            sign = next((one for one in signs if one.point == point), signs[0])
            read[column] = _number(
                engine, column, sign, is_guess=comma and len(signs) > 1 and not clear
            )
        elif dates[column]:
            read[column] = _date(engine, column, dates[column], month_first=firsts == {True})
        else:
            read[column] = TypedColumn(column, "TEXT")
    return read


def _holds_for_all(engine: "DuckDBPyConnection", condition: str, column: str) -> bool:
    """Whether every value meets a condition; most columns fail within their first rows."""
    head = f"SELECT {column} FROM loaded WHERE {column} IS NOT NULL LIMIT {_HEAD_ROWS}"  # noqa: S608 (quoted)
    found = engine.execute(f"SELECT bool_and({condition}) FROM ({head})").fetchone()  # noqa: S608 (quoted)
    return found == (True,) and is_true(engine, f"bool_and({condition})", column)


# Numbers


def _find_number_formats(engine: "DuckDBPyConnection", column: str) -> list[_NumberFormat]:
    """The ways to write numbers that fit all values."""
    fitting = [one for one in _SIGNS if _holds_for_all(engine, _fits(one, column), column)]
    unit = f"nullif(regexp_extract({column}, '{_UNIT}'), '')"
    are_amounts = (
        # A percentage is not an amount, and amounts have one currency.
        f"count(DISTINCT {unit}) <= 1 "
        f"AND bool_and(contains({column}, '%')) = bool_or(contains({column}, '%')) "
        # (1) and (2) are marks, +49301234 and 601 234 567 telephone numbers.
        f"AND NOT bool_and(starts_with({column}, '(') OR starts_with({column}, '+')) "
        f"AND NOT bool_and(regexp_full_match({column}, '\\d{{3}} \\d{{3}} \\d{{3}}'))"
    )
    return fitting if fitting and is_true(engine, are_amounts, column) else []


def _fits(sign: _NumberFormat, column: str) -> str:
    before, after = f"(?:{_UNIT}{_SPACE}*)?", f"(?:{_SPACE}*{_UNIT})?"
    pattern = f"[(]?{_PLUS}{_SPACE}*{before}{_PLUS}{sign.pattern}{after}[)]?"
    return f"regexp_matches({column}, '\\d') AND regexp_full_match({column}, '{pattern}')"


def _number(
    engine: "DuckDBPyConnection", column: str, sign: _NumberFormat, *, is_guess: bool
) -> TypedColumn:
    bare = f"regexp_replace({column}, '{_TRIMMED}', '', 'g')"
    plain = (
        f"(CASE WHEN regexp_matches({column}, '{_NEGATIVE}') THEN '-' ELSE '' END || replace("
        f"regexp_replace({bare}, '{sign.thousands}', '', 'g'), '{sign.point}', '.'))"
    )
    if sign.point == "." and _holds_for_all(
        engine, f"TRY_CAST({column} AS DOUBLE) IS NOT NULL", column
    ):
        plain = column
    whole = f"NOT regexp_matches({plain}, '[.eE]') AND TRY_CAST({plain} AS BIGINT) IS NOT NULL"
    cast, type_ = (
        ("BIGINT", "INTEGER") if _holds_for_all(engine, whole, column) else ("DOUBLE", "REAL")
    )
    read = f"CAST({plain} AS {cast})"
    if is_guess and (
        shown := _describe_first(engine, column, read, f"regexp_matches({column}, '[.,]')")
    ):
        return TypedColumn(read, type_, f"can be read in two ways: {shown}")
    percent = _describe_first(engine, column, read, f"contains({column}, '%')")
    return TypedColumn(read, type_, f"holds percentages: {percent}" if percent else "")


# Dates


def _find_date_formats(engine: "DuckDBPyConnection", column: str) -> list[str]:
    """The ways to write dates that fit all values."""
    if not _holds_for_all(engine, f"regexp_full_match({column}, '{_LIKE_A_DATE}')", column):
        return []
    known = "coalesce({} >= TIMESTAMP '1000-01-01', false)"
    return [
        one for one in _DATES if _holds_for_all(engine, known.format(_moment(column, one)), column)
    ]


def _moment(column: str, date: str, times: Sequence[str] = ("", *_TIMES)) -> str:
    formats = ", ".join(f"'{date}{time}'" for time in times)
    return f"try_strptime({column}, [{formats}])"


def _is_month_first(dates: Sequence[str]) -> bool | None:
    """Whether the month comes first; None if unclear."""
    found = {one in _MONTH_FIRST for one in dates if one in (*_MONTH_FIRST, *_DAY_FIRST)}
    return found.pop() if len(found) == 1 else None


def _date(
    engine: "DuckDBPyConnection", column: str, dates: Sequence[str], *, month_first: bool
) -> TypedColumn:
    in_doubt = dates[0] in _DAY_FIRST and _is_month_first(dates) is None
    picked = next(one for one in dates if not (in_doubt and month_first) or one in _MONTH_FIRST)
    moment = _moment(column, picked)
    is_day = _holds_for_all(engine, f"{_moment(column, picked, ('',))} IS NOT NULL", column)
    read = f"strftime({moment}, '{'%Y-%m-%d' if is_day else '%Y-%m-%d %H:%M:%S'}')"
    type_ = "DATE" if is_day else "TIMESTAMP"
    if in_doubt and not month_first:
        differ = f"day({moment}) <> month({moment})"
        if shown := _describe_first(engine, column, read, differ):
            return TypedColumn(read, type_, f"can be read in two ways: {shown}")
    return TypedColumn(read, type_)


def _describe_first(engine: "DuckDBPyConnection", column: str, read: str, condition: str) -> str:
    """The first value that meets a condition, and how it is read."""
    query = f"SELECT {column}, CAST({read} AS VARCHAR) FROM loaded WHERE {condition} LIMIT 1"  # noqa: S608 (quoted)
    found = engine.execute(query).fetchone()
    return f"{found[0]} is read as {found[1]}." if found else ""
