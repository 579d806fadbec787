"""Checks that a query computes a formula of a rule, in any notation."""

import operator
import random
from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_OPERATORS: Mapping[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}
_TRIALS = 3
_DIGITS = 9


def computes(value: exp.Expr, formula: str) -> bool:
    """Whether a part of ``value`` equals ``formula``, or a multiple of it.

    Both are evaluated for random numbers. A formula that is more than arithmetic on columns is
    not judged: True.
    """
    try:
        wanted = sqlglot.parse_one(formula)
    except SqlglotError:
        return True
    targets = [_evaluate(wanted, trial) for trial in range(_TRIALS)]
    if None in targets:
        return True
    for node in value.walk():
        found = [_evaluate(node, trial) for trial in range(_TRIALS)]
        ratios = {round(a / f, _DIGITS) for a, f in zip(targets, found, strict=True) if a and f}
        if None not in found and 0 not in found and len(ratios) == 1:
            return True
    return False


def _evaluate(node: exp.Expr, trial: int) -> float | None:
    """Evaluate an expression with the numbers of a trial; None if it is no arithmetic."""
    if isinstance(node, exp.Column):
        return random.Random(f"{trial} {node.name.lower()}").uniform(1, 2)  # noqa: S311 (no secret)
    if isinstance(node, exp.Literal) and not node.is_string:
        return float(node.name)
    if isinstance(node, exp.Paren | exp.Cast | exp.Coalesce | exp.Round):
        return _evaluate(node.this, trial)
    compute = _OPERATORS.get(node.key)
    if compute is None:
        return None
    ends = _evaluate(node.this, trial), _evaluate(node.expression, trial)
    return None if None in ends or (node.key == "div" and not ends[1]) else compute(*ends)
