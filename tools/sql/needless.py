"""Tables that are joined though nothing of them is asked for, or though they are to be missing."""

import re
from collections.abc import Iterator

from sqlglot import exp

from planweave.tools.linking import plain, stem, stems_of
from planweave.tools.sql.catalogue import Homes
from planweave.tools.sql.denied import NEVER
from planweave.tools.sql.slips import has_value, in_none_of, test_by, tests_of

_DID = re.compile(
    r"\bha(?:s|ve|d) (?!no\b|an?\b|the\b)\w+|\b\w+ed\b|\b(?:ever|any|at least|something)\b"
    r"|\b(?:bought|sold|paid|lent|took|gave|went|came|made|won|lost|led|met|wrote|ran|held|kept|sent"
    r"|spent|taught|flew|drove|rode|swam|sang|ate|saw|found|left|got|put|brought|built)\b",
    re.IGNORECASE,
)
"""A question for those who did something, of which a table may tell by another word."""


def leave_out_unused(
    select: exp.Select, homes: Homes, question: str, instructions: str
) -> list[str]:
    """Leave out tables of which a list of rows uses nothing but that they are there.

    "Which jars have no test?" with tests joined finds the jars that have one: those that have none
    are meant. A table that the question does not name repeats rows, or loses those without it.
    """
    if select.args.get("group") or select.find(exp.AggFunc):
        return []
    changes, never = [], NEVER.search(question)
    for join, table, key, own in list(_unused(select, homes)):
        is_there = [one for one in tests_of(select) if _is_there(one, table)]
        home = homes.of(key)
        said = _said(table, home, question[never.start() :] if never else question)
        rest = [one for one in tests_of(select) if one not in is_there]
        if never and (is_there or said):
            column = exp.column(own.this.copy())
            has = exp.select(column).from_(table.this.copy()).where(has_value(column))
            rest.append(in_none_of(key, has))
            changes.append(f"leaves out each {key.name} that has {table.name}")
        elif is_there or said or _DID.search(question) or _said(table, home, instructions):
            continue
        else:
            changes.append(f"leaves out {table.name}, of which nothing is asked")
        join.pop()
        test_by(select, rest)
    return changes


def _unused(
    select: exp.Select, homes: Homes
) -> Iterator[tuple[exp.Join, exp.Table, exp.Column, exp.Column]]:
    """Inner joins by one key of tables that nothing else uses: table and keys of both sides."""
    columns = list(select.find_all(exp.Column))
    if select.find(exp.Star):
        return
    for join in select.args.get("joins") or []:
        table, on = join.this, join.args.get("on")
        if join.side or join.kind == "CROSS" or not isinstance(table, exp.Table):
            continue
        sides = [on.this, on.expression] if isinstance(on, exp.EQ) else []
        own = [one for one in sides if _is_of(one, table)]
        key = [one for one in sides if isinstance(one, exp.Column) and not _is_of(one, table)]
        used = [
            column
            for column in columns
            if (_is_of(column, table) or _may_be_of(column, table, homes))
            and column.find_ancestor(exp.Join) is not join
            and not _is_there(column.parent and column.parent.parent, table)
        ]
        if own and key and not used:
            yield join, table, key[0], own[0]


def _is_of(column: exp.Expr, table: exp.Table) -> bool:
    return isinstance(column, exp.Column) and column.table.lower() == table.alias_or_name.lower()


def _may_be_of(column: exp.Column, table: exp.Table, homes: Homes) -> bool:
    home = homes.of(column)
    return not column.table and (home is None or home[0].lower() == table.name.lower())


def _is_there(test: exp.Expr | None, table: exp.Table) -> bool:
    """Whether a test says that a column of the table has a value."""
    inner = test.this if isinstance(test, exp.Not) else None
    if not isinstance(inner, exp.Is) or not isinstance(inner.expression, exp.Null):
        return False
    return _is_of(inner.this, table)


def _said(table: exp.Table, other: tuple[str, str] | None, question: str) -> bool:
    """Whether a question has a word of a table that the other table's name has not."""
    words = stems_of(table.name) - (stems_of(other[0]) if other else set())
    return not words or bool(words & {stem(word) for word in plain(question).split()})
