"""The interface of a benchmark: a suite chooses samples, plays them, scores them and reports.

The runner, the result files and the generic part of the report use nothing else. The command
``planweave bench NAME`` is built from the suite's class: from the first line of its docstring and
from its ``Options``.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, zip_longest
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

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
"""Shows the current step to the user, in a few words."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question for one method on one source of facts.

    Attributes:
        asked: The text that the decider gets.
        context: Everything else that it gets.
        target: What the suite scores a run by, such as the right answer. No method sees it.
        content: Digest of the sample's data, including its database.
        database: Kind of source; empty if the suite has only one kind.
        aided: Whether a paper's baselines run with planweave's aids in this suite.
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
        """Turn off aids for small models for a paper's baseline, unless the user asks for them."""
        if self.context.assist == "auto" and not self.aided and _is_baseline(self.method):
            object.__setattr__(self, "context", self.context.model_copy(update={"assist": "off"}))

    @property
    def settings(self) -> dict[str, JsonValue]:
        """See :func:`settings_of`."""
        return settings_of(self.context)

    @property
    def key(self) -> str:
        """Name of the sample in result files, made of question, method, database and settings."""
        about = [self.settings, self.context.rules, self.context.candidates, self.asked]
        text = json.dumps([*about, self.content], sort_keys=True)
        parts = (self.suite, self.question, self.method, self.database, self.context.model)
        return "/".join((*parts, digest(text, 12)))


@cache
def _is_baseline(name: str) -> bool:
    """Whether a method is a baseline of a paper; its name may end in a setting, as in rag-5."""
    method = name.rpartition("-")[0] or name
    return method in METHODS and METHODS.get(method).baseline


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The samples to run.

    Attributes:
        about: Description of the data and of the choice, for the head of the result file.
        notes: Sentences that the user reads before the run begins.
        context: The context that the head describes, if the suite has changed it.
    """

    samples: Sequence[Sample]
    about: Mapping[str, JsonValue] = field(default_factory=dict)
    notes: Sequence[str] = ()
    context: Context | None = None


class Suite:
    """A benchmark, found by name.

    Attributes:
        measures: Name of the mean score.
        Options: The options of its command, one field each.
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
        """Run a sample; by default, with the graph that ``sample.method`` names.

        ``on_call`` receives each model call as soon as it ends, so that a crash hides none.
        """
        return await play_graph(sample, on_call)

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """Score a run by its final memory; that of a crashed run contains ``crash`` alone.

        By default, the sample's target scores the answer. ``on_call`` receives the calls of a
        judging model.
        """
        score: Score = sample.target.score(memory.get("answer"))
        return score

    def tables(self, records: Sequence[Record]) -> list[ReportTable]:
        """The suite's own tables in its report."""
        return []


@runtime_checkable
class Drawing(Protocol):
    """A suite whose report has a picture."""

    @property
    def caption(self) -> str:
        """Caption of the picture."""

    def draw(self, records: Sequence[Record], figure: Figure) -> None:
        """Draw the picture and set the size of the figure."""


def in_turn(*pools: Iterable[Item]) -> list[Item]:
    """The first item of each pool, then the second of each pool, and so on."""
    missing = object()
    turns = chain.from_iterable(zip_longest(*pools, fillvalue=missing))
    return [cast("Item", item) for item in turns if item is not missing]


def drawn(
    items: Iterable[Item], limit: int | None, seed: int, name: Callable[[Item], str]
) -> list[Item]:
    """Draw items in an order that the seed fixes; a smaller limit draws a subset of a larger one.

    ``name`` returns a unique name of an item.
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
    """Register the decorated class as the suite called ``name``.

    ``measures`` and ``tables`` set the class's :attr:`Suite.measures` and :meth:`Suite.tables`.
    """

    def decorate(cls: SuiteClass) -> SuiteClass:
        cls.measures = measures
        if tables:
            cls.tables = staticmethod(tables)  # type: ignore[method-assign,assignment]
        SUITES.add(name, cls)
        return cls

    return decorate


def suite(name: str) -> Suite:
    """The suite of that name; see :meth:`Registry.get`."""
    found = SUITES.get(name)()
    found.name = name
    return found
