"""Checks that a ranking counts each row once: joins along keys, and right sums and means."""

import re
from collections.abc import Iterator

from sqlglot import exp

from planweave.texts import listed
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.sql.doubts.question import SchemaQuestion
from planweave.tools.sql.tree import find_column_pairs

_MEAN = re.compile(r"\b(?:average|mean)\b", re.I)
_SHARE = re.compile(r"\b(?:share|percentage|proportion|fraction|divided by)\b", re.I)
_SUM = re.compile(r"\b(?:sum|total|altogether|in all|add up)\b", re.I)


def find_wrong_counts(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Report rows that are counted several times or once for many, and means instead of sums."""
    for join in query.tree.args.get("joins") or ():
        ends = [[(query.find_table(c), c.name.lower()) for c in p] for p in find_column_pairs(join)]
        if not any(asked.catalogue.are_linked(left, right) for left, right in ends):
            yield f"It joins {join.alias_or_name} along no key."
    main = query.find_main_table()
    if not main:
        yield "Its tables multiply each other's rows."
        return
    for aggregate in query.value.find_all(exp.Sum, exp.Avg, exp.Count):
        tables = {query.find_table(column) for column in aggregate.find_all(exp.Column)}
        if tables and main not in tables and not aggregate.find(exp.Distinct):
            yield f"It counts a row of {listed(sorted(tables), 3)} for each of {main}."
    extremes = query.value.find_all(exp.Max, exp.Min)
    columns = [column for extreme in extremes for column in extreme.find_all(exp.Column)]
    takes_one = any(query.find_table(column) == main for column in columns)
    if takes_one and not _has_one_row_each(query, asked, main):
        yield f"It takes one row of {main} for all of an option's."
    yield from _find_wrong_aggregates(query, asked)


def _has_one_row_each(query: RankingQuery, asked: SchemaQuestion, table: str) -> bool:
    """Whether each option has one row of a table."""
    own = query.find_table(query.option) if isinstance(query.option, exp.Column) else ""
    count = next((e.count for e in asked.schema.entities if e.name.lower() == table), None)
    return own == table and len(set(asked.values(own, query.option.name))) == count


def _find_wrong_aggregates(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Report a mean, share or sum that is asked for and missing, or not asked for and taken."""
    value = query.value
    has_mean, has_share = value.find(exp.Avg) is not None, value.find(exp.Avg, exp.Div) is not None
    divides = isinstance(value.unnest(), exp.Div) and value.find(exp.Sum, exp.Count) is not None
    if _MEAN.search(asked.question) and not (has_mean or divides):
        yield "It takes no mean."
    if _SHARE.search(asked.question) and not has_share:
        yield "It takes no share."
    if has_mean and not (_MEAN.search(asked.text) or _SHARE.search(asked.text)):
        yield "It takes a mean, of which nothing is said."
    if _SUM.search(asked.definitions) and not value.find(exp.Sum):
        yield "It adds nothing up."
