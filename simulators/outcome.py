"""The outcome of a simulation: the value of every decision, and the best decisions."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from planweave.errors import BadInput
from planweave.simulators.tables import Floats

Decision: TypeAlias = str | int
Aim: TypeAlias = Literal["maximise", "minimise"]
Semantics: TypeAlias = Literal["annotation", "printed"]

TOLERANCE = 1e-9
"""Values closer than this, relative to the best one, are a tie: far above what the order of a
floating-point sum changes (1e-13), far below any difference in the published questions."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The value of every candidate of one question."""

    candidates: tuple[Decision, ...]  # in table order, each once
    values: Floats  # in the scenario's unit; infinite where infeasible
    aim: Aim
    baseline: float = float("nan")  # the value of deciding nothing; NaN if unknown

    def __post_init__(self) -> None:
        if not self.candidates:
            raise BadInput(
                "The question has no candidate decision.", fix="Check the database it is asked of."
            )

    @cached_property
    def _losses(self) -> Floats:
        """Difference of each candidate to the best one (never negative)."""
        signed = self.values if self.aim == "minimise" else -self.values
        least = signed.min()
        return signed - least if np.isfinite(least) else np.zeros(len(signed))

    def _tolerance(self) -> float:
        best = self.values[int(np.argmin(self._losses))]
        return TOLERANCE * max(1.0, abs(float(best)) if np.isfinite(best) else 1.0)

    @cached_property
    def equivalent(self) -> tuple[Decision, ...]:
        """Every best decision: all candidates within the tolerance of the best value."""
        ties = np.flatnonzero(self._losses <= self._tolerance())
        return tuple(self.candidates[i] for i in ties)

    @property
    def best(self) -> Decision:
        """The best decision; among ties the first in table order."""
        return self.equivalent[0]

    @property
    def margin(self) -> float:
        """Lead of the best decision over the second; 0.0 for a tie, infinite if alone."""
        if len(self.candidates) == 1:
            return float("inf")
        return float(np.partition(self._losses, 1)[1])

    @property
    def improving(self) -> bool:
        """Whether the best decision is better than deciding nothing (true without a baseline)."""
        if np.isnan(self.baseline):
            return True
        best = float(self.values[self.candidates.index(self.best)])
        gain = best - self.baseline if self.aim == "maximise" else self.baseline - best
        return gain > self._tolerance()

    @property
    def degenerate(self) -> bool:
        """Whether the question has no single right answer: a tie, or no improvement."""
        return len(self.equivalent) > 1 or not self.improving

    @cached_property
    def gains(self) -> Floats:
        """Gain of each candidate over deciding nothing, in the scenario's unit.

        If the value of deciding nothing is unknown, the worst feasible candidate replaces it. The
        gain of an infeasible candidate is -infinity.
        """
        sign = 1.0 if self.aim == "maximise" else -1.0
        signed, nothing = sign * self.values, sign * self.baseline
        feasible = np.isfinite(signed)
        if not np.isfinite(nothing):
            nothing = float(signed[feasible].min()) if feasible.any() else 0.0
        return np.where(feasible, signed - nothing, -np.inf)

    @cached_property
    def gained_share(self) -> Floats:
        """Share of the attainable gain of each candidate, 0 to 1; 0 if none gains."""
        gained = np.maximum(self.gains, 0.0)
        most = float(gained.max())
        return gained / most if most > 0 else np.zeros(len(gained))

    def accepts(self, decision: Decision) -> bool:
        """Whether ``decision`` is a best one; a number may be text."""
        return str(decision).strip() in map(str, self.equivalent)

    def regret(self, decision: Decision) -> float:
        """Difference of ``decision`` to the best one, in the scenario's unit."""
        if decision not in self.candidates:
            raise BadInput(f"{decision!r} is not a candidate of this question.")
        return float(self._losses[self.candidates.index(decision)])
