"""Reads the text of a SQL or Cypher query for its rows: order, extremes, names, words."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from planweave.tools.checking.words import Direction, roots

_STRING = re.compile(r"'((?:[^']|'')*)'")
_CYPHER_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ORDER = re.compile(
    r"\border\s+by\s+(.*?)(?=\blimit\b|\boffset\b|\bfetch\b|\bskip\b|;|$)", re.I | re.S
)
_LIMIT = re.compile(r"\blimit\s+(\d+)|\bfetch\s+(?:first|next)\s+(\d+)?|\btop\s+(\d+)", re.I)
_OFFSET = re.compile(r"\b(?:offset|skip)\s+(\d+)", re.I)
_EXTREME = re.compile(r"\b(min|max)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.I)
_TABLE = re.compile(
    r"\b(?:from|join)\s+(?:\"([^\"]+)\"|[`\[]?([\w.]+))|\(\w*\s*:\s*`?(\w+)", re.IGNORECASE
)
_OF_TIME = re.compile(
    r"(?:%[A-Za-z][-/:. ]?)+|[+-]?\d+ (?:second|minute|hour|day|week|month|year)s?|now"
    r"|(?:start of|weekday) \w+|localtime|utc",
    re.IGNORECASE,
)
"""Literals that format or shift a time, and so name nothing."""
_ALIAS = re.compile(r"\b\w{1,3}\.(?=[\w\"`\[])")
"""The short name of a table before a column."""
_AGGREGATE = re.compile(r"\b(count|sum|avg)\s*\(", re.I)
_FUNCTIONS = re.compile(
    r"\b(?:cast|coalesce|round|real|float|double|integer|desc|asc)\b", re.IGNORECASE
)
_CYPHER_START = "match|optional|unwind|call"


class RowOrder(NamedTuple):
    """How a query sorts its rows, and the place of the first row that it shows."""

    direction: Direction
    roots: frozenset[str]
    place: int
    limited: bool


class QueryReading(NamedTuple):
    """The properties of a query's rows, as far as its text shows them.

    Attributes:
        names: Literals that contain a letter.
        tables: The roots of the words in table names.
        expressions: The expression of each column that is returned.
        bare: The text with all literals empty.
    """

    order: RowOrder | None
    extremes: tuple[tuple[Direction, frozenset[str]], ...]
    names: tuple[str, ...]
    tables: frozenset[str]
    joins: bool
    aggregates: frozenset[str]
    expressions: Mapping[str, str]
    limited: bool
    text: str
    bare: str


@lru_cache(maxsize=256)
def read_query(query: str) -> QueryReading:
    """Read a query."""
    quoted = _STRING.findall(query)
    if re.match(rf"\s*(?:{_CYPHER_START})\b", query, re.I):
        quoted += _CYPHER_STRING.findall(query)
    texts = [text for text in quoted if not _OF_TIME.fullmatch(text)]
    names = tuple(text.replace("''", "'").strip("%") for text in texts)
    bare = _STRING.sub("''", query)
    outer = blank_brackets(bare)
    tables = _find_tables(bare)
    expressions = _expressions(bare, outer)
    about = " ".join(tables)
    return QueryReading(
        order=_read_order(bare, outer, expressions, about),
        extremes=tuple(
            ("highest" if kind.lower() == "max" else "lowest", _roots(inner, expressions, about))
            for kind, inner in _EXTREME.findall(bare)
        ),
        names=tuple(name for name in names if re.search(r"[^\W\d_]", name)),
        tables=roots(about),
        joins=len(set(tables)) > 1,
        aggregates=frozenset(kind.lower() for kind in _AGGREGATE.findall(bare)),
        expressions=expressions,
        limited=_LIMIT.search(outer) is not None,
        text=query,
        bare=bare,
    )


def _find_tables(query: str) -> list[str]:
    """The names of tables or labels that a query reads."""
    return [next(filter(None, match.groups())) for match in _TABLE.finditer(query)]


def blank_brackets(query: str) -> str:
    """Replace the text in brackets by blanks; positions stay the same."""
    depth, kept = 0, []
    for sign in query:
        depth -= sign == ")"
        kept.append(sign if depth <= 0 else " ")
        depth += sign == "("
    return "".join(kept)


def _read_order(
    query: str, outer: str, expressions: Mapping[str, str], about: str
) -> RowOrder | None:
    found = list(_ORDER.finditer(outer))
    if not found:
        return None
    begin, end = found[-1].span(1)
    comma = outer.find(",", begin, end)
    term = query[begin : comma if comma >= 0 else end].strip()
    down = re.search(r"\bdesc(ending)?\b", term, re.I) is not None
    term = re.sub(r"\b(asc|desc)(ending)?\b|\bnulls\s+(first|last)\b", "", term, flags=re.I).strip()
    if term.isdigit() and 0 < int(term) <= len(expressions):
        term = list(expressions.values())[int(term) - 1]
    if term.startswith("-"):
        down, term = not down, term[1:]
    offset = _OFFSET.search(outer)
    return RowOrder(
        direction="highest" if down else "lowest",
        roots=_roots(term, expressions, about),
        place=1 + (int(offset[1]) if offset else 0),
        limited=_LIMIT.search(outer) is not None,
    )


def _expressions(query: str, outer: str) -> dict[str, str]:
    """The expressions that the query returns, by the names of their columns."""
    lists = list(re.finditer(r"\b(select|return)(?:\s+distinct)?\s", outer, re.I))
    if not lists:
        return {}
    head = lists[0]
    for start, word in ((r"with", "select"), (_CYPHER_START, "return")):
        if re.match(rf"\s*(?:{start})\b", outer, re.I):
            head = next((m for m in reversed(lists) if m[1].lower() == word), head)
    stop = re.search(r"\bfrom\b|\border\s+by\b|\blimit\b|\bskip\b|;|$", outer[head.end() :], re.I)
    end = head.end() + (stop.start() if stop else 0)
    found, begin = {}, head.end()
    for at in [*(i for i in range(begin, end) if outer[i] == ","), end]:
        term = query[begin:at].strip()
        begin = at + 1
        named = re.search(r"\bas\s+[`\"\[]?(\w+)[`\"\]]?\s*$", term, re.I)
        if named:
            found[named[1]] = term[: named.start()].strip()
        elif term:
            found[term.rpartition(".")[2].strip('`"[]')] = term
    return found


def _roots(term: str, expressions: Mapping[str, str], about: str) -> frozenset[str]:
    """The roots of an expression, of the expression that it names, and of what it counts."""
    own = term.strip().strip('`"[]')
    whole = _ALIAS.sub("", f"{own} {expressions.get(own, '')}")
    if re.search(r"\bcount\s*\(", whole, re.I):
        whole += f" {about}"
    return roots(_FUNCTIONS.sub(" ", whole))


def column_roots(column: str, reading: QueryReading) -> frozenset[str]:
    """The roots of a column's name and of the expression that it names."""
    about = " ".join(_find_tables(reading.text))
    return _roots(column, reading.expressions, about)
