"""What a run costs: one record per call, their sum, the price table, and budgets."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from models.settings import process_settings
from planweave import BadInput


class Price(BaseModel):
    """Dollars per million tokens; ``cached`` are prompt tokens that the provider had kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float
    output: float
    cached: float | None = None

    def dollars(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
        """Cost of one call in dollars; ``cached_tokens`` are part of ``input_tokens``."""
        cached = self.input if self.cached is None else self.cached
        fresh = input_tokens - cached_tokens
        total = fresh * self.input + cached_tokens * cached + output_tokens * self.output
        return total / 1_000_000


class Message(BaseModel):
    """One message of a prompt, as plain text."""

    model_config = ConfigDict(frozen=True)

    role: str
    content: str


class CallRecord(BaseModel):
    """Everything about one call of a model; serialises to JSON.

    Attributes:
        role: Which role of the graph asked (planner, executor …).
        model: The model's name as the run's settings gave it.
        prompt: The messages sent.
        reply: The text that came back, empty on an error.
        input_tokens: Tokens of the prompt, cached ones included.
        output_tokens: Tokens of the reply.
        cached_tokens: Prompt tokens that the server did not have to read again.
        seconds: Wall time.
        dollars: Cost, or None when the model's price is unknown.
        from_cache: The reply came from our response cache and cost nothing.
        error: Why the call, or the use of its reply, failed; empty otherwise.
    """

    model_config = ConfigDict(frozen=True)

    role: str
    model: str
    prompt: tuple[Message, ...] = ()
    reply: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    dollars: float | None = None
    from_cache: bool = False
    error: str = ""


class Usage(BaseModel):
    """Sum over calls; two usages add up with ``+``.

    ``dollars`` is the sum over the calls whose price is known; ``unpriced`` counts the others.
    """

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    dollars: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            seconds=self.seconds + other.seconds,
            dollars=self.dollars + other.dollars,
            unpriced=self.unpriced + other.unpriced,
        )

    @classmethod
    def of(cls, records: Iterable[CallRecord]) -> "Usage":
        """Sum of ``records``."""
        total = cls()
        for record in records:
            total += cls(
                calls=1,
                input_tokens=record.input_tokens,
                output_tokens=record.output_tokens,
                cached_tokens=record.cached_tokens,
                seconds=record.seconds,
                dollars=record.dollars or 0.0,
                unpriced=int(record.dollars is None),
            )
        return total


def usage_by_role(records: Iterable[CallRecord]) -> dict[str, Usage]:
    """Usage of each role, in the order in which the roles first called."""
    usage: dict[str, Usage] = {}
    for record in records:
        usage[record.role] = usage.get(record.role, Usage()) + Usage.of([record])
    return usage


class Budget(BaseModel):
    """Limits on a run; None is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
            return f"The budget of {self.seconds:g} seconds of model time is used up."
        if self.dollars is not None and usage.dollars >= self.dollars:
            return f"The budget of {self.dollars:g} dollars is used up."
        if self.dollars is not None and usage.unpriced:
            return "The model's price is unknown, so the budget in dollars cannot be kept."
        return None


_FREE = Price(input=0, output=0, cached=0)
_LOCAL = frozenset({"embedded", "ollama"})
_SNAPSHOT = re.compile(r"(-\d{4}-\d{2}-\d{2}|-\d{8}|-latest)$")
_TABLE: TypeAdapter[dict[str, Price]] = TypeAdapter(dict[str, Price])


def price_of(name: str, overrides: Path | None = None) -> Price | None:
    """Price of the model called ``name`` (``provider:model``), or None when it is unknown.

    A name with a date (``…-2024-08-06``) falls back to the name without. Models that run on the
    user's own machine cost nothing.

    Args:
        name: As given to ``chat_model``.
        overrides: A JSON file ``{"provider:model": {"input": …, "output": …, "cached": …}}``,
            dollars per million tokens; the setting ``prices`` when None.

    Raises:
        BadInput: The override file cannot be read.
    """
    table = _prices(overrides or process_settings().prices)
    for key in (name, _SNAPSHOT.sub("", name)):
        if key in table:
            return table[key]
    return _FREE if name.partition(":")[0] in _LOCAL else None


@cache
def _prices(overrides: Path | None) -> Mapping[str, Price]:
    builtin = json.loads((Path(__file__).parent / "prices.json").read_text("utf-8"))
    table = _TABLE.validate_python(builtin["models"])
    if overrides is None:
        return table
    try:
        return table | _TABLE.validate_json(overrides.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise BadInput(
            f"The price file {overrides} cannot be used ({type(error).__name__}).",
            mend='It must be JSON: {"provider:model": {"input": 1.0, "output": 2.0}}.',
        ) from None
