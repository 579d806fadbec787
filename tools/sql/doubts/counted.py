"""Whether a ranking counts each row once: joins along keys, sums and means where they belong."""

import re
from collections.abc import Iterator

from sqlglot import exp

from planweave.texts import listed
from planweave.tools.sql.doubts.asked import SchemaQuestion
from planweave.tools.sql.doubts.query import RankingQuery

_MEAN = re.compile(r"\b(?:average|mean)\b", re.I)
_SHARE = re.compile(r"\b(?:share|percentage|proportion|fraction|divided by)\b", re.I)
_SUM = re.compile(r"\b(?:sum|total|altogether|in all|add up)\b", re.I)


def _joins(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    for join in query.tree.args.get("joins") or ():
        pairs = [
            (pair.this, pair.expression)
            for pair in join.find_all(exp.EQ)
            if isinstance(pair.this, exp.Column) and isinstance(pair.expression, exp.Column)
        ]
        if not any(_is_reference(query, asked, left, right) for left, right in pairs):
            yield f"It joins {join.alias_or_name} along no key."


def _is_reference(
    query: RankingQuery, asked: SchemaQuestion, left: exp.Column, right: exp.Column
) -> bool:
    one, other = ((query.home(c), c.name.lower()) for c in (left, right))
    return asked.catalogue.are_linked(one, other)


def counted(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Rows that are counted several times or once for many, and means in place of sums."""
    yield from _joins(query, asked)
    grain = query.grain()
    if not grain:
        yield "Its tables multiply each other's rows."
        return
    for aggregate in query.value.find_all(exp.Sum, exp.Avg, exp.Count):
        homes = {query.home(column) for column in aggregate.find_all(exp.Column)}
        if homes and grain not in homes and not aggregate.find(exp.Distinct):
            yield f"It counts a row of {listed(sorted(homes), 3)} for each of {grain}."
    single = [c for one in query.value.find_all(exp.Max, exp.Min) for c in one.find_all(exp.Column)]
    if any(query.home(c) == grain for c in single) and not _is_single(query, asked, grain):
        yield f"It takes one row of {grain} for all of an option's."
    yield from _means(query, asked)


def _is_single(query: RankingQuery, asked: SchemaQuestion, table: str) -> bool:
    """Whether each option has one row of a table."""
    own = query.home(query.option) if isinstance(query.option, exp.Column) else ""
    count = next((e.count for e in asked.schema.entities if e.name.lower() == table), None)
    return own == table and len(set(asked.values(own, query.option.name))) == count


def _means(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """A mean, share or sum that is asked for and not taken, or taken and not asked for."""
    value = query.value
    has_mean, has_share = value.find(exp.Avg) is not None, value.find(exp.Avg, exp.Div) is not None
    divides = isinstance(value.unnest(), exp.Div) and value.find(exp.Sum, exp.Count) is not None
    if _MEAN.search(asked.question) and not (has_mean or divides):
        yield "It takes no mean."
    if _SHARE.search(asked.question) and not has_share:
        yield "It takes no share."
    if has_mean and not (_MEAN.search(asked.said) or _SHARE.search(asked.said)):
        yield "It takes a mean, of which nothing is said."
    bodies = (asked.question, *(rule.body for rule in asked.rules))
    if _SUM.search(" ".join(bodies)) and not value.find(exp.Sum):
        yield "It adds nothing up."
