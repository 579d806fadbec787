"""What a benchmark is made of: a suite chooses samples, plays and scores them, reads their records.

The runner, the result files and the generic part of the report know nothing else of it. Its command
``planweave bench NAME`` is made from its class: from the first line of its docstring, and from its
``Options``.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, zip_longest
from typing import (
    Any,
    ClassVar,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    runtime_checkable,
)

from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.core.options import Options
from planweave.benchmarks.core.picture import Figure
from planweave.benchmarks.core.play import Memory, OnCall, play_graph
from planweave.benchmarks.core.record import Record, Score, settings_of
from planweave.benchmarks.core.table import ReportTable
from planweave.benchmarks.suites import OWN
from planweave.graphs import METHODS
from planweave.memory import Context
from planweave.registry import Registry
from planweave.texts import digest

Item = TypeVar("Item")
ShowStatus: TypeAlias = Callable[[str], None]
"""Shows in a few words what takes time."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question for one method on one source of facts.

    Attributes:
        asked: The text that the decider gets.
        context: Everything else that it gets.
        target: What the suite scores a run by, such as the right answer; it is never shown.
        content: Digest of what the question is about, its database included.
        database: Kind of source it is asked on; empty where the suite has one kind only.
        aided: Whether the suite measures a paper's baselines as planweave uses them, with aids.
    """

    suite: str
    question: str
    method: str
    asked: str
    context: Context
    target: Any = None
    content: str = ""
    scenario: str = "all"
    database: str = ""
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
        parts = (self.suite, self.question, self.method, self.database, self.context.model)
        return "/".join((*parts, digest(text, 12)))


@cache
def _is_baseline(name: str) -> bool:
    """Whether a method is a baseline of a paper, also with a setting in its name, as in rag-5."""
    method = name.rpartition("-")[0] or name
    return method in METHODS and METHODS.get(method).baseline


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What is to be carried out.

    Attributes:
        about: What the head of the result file says of the data and of the choice.
        notes: What the user should know before it begins, a sentence each.
        context: The context that the head describes, where the suite has changed it.
    """

    samples: Sequence[Sample]
    about: Mapping[str, JsonValue] = field(default_factory=dict)
    notes: Sequence[str] = ()
    context: Context | None = None


class Suite:
    """A benchmark, found by name.

    Attributes:
        measures: What the mean of its scores is called.
        Options: What its user may choose, a field for each option of its command.
    """

    name: str = ""
    measures: ClassVar[str] = "accuracy"
    Options: ClassVar[type[Any]] = Options

    def select(self, options: Any, context: Context, status: ShowStatus) -> Selection:
        """Choose the samples.

        ``options`` is of the class ``Options``; ``context`` has no sources yet.
        """
        raise BadInput(f"The suite {self.name!r} has no samples.", fix="Give it `select()`.")

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Carry a sample out: by the graph that ``sample.method`` names, unless overridden.

        ``on_call`` takes each call of a model as soon as it is over, so that a crash hides none.
        """
        return await play_graph(sample, on_call)

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """What a run is worth, by all that is known at its end; of a crashed one, ``crash`` alone.

        By itself the sample's target scores the answer. ``on_call`` takes the calls of a model
        that judges.
        """
        score: Score = sample.target.score(memory.get("answer"))
        return score

    def tables(self, records: Sequence[Record]) -> list[ReportTable]:
        """The tables of its report that the generic ones do not hold."""
        return []


@runtime_checkable
class Drawing(Protocol):
    """A suite whose report has a picture."""

    @property
    def caption(self) -> str:
        """What the picture shows."""

    def draw(self, records: Sequence[Record], figure: Figure) -> None:
        """Draw it, and set the size of the figure."""


def in_turn(*pools: Iterable[Item]) -> list[Item]:
    """The first of every pool, then the second of every pool, and so on."""
    missing = object()
    turns = chain.from_iterable(zip_longest(*pools, fillvalue=missing))
    return [cast("Item", item) for item in turns if item is not missing]


def drawn(
    items: Iterable[Item], limit: int | None, seed: int, name: Callable[[Item], str]
) -> list[Item]:
    """A fixed sample in a fixed order; a smaller limit chooses a part of what a larger one does.

    ``name`` is what distinguishes one item from the others.
    """
    return sorted(items, key=lambda item: digest(f"{seed} {name(item)}", 64))[:limit]


SuiteClass = TypeVar("SuiteClass", bound=type[Suite])
SUITES: Registry[type[Suite]] = Registry(
    "benchmark suite",
    accepts=lambda found: isinstance(found, type) and issubclass(found, Suite),
    own=OWN,
)
"""Every suite by name; the entry-point group is ``planweave.suites``."""


def register(
    name: str,
    *,
    measures: str = "accuracy",
    tables: Callable[[Sequence[Record]], list[ReportTable]] | None = None,
) -> Callable[[SuiteClass], SuiteClass]:
    """Decorate a class that is the suite called ``name``.

    ``measures`` is what its scores mean; ``tables`` are those of its report (:meth:`Suite.tables`).
    """

    def registered(cls: SuiteClass) -> SuiteClass:
        cls.measures = measures
        if tables:
            cls.tables = staticmethod(tables)  # type: ignore[method-assign,assignment]
        SUITES.add(name, cls)
        return cls

    return registered


def suite(name: str) -> Suite:
    """The suite of that name; see :meth:`Registry.get`."""
    found = SUITES.get(name)()
    found.name = name
    return found
