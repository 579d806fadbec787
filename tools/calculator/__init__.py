"""Arithmetic on named facts with units, inside bounds and without ``eval``.

An expression is cut into tokens, each number with the units behind it becomes one quantity
(:mod:`.quantities`), and the rest is parsed by :mod:`ast` into a tree of which only a few node
types are understood (:mod:`.evaluation`). All numbers are floats, so no power can grow without end.
Several expressions, each with a name, are one calculation (:mod:`.program`).
"""

from planweave.tools.calculator.evaluation import Given as Given
from planweave.tools.calculator.program import calculate as calculate
from planweave.tools.calculator.program import is_unit as is_unit
from planweave.tools.calculator.units import CURRENCIES as CURRENCIES
from planweave.tools.calculator.units import CalculationFailed as CalculationFailed
