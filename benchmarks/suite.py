"""What a benchmark is made of: a suite turns a data set into samples and reads their records.

The runner, the result files and the generic part of the report know nothing else of it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.metrics import Rate
from planweave.benchmarks.play import Play, play_graph
from planweave.benchmarks.record import Record, Score, settings_of
from planweave.benchmarks.table import Table
from planweave.graphs.registry import BASELINES
from planweave.memory import Answer, Context

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Item = TypeVar("Item")


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

    def __post_init__(self) -> None:
        """A baseline of a paper has no aids for small models, unless they are asked for."""
        name = self.method.rpartition("-")[0] or self.method  # such as rag-5
        if self.context.assist == "auto" and name in BASELINES:
            object.__setattr__(self, "context", self.context.model_copy(update={"assist": "off"}))

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

    def reference(self, method: str, scenario: str, database: str) -> float | None:  # noqa: ARG002
        """The accuracy that was published for this cell, from 0 to 1; None unless one is known."""
        return None

    def baselines(self, records: Sequence[Record]) -> dict[str, Rate]:  # noqa: ARG002
        """What needs no language model, on the questions of these records; none unless told."""
        return {}


@runtime_checkable
class Drawing(Protocol):
    """A suite with a picture of its own, in place of the score by scenario and database."""

    @property
    def caption(self) -> str:
        """What the picture shows."""

    def draw(self, records: Sequence[Record], figure: "Figure") -> None:
        """Draw it, and set the size of the figure."""


def drawn(
    items: Iterable[Item], limit: int | None, seed: int, name: Callable[[Item], str]
) -> list[Item]:
    """A fixed sample in a fixed order; a smaller limit chooses a part of what a larger one does.

    Args:
        items: In any order.
        limit: How many at most; None for all.
        seed: Another seed, another sample.
        name: What tells one item from the others.
    """

    def place(item: Item) -> bytes:
        return hashlib.sha256(f"{seed} {name(item)}".encode()).digest()

    return sorted(items, key=place)[:limit]


OWN = ("agents", "dqa", "environment", "mhqa", "needles", "prompt_format", "rag", "rat", "writing")
"""Our own suites: the modules of this folder that register one under their name."""

PACKAGES = ("shop", "text2cypher", "text2sql")
"""Our own suites that are packages in the folder ``suites``."""

SuiteClass = TypeVar("SuiteClass", bound=type[Suite])
_suites: dict[str, Callable[[], Suite]] = {}
_measures: dict[str, str] = {}


def register(name: str, *, measures: str = "accuracy") -> Callable[[SuiteClass], SuiteClass]:
    """Decorate a class that is the suite called ``name``; ``measures`` is what its scores mean."""

    def registered(cls: SuiteClass) -> SuiteClass:
        _suites[name] = cls
        _measures[name] = measures
        return cls

    return registered


def suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        BadInput: There is none.
    """
    if name in OWN:
        import_module(f"planweave.benchmarks.{name}")
    elif name in PACKAGES:
        import_module(f"planweave.benchmarks.suites.{name}")
    if name not in _suites:
        raise BadInput(
            f"There is no benchmark suite {name!r}.",
            mend=f"Known are {', '.join({*OWN, *PACKAGES, *_suites})}.",
        )
    return _suites[name]()


def measured(name: str) -> str:
    """What the mean score of the suite of that name is called.

    Raises:
        BadInput: There is no such suite.
    """
    suite(name)
    return _measures[name]
