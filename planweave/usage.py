"""The usage of a run, and its limits."""

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
        """The larger value of each field."""
        return self._with(other, max)

    def _with(self, other: "Usage", how: Callable[[Any, Any], Any]) -> "Usage":
        mine, theirs = self.model_dump(), other.model_dump()
        return Usage(**{name: how(mine[name], theirs[name]) for name in mine})


class Budget(BaseModel, frozen=True, extra="forbid"):
    """Limits of a run; None means no limit."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    dollars: float | None = None

    def exhausted(self, usage: Usage) -> str | None:
        """Return a sentence about the limit that is reached; None while there is budget left.

        A budget in dollars cannot be enforced if the model's price is unknown. It then ends the
        run, so that no money is spent unseen.
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
            return "The model's price is unknown, so the budget in dollars cannot be enforced."
        return None


@dataclass
class Meter:
    """Counts the usage of a run call by call, independently of the run's state."""

    budget: Budget = field(default_factory=Budget)  # in addition to the limits of the context
    used: Usage = field(default_factory=Usage)
    outer: "Meter | None" = None  # the meter of the run that contains this one

    def count(self, usage: Usage) -> None:
        """Add the usage of a call."""
        self.used += usage
        if self.outer is not None:
            self.outer.count(usage)

    def exhausted(self) -> str | None:
        """A sentence about the exhausted budget, of this meter or an outer one; None if none is."""
        around = self.outer.exhausted() if self.outer is not None else None
        return self.budget.exhausted(self.used) or around


@contextmanager
def held(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Set a context variable to this value until the end of the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


_meter: ContextVar[Meter | None] = ContextVar("planweave_meter", default=None)


def metered(meter: Meter) -> AbstractContextManager[Meter]:
    """Let ``meter`` count all calls of models inside the block."""
    return held(_meter, meter)


def current_meter() -> Meter | None:
    """The meter of the current run; None if nothing counts."""
    return _meter.get()


class End(NamedTuple):
    """The end of the time for model calls, by the monotonic clock, and the reason in a sentence."""

    at: float
    reason: str

    @property
    def left(self) -> float:
        """The seconds until the end; below 0 after it."""
        return self.at - monotonic()


_end: ContextVar[End | None] = ContextVar("planweave_end", default=None)


def ending(end: End) -> AbstractContextManager[End]:
    """Cut off model calls inside the block at ``end``, or at an earlier end of an outer block."""
    return held(_end, min(end, _end.get() or end))


def current_end() -> End | None:
    """When calls are cut off; None if there is no limit."""
    return _end.get()
