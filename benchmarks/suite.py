"""What a benchmark is made of: a suite turns a data set into samples and reads their records.

The runner, the result files and the generic part of the report know nothing else of it.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, TypeVar

from pydantic import JsonValue

from benchmarks.metrics import Rate
from benchmarks.play import Play, play_graph
from benchmarks.record import Record, Score, settings_of
from benchmarks.table import Table
from memory import Answer, Context
from planweave import BadInput


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question for one method on one source of facts.

    Attributes:
        suite: Name of the suite.
        question: Identifier of the question in its data set.
        scenario: Part of the suite that it belongs to.
        method: The graph, or other way, that answers it.
        database: Kind of source it is asked on; empty where the suite has one kind only.
        asked: The text that the decider gets.
        context: Everything else that it gets.
        content: Digest of what the question is about, its database included.
        judge: Scores an answer; None is no answer.
        play: How it is carried out; the graph that ``method`` names, unless given.
    """

    suite: str
    question: str
    scenario: str
    method: str
    database: str
    asked: str
    context: Context
    content: str
    judge: Callable[[Answer | None], Score]
    play: Play = play_graph

    @property
    def settings(self) -> dict[str, JsonValue]:
        """See :func:`settings_of`."""
        return settings_of(self.context)

    @property
    def key(self) -> str:
        """Names the sample in result files: the same question, method, database and settings."""
        about = [self.settings, self.context.rules, self.context.candidates, self.asked]
        text = json.dumps([*about, self.content], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        parts = (self.suite, self.question, self.method, self.database, self.context.model)
        return "/".join((*parts, digest))


class Suite(Protocol):
    """How the records of a benchmark are reported; found by name."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """The tables of its report that the generic ones do not hold."""

    def reference(self, method: str, scenario: str, database: str) -> float | None:
        """The accuracy that was published for this cell, from 0 to 1."""

    def baselines(self, records: Sequence[Record]) -> dict[str, Rate]:
        """What needs no language model, on the questions of these records."""


OWN = ("dqa",)
"""Our own suites: the modules of this folder that register one under their name."""

SuiteClass = TypeVar("SuiteClass", bound=type[Suite])
_suites: dict[str, Callable[[], Suite]] = {}


def register(name: str) -> Callable[[SuiteClass], SuiteClass]:
    """Decorate a class that is the suite called ``name``."""

    def registered(cls: SuiteClass) -> SuiteClass:
        _suites[name] = cls
        return cls

    return registered


def suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        BadInput: There is none.
    """
    if name in OWN:
        import_module(f"benchmarks.{name}")
    if name not in _suites:
        raise BadInput(
            f"There is no benchmark suite {name!r}.",
            mend=f"Known are {', '.join({*OWN, *_suites})}.",
        )
    return _suites[name]()
