"""What a run has used, and the limits on it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import add, sub
from time import monotonic
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, Field

T = TypeVar("T")
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Usage(BaseModel, frozen=True):
    """Sum over calls; two usages add up with ``+``.

    ``dollars`` is the sum over the calls whose price is known; ``unpriced`` counts the others.
    """

    calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    seconds: Amount = 0.0
    dollars: Amount = 0.0
    unpriced: Count = 0

    def __add__(self, other: "Usage") -> "Usage":
        return self._with(other, add)

    def __sub__(self, other: "Usage") -> "Usage":
        return self._with(other, sub)

    def at_least(self, other: "Usage") -> "Usage":
        """Of every field the larger value."""
        return self._with(other, max)

    def _with(self, other: "Usage", how: Callable[[Any, Any], Any]) -> "Usage":
        mine, theirs = self.model_dump(), other.model_dump()
        return Usage(**{name: how(mine[name], theirs[name]) for name in mine})


class Budget(BaseModel, frozen=True, extra="forbid"):
    """Limits on a run; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    dollars: float | None = None

    def exhausted(self, usage: Usage) -> str | None:
        """Say which limit is reached, in a sentence; None while there is budget left.

        A budget in dollars cannot be kept with a model of unknown price, so it ends the run
        rather than letting it spend unseen.
        """
        tokens = usage.input_tokens + usage.output_tokens
        if self.calls is not None and usage.calls >= self.calls:
            return f"The budget of {self.calls} model calls is used up."
        if self.tokens is not None and tokens >= self.tokens:
            return f"The budget of {self.tokens} tokens is used up ({tokens} spent)."
        if self.seconds is not None and usage.seconds >= self.seconds:
            return f"The budget of {self.seconds:g} seconds is used up."
        if self.dollars is not None and usage.dollars >= self.dollars:
            return f"The budget of {self.dollars:g} dollars is used up."
        if self.dollars is not None and usage.unpriced:
            return "The model's price is unknown, so the budget in dollars cannot be kept."
        return None


@dataclass
class Meter:
    """Counts what a run uses, call by call, whatever its state says."""

    budget: Budget = field(default_factory=Budget)  # besides the limits of the context
    used: Usage = field(default_factory=Usage)
    outer: "Meter | None" = None  # of the run that this one is part of

    def count(self, usage: Usage) -> None:
        """Add what a call used."""
        self.used += usage
        if self.outer is not None:
            self.outer.count(usage)

    def exhausted(self) -> str | None:
        """Which budget is used up, in a sentence: its own, or one of a run around it."""
        around = self.outer.exhausted() if self.outer is not None else None
        return self.budget.exhausted(self.used) or around


@contextmanager
def held(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Give a context variable this value until the end of the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


_meter: ContextVar[Meter | None] = ContextVar("planweave_meter", default=None)


def metered(meter: Meter) -> AbstractContextManager[Meter]:
    """Have all calls of models inside the block counted by ``meter``."""
    return held(_meter, meter)


def current_meter() -> Meter | None:
    """The meter of the run that is under way; None if nothing counts."""
    return _meter.get()


class End(NamedTuple):
    """When calls of models are cut off, by the monotonic clock, and why, in a sentence."""

    at: float
    reason: str

    @property
    def left(self) -> float:
        """Seconds until then; below 0 after it."""
        return self.at - monotonic()


_end: ContextVar[End | None] = ContextVar("planweave_end", default=None)


def ending(end: End) -> AbstractContextManager[End]:
    """Have calls of models inside the block cut off at ``end``, or at an earlier one around it."""
    return held(_end, min(end, _end.get() or end))


def current_end() -> End | None:
    """When calls are cut off; None if they may take as long as they need."""
    return _end.get()
