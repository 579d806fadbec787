"""What never has something: a question about all rows of a thing, not about one of them."""

import re
from collections.abc import Callable
from functools import partial

from sqlglot import exp

from planweave.tools.sql.catalogue import ColumnTest
from planweave.tools.sql.slips import NO, YES, has_value, in_none_of, test_by, tests_of

NEVER = re.compile(
    r"\b(?:never|not once|ha(?:s|ve|d) no|(?:has|have|had|did|does|do) not\b[^.?]*\bany"
    r"|without (?:any|a single)|with no)\b|n't\b[^.?]*\bany\b",
    re.IGNORECASE,
)


def look_at_all_rows(
    select: exp.Select,
    question: str,
    differ: Callable[[exp.Select], bool],
    lacking: ColumnTest,
    is_date: ColumnTest,
) -> list[str]:
    """Find the things of which no row has a value, where the question asks who never has it.

    "Who never bought coffee?" is asked of all rows of a customer: ``product <> 'Coffee'`` finds who
    bought something else as well, and ``product = 'Coffee'`` finds the opposite.
    """
    source, tests = select.args.get("from_"), tests_of(select)
    shown, never = [one.unalias() for one in select.expressions], NEVER.search(question)
    others = ("joins", "group", "having", "limit")
    if not never or not tests or not source or any(select.args.get(clause) for clause in others):
        return []
    if len(shown) != 1 or not isinstance(key := shown[0], exp.Column):
        return []
    plain = [one for one in tests if not one.find(exp.Select)]
    denied = _denied(plain, question[never.start() :])
    if denied is None:
        return []
    test, made = denied
    if not all(_leaves_out(one, made, source.this) for one in tests if one not in plain):
        return []
    counts = exp.Count(this=key.copy()), exp.Count(this=exp.Distinct(expressions=[key.copy()]))
    if made.find(exp.Column) == key or not differ(exp.select(*counts).from_(source.this.copy())):
        return []
    rest = [one for one in plain if one is not test]
    having = exp.select(key.copy()).from_(source.this.copy())
    having = having.where(made, *(one.copy() for one in rest))
    if lacking(key):
        having = having.where(has_value(key))
    kept = [one for one in rest if not any(map(is_date, one.find_all(exp.Column)))]
    test_by(select, [*kept, in_none_of(key, having)])
    select.set("distinct", exp.Distinct())
    return [f"leaves out each {key.name} that has {made.sql()}"]


def _leaves_out(test: exp.Expr, made: exp.Expr, table: exp.Expr) -> bool:
    """Whether a test leaves out the rows of the same table that meet ``made``."""
    inner = test.this.unnest() if isinstance(test, exp.Not) else None
    query = inner.args.get("query") if isinstance(inner, exp.In) else None
    chosen = query.unnest() if query else None
    if not isinstance(chosen, exp.Select):
        return False
    return made in tests_of(chosen) and chosen.args["from_"].this == table


def _denied(tests: list[exp.Expr], said: str) -> tuple[exp.Expr, exp.Expr] | None:
    """The test for what a thing is not to have, or for others, and the test for it.

    One that looks for others goes first, then one whose value is said, then a flag.
    """
    for reads in (_others, partial(_looked_for, said=said), _flagged):
        found = [(test, made) for test in tests if (made := reads(test)) is not None]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _others(test: exp.Expr) -> exp.Expr | None:
    inner = test.this.unnest() if isinstance(test, exp.Not) else test
    is_negated = isinstance(inner, exp.EQ | exp.Like) and inner is not test
    if not (is_negated or isinstance(inner, exp.NEQ)) or not _is_of_column(inner):
        return None
    made = exp.EQ if isinstance(inner, exp.NEQ) else type(inner)
    return made(this=inner.this.copy(), expression=inner.expression.copy())


def _looked_for(test: exp.Expr, said: str) -> exp.Expr | None:
    if not isinstance(test, exp.EQ | exp.Like) or not _is_of_column(test):
        return None
    text = test.expression.name.strip("%")
    is_said = text and re.search(rf"(?<!\w){re.escape(text)}s?(?!\w)", said, re.IGNORECASE)
    return test.copy() if is_said else None


def _flagged(test: exp.Expr) -> exp.Expr | None:
    """The flag that a thing is not to have: small models look for it, or for its opposite."""
    if not isinstance(test, exp.EQ) or not _is_of_column(test):
        return None
    flag = test.expression.name.casefold()
    if flag in NO:
        return exp.NEQ(this=test.this.copy(), expression=test.expression.copy())
    return test.copy() if flag in YES else None


def _is_of_column(test: exp.Expr) -> bool:
    """Whether a test compares a column with a literal."""
    return isinstance(test.this, exp.Column) and isinstance(test.expression, exp.Literal)
