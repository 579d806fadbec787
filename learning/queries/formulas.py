"""Formulas over named numbers, by which learned queries rank, and their variation.

A formula can be evaluated on columns of numbers, and written as an expression for SQL and Cypher.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FormulaColumn: TypeAlias = NDArray[np.float64]

OPERATORS = ("+", "-", "*", "/", "max", "min")
"""Operators on two formulas; a division by zero gives 0."""

_FUNCTIONS: Mapping[str, Callable[[FormulaColumn, FormulaColumn], FormulaColumn]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


@dataclass(frozen=True)
class Formula:
    """A name, a number, or an operator with its two parts."""

    symbol: str
    parts: tuple["Formula", ...] = ()

    @cached_property
    def size(self) -> int:
        """The number of its names, numbers and operators."""
        return 1 + sum(part.size for part in self.parts)

    @property
    def names(self) -> set[str]:
        """The names in it."""
        return {node.symbol for node in self.nodes() if node.symbol.isidentifier()} - set(OPERATORS)

    def nodes(self) -> Iterator["Formula"]:
        """The formula and all its parts, from the left."""
        yield self
        for part in self.parts:
            yield from part.nodes()

    def replaced(self, place: int, new: "Formula") -> "Formula":
        """The formula with ``new`` instead of node number ``place`` of ``nodes()``."""
        if place == 0:
            return new
        left, right = self.parts
        if place <= left.size:
            return Formula(self.symbol, (left.replaced(place - 1, new), right))
        return Formula(self.symbol, (left, right.replaced(place - 1 - left.size, new)))

    def evaluate(self, columns: Mapping[str, FormulaColumn]) -> FormulaColumn:
        """Its value in each row [n] of the columns [n]; a formula without names gives a scalar."""
        if not self.parts:
            known = columns.get(self.symbol)
            return np.asarray(float(self.symbol)) if known is None else known
        left, right = (part.evaluate(columns) for part in self.parts)
        if self.symbol == "/":
            return np.where(right == 0, 0.0, left / np.where(right == 0, 1.0, right))
        return _FUNCTIONS[self.symbol](left, right)

    def __str__(self) -> str:
        """The formula as people write it."""
        if not self.parts:
            return self.symbol
        left, right = map(str, self.parts)
        if self.symbol in ("max", "min"):
            return f"{self.symbol}({left}, {right})"
        return f"({left} {self.symbol} {right})"

    def expression(self) -> str:
        """The formula in the common syntax of SQL and Cypher."""
        if not self.parts:
            return self.symbol
        left, right = (part.expression() for part in self.parts)
        match self.symbol:
            case "max":
                return f"CASE WHEN {left} > {right} THEN {left} ELSE {right} END"
            case "min":
                return f"CASE WHEN {left} < {right} THEN {left} ELSE {right} END"
            case "/":
                return f"CASE WHEN {right} = 0 THEN 0.0 ELSE 1.0 * {left} / {right} END"
        return f"({left} {self.symbol} {right})"


def vary(formula: Formula, leaves: Sequence[str], rng: random.Random) -> Formula:
    """Change a formula: replace a leaf or operator, join something to a part, or drop a part."""
    place = rng.randrange(formula.size)
    found = list(formula.nodes())[place]
    choice = rng.random()
    if choice < 0.4:
        parts = [found, Formula(rng.choice(leaves))]
        rng.shuffle(parts)
        return formula.replaced(place, Formula(rng.choice(OPERATORS), tuple(parts)))
    if not found.parts:
        return formula.replaced(place, Formula(rng.choice(leaves)))
    if choice < 0.7:
        return formula.replaced(place, rng.choice(found.parts))
    return formula.replaced(place, Formula(rng.choice(OPERATORS), found.parts))


def cross(formula: Formula, other: Formula, rng: random.Random) -> Formula:
    """Replace a part of a formula by a part of another, or join both with an operator."""
    if rng.random() < 0.3:
        return Formula(rng.choice(OPERATORS), (formula, other))
    part = rng.choice(list(other.nodes()))
    return formula.replaced(rng.randrange(formula.size), part)
