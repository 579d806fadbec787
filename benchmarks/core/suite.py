"""What a benchmark is made of: a suite turns a data set into samples and reads their records.

The runner, the result files and the generic part of the report know nothing else of it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, runtime_checkable

from pydantic import JsonValue

from planweave.benchmarks.core.metrics import Rate
from planweave.benchmarks.core.play import Play, play_graph
from planweave.benchmarks.core.record import Record, Score, settings_of
from planweave.benchmarks.core.table import Table
from planweave.graphs import METHODS
from planweave.memory import Answer, Context
from planweave.registry import Registry

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
        aided: Whether the suite measures a paper's baselines as planweave uses them, with aids.
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
    aided: bool = False

    def __post_init__(self) -> None:
        """A baseline of a paper has no aids for small models, unless they are asked for."""
        if self.context.assist == "auto" and not self.aided and _is_baseline(self.method):
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


@cache
def _is_baseline(name: str) -> bool:
    """Whether a method is a baseline of a paper, also with a setting in its name, as in rag-5."""
    method = name.rpartition("-")[0] or name
    return method in METHODS and METHODS.get(method).baseline


class Suite(Protocol):
    """How the records of a benchmark are reported; found by name.

    Attributes:
        measures: What the mean of its scores is called.
    """

    measures: ClassVar[str] = "accuracy"

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """The tables of its report that the generic ones do not hold."""

    def reference(self, method: str, scenario: str, database: str) -> float | None:  # noqa: ARG002
        """The accuracy that was published for this cell, from 0 to 1; None unless one is known."""
        return None

    def baselines(self, records: Sequence[Record]) -> dict[str, Rate]:  # noqa: ARG002
        """What needs no language model, on the questions of these records; none unless told."""
        return {}


@runtime_checkable
class Runnable(Protocol):
    """A suite whose command is made from it: how packages from outside bring theirs."""

    def samples(
        self,
        *,
        methods: Sequence[str],
        context: Context,
        data: Path | None,
        limit: int | None,
        seed: int,
    ) -> list[Sample]:
        """What is to be carried out.

        Args:
            methods: Names of the methods to measure.
            context: Model, limits and other settings, without sources.
            data: File or folder that the user names.
            limit: Questions at most; None for all.
            seed: Which sample of them.
        """


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


_MODULES = ("agents", "dqa", "environment", "mhqa", "needles", "prompt_format", "rag", "rat")
_PACKAGES = ("rules", "shop", "text2cypher", "text2sql")

SuiteClass = TypeVar("SuiteClass", bound=type[Suite])
SUITES: Registry[type[Suite]] = Registry(
    "benchmark suite",
    accepts=lambda found: isinstance(found, type) and hasattr(found, "tables"),
    own={name: f"planweave.benchmarks.suites.{name}.suite" for name in (*_MODULES, "writing")}
    | {name: f"planweave.benchmarks.suites.{name}" for name in _PACKAGES},
)
"""Every suite by name; the entry-point group is ``planweave.suites``."""


def register(name: str, *, measures: str = "accuracy") -> Callable[[SuiteClass], SuiteClass]:
    """Decorate a class that is the suite called ``name``; ``measures`` is what its scores mean."""

    def registered(cls: SuiteClass) -> SuiteClass:
        cls.measures = measures
        SUITES.add(name, cls)
        return cls

    return registered


def suite(name: str) -> Suite:
    """The suite of that name; see :meth:`Registry.get`."""
    return SUITES.get(name)()
