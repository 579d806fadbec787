"""What the text of a SQL or Cypher query says of its result: order, extremes, names, words."""

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
_TABLE = re.compile(r"\b(?:from|join)\s+[`\"\[]?([\w.]+)|\(\w*\s*:\s*`?(\w+)", re.I)
_OF_TIME = re.compile(
    r"(?:%[A-Za-z][-/:. ]?)+|[+-]?\d+ (?:second|minute|hour|day|week|month|year)s?|now"
    r"|(?:start of|weekday) \w+|localtime|utc",
    re.IGNORECASE,
)
"""Texts that say how a moment is written or moved: they name nothing."""
_ALIAS = re.compile(r"\b\w{1,3}\.(?=[\w\"`\[])")
"""A short name of a table before a column; it says nothing of what the column holds."""
_AGGREGATE = re.compile(r"\b(count|sum|avg)\s*\(", re.I)


class RowOrder(NamedTuple):
    """By what a query orders its rows, and from which place on it shows them."""

    direction: Direction
    roots: frozenset[str]
    place: int
    limited: bool


class QueryReading(NamedTuple):
    """What a query says of its result; ``bare`` is its text with all literal texts empty."""

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
def read(query: str) -> QueryReading:
    """Read a query; what it does not say is empty."""
    quoted = _STRING.findall(query)
    if re.match(r"\s*(match|optional|unwind|call)\b", query, re.I):
        quoted += _CYPHER_STRING.findall(query)
    texts = [text for text in quoted if not _OF_TIME.fullmatch(text)]
    names = tuple(text.replace("''", "'").strip("%") for text in texts)
    bare = _STRING.sub("''", query)
    outer = flat(bare)
    tables = [match[1] or match[2] for match in _TABLE.finditer(bare)]
    expressions = _expressions(bare, outer)
    about = " ".join(tables)
    return QueryReading(
        order=_order(bare, outer, expressions, about),
        extremes=tuple(
            ("highest" if kind.lower() == "max" else "lowest", _roots(inner, expressions, about))
            for kind, inner in _EXTREME.findall(bare)
        ),
        names=tuple(name for name in names if re.search(r"[^\W\d_]", name)),
        tables=frozenset().union(*(roots(table) for table in tables)) if tables else frozenset(),
        joins=len(set(tables)) > 1,
        aggregates=frozenset(kind.lower() for kind in _AGGREGATE.findall(bare)),
        expressions=expressions,
        limited=_LIMIT.search(outer) is not None,
        text=query,
        bare=bare,
    )


def flat(query: str) -> str:
    """The query with what is in brackets blanked out; places stay the same."""
    depth, kept = 0, []
    for sign in query:
        depth -= sign == ")"
        kept.append(sign if depth <= 0 else " ")
        depth += sign == "("
    return "".join(kept)


def _order(query: str, outer: str, expressions: Mapping[str, str], about: str) -> RowOrder | None:
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
    listed = re.search(r"\b(?:select(?:\s+distinct)?|return(?:\s+distinct)?)\s", outer, re.I)
    if re.match(r"\s*with\b", outer, re.I):
        every = list(re.finditer(r"\bselect(?:\s+distinct)?\s", outer, re.I))
        listed = every[-1] if every else listed
    if re.match(r"\s*(match|optional|unwind|call)\b", outer, re.I):
        every = list(re.finditer(r"\breturn(?:\s+distinct)?\s", outer, re.I))
        listed = every[-1] if every else listed
    if not listed:
        return {}
    stop = re.search(r"\bfrom\b|\border\s+by\b|\blimit\b|\bskip\b|;|$", outer[listed.end() :], re.I)
    end = listed.end() + (stop.start() if stop else 0)
    found, begin = {}, listed.end()
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
    """The roots of an expression's words, of what it is short for, and of what it counts."""
    own = term.strip().strip('`"[]')
    whole = _ALIAS.sub("", f"{own} {expressions.get(own, '')}")
    if re.search(r"\bcount\s*\(", whole, re.I):
        whole += f" {about}"
    return roots(
        re.sub(
            r"\b(?:cast|coalesce|round|real|float|double|integer|desc|asc)\b",
            " ",
            whole,
            flags=re.I,
        )
    )


def column_roots(column: str, reading: QueryReading) -> frozenset[str]:
    """The roots of a column's name and of the expression that it stands for."""
    about = " ".join(
        name for match in _TABLE.finditer(reading.text) if (name := match[1] or match[2])
    )
    return _roots(column, reading.expressions, about)
