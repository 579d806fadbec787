"""The cost of calls: one record per call, their sum, and the price table."""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from planweave.models.settings import process_settings
from planweave.records import read_object
from planweave.usage import Usage


class Price(BaseModel, frozen=True, extra="forbid"):
    """Dollars per million tokens; ``cached`` applies to prompt tokens that the provider cached."""

    input: float
    output: float
    cached: float | None = None

    def dollars(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
        """Cost of one call in dollars; ``cached_tokens`` are part of ``input_tokens``."""
        cached = self.input if self.cached is None else self.cached
        fresh = input_tokens - cached_tokens
        total = fresh * self.input + cached_tokens * cached + output_tokens * self.output
        return total / 1_000_000


class PromptMessage(BaseModel, frozen=True):
    """One message of a prompt, as plain text."""

    role: str
    content: str


class CallRecord(BaseModel, frozen=True):
    """Everything about one call of a model; serialises to JSON."""

    role: str  # in the graph: planner, executor …
    model: str  # as named in the run's settings
    prompt: tuple[PromptMessage, ...] = ()
    reply: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0  # tokens that the server did not read again
    seconds: float = 0.0
    dollars: float | None = None  # None if the price is unknown
    from_cache: bool = False  # from our response cache, at no cost
    error: str = ""  # why the call, or the use of its reply, failed
    stage: int | str = 0  # the graph's step, such as 4, or 4.2 in a subgraph; 0 outside
    task: str = ""  # tasks of one step run at once

    @property
    def usage(self) -> Usage:
        """The call as usage, for sums."""
        return Usage(
            calls=1,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_tokens=self.cached_tokens,
            seconds=self.seconds,
            dollars=self.dollars or 0.0,
            unpriced=int(self.dollars is None),
        )


def usage_by_role(records: Iterable[CallRecord]) -> dict[str, Usage]:
    """Usage of each role, in the order of the roles' first calls."""
    usage: dict[str, Usage] = {}
    for record in records:
        usage[record.role] = usage.get(record.role, Usage()) + record.usage
    return usage


_FREE = Price(input=0, output=0, cached=0)
_LOCAL = frozenset({"embedded", "ollama", "script"})
_SNAPSHOT = re.compile(r"(-\d{4}-\d{2}-\d{2}|-\d{8}|-latest)$")


def price_of(name: str) -> Price | None:
    """Price of the model called ``name`` (``provider:model``), or None if unknown.

    A name with a date (``…-2024-08-06``) falls back to the name without it. Models that run on the
    user's own machine cost nothing. The file of the setting ``prices`` overrides the table.
    """
    table = _prices(process_settings().prices)
    for key in (name, _SNAPSHOT.sub("", name)):
        if key in table:
            return table[key]
    return _FREE if name.partition(":")[0] in _LOCAL else None


@cache
def _prices(overrides: Path | None) -> dict[str, Price]:
    builtin = json.loads((Path(__file__).parent / "prices.json").read_text("utf-8"))
    table = {name: Price.model_validate(price) for name, price in builtin["models"].items()}
    fix = 'Write a JSON file of prices: {"provider:model": {"input": 1.0, "output": 2.0}}.'
    return table | (read_object(overrides, dict[str, Price], fix=fix) if overrides else {})
