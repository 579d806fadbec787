"""Checks right rankings, and rankings with one change.

The right ones are the queries of the shops. A change drops, adds, reverses or swaps one part; the
ranking is wrong if another option then comes first.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from planweave import PlanweaveError
from planweave.benchmarks.suites.check.measure import Checked
from planweave.benchmarks.suites.check.pairs import Pair
from planweave.nodes.support.decision_form import find_ranking
from planweave.simulators.shops import DOMAINS, Shop, ShopDecision, shop
from planweave.tools import Limits
from planweave.tools.sql import SqlDatabase, open_sql

if TYPE_CHECKING:
    from sqlglot import exp

Change: TypeAlias = "Callable[[exp.Expr], exp.Expr | None]"

_OPTIONS = Limits(rows=10_000, characters=1_000_000)


def check_rankings(seed: int, names: Iterable[str] = DOMAINS) -> list[Checked]:
    """Check the rankings of shops generated from a seed, and their changed versions."""
    found: list[Checked] = []
    with TemporaryDirectory() as folder:
        for name in names:
            made = shop(name, seed)
            path = Path(folder, f"{name}.sql")
            path.write_text(made.sql, encoding="utf-8")
            database = open_sql(path)
            try:
                for decision in made.decisions:
                    found += _check_decision(decision, made, database)
            finally:
                database.close()
    return found


def _check_decision(decision: ShopDecision, made: Shop, database: SqlDatabase) -> Iterator[Checked]:
    """Check a right ranking and its changes; nothing if the decision is no ranking."""
    options: tuple[str, ...] = ()
    if decision.candidates:
        options = tuple(str(row[0]) for row in database.run(decision.candidates, _OPTIONS).rows)
    ranking = find_ranking(decision.text, made.rules, options, database)
    if ranking is None:
        return
    query = database.ranking(
        decision.query, ranking.option, highest=not decision.smallest, missing=ranking.missing
    )
    for case, text in dict.fromkeys((("as it is", query), *_change_query(query))):
        first = _first_option(text, options, database)
        if first is None or (case != "as it is" and first == decision.best):
            continue
        doubts = database.doubts(text, decision.text, made.rules)
        pair = Pair(
            kind="ranking",
            case=case,
            text=text,
            supported=first == decision.best,
            facts=(),
            question=decision.text,
            rules=made.rules,
        )
        yield Checked(pair, not doubts, " ".join(doubts))


def _first_option(query: str, options: tuple[str, ...], database: SqlDatabase) -> str | None:
    """The first option of a ranking; None if it fails or the first two tie."""
    try:
        rows = database.run(query, _OPTIONS).rows
    except PlanweaveError:
        return None
    valued = [r for r in rows if r[-1] is not None and (not options or str(r[0]) in options)]
    if not valued or (len(valued) > 1 and valued[0][-1] == valued[1][-1]):
        return None
    return str(valued[0][0])


def _change_query(query: str) -> Iterator[tuple[str, str]]:
    """Name and query of each change."""
    import sqlglot

    tree = sqlglot.parse_one(query, read="sqlite")
    for place, node in enumerate(tree.walk()):
        for case, change in _changes_of(node):
            copied = tree.copy()
            part = list(copied.walk())[place]
            if (new := change(part)) is not None:
                part.replace(new)
                yield case, copied.sql(dialect="sqlite")


def _changes_of(node: "exp.Expr") -> Iterator[tuple[str, Change]]:
    from sqlglot import exp

    turned: dict[type[exp.Expr], type[exp.Binary]] = {exp.GT: exp.LT, exp.LT: exp.GT}
    turned |= {exp.GTE: exp.LTE, exp.LTE: exp.GTE, exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}
    if (other := turned.get(type(node))) and not node.find_ancestor(exp.Join):
        yield "comparison turned", lambda one: other(this=one.this, expression=one.expression)
    if isinstance(node, exp.Not):
        yield "missing values taken", lambda one: one.this
    elif isinstance(node, exp.Is) and not isinstance(node.parent, exp.Not):
        yield "missing values left out", lambda one: exp.Not(this=one.copy())
    if isinstance(node, exp.And):
        yield "condition left out", lambda one: one.this
        yield "condition left out", lambda one: one.expression
    if isinstance(node, exp.Where):
        yield "condition left out", lambda _: exp.Where(this=exp.true())
    if isinstance(node, exp.Sum | exp.Avg):
        rival = exp.Avg if isinstance(node, exp.Sum) else exp.Sum
        yield "other aggregate", lambda one: rival(this=one.this)
        yield "other aggregate", lambda one: exp.Max(this=one.this)
        yield "other aggregate", lambda _: exp.Count(this=exp.Star())
    if isinstance(node, exp.Mul | exp.Div | exp.Add | exp.Sub):
        yield "part of the formula left out", lambda one: one.this
        yield "part of the formula left out", lambda one: one.expression
    if isinstance(node, exp.Literal) and node.is_string and node.name[:2] == "20":
        yield "other day", lambda one: exp.Literal.string(f"{int(one.name[:4]) - 1}{one.name[4:]}")
