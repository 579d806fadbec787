"""Arithmetic on named facts with units, within limits and without ``eval``.

An expression is split into tokens. Each number becomes one quantity with the units after it
(:mod:`.quantities`). :mod:`ast` parses the rest into a tree, of which only a few node types are
allowed (:mod:`.evaluation`). All numbers are floats, so no power can grow without limit. A
calculation is one or several named expressions (:mod:`.program`).
"""

from planweave.tools.calculator.evaluation import Given as Given
from planweave.tools.calculator.program import calculate as calculate
from planweave.tools.calculator.program import is_unit as is_unit
from planweave.tools.calculator.units import CURRENCIES as CURRENCIES
from planweave.tools.calculator.units import CalculationFailed as CalculationFailed
