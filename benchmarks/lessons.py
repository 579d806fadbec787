"""Lessons: an agent answers generated questions, and a simulator says what its queries are worth.

Where the best path that is known decides a lesson rightly there is nothing to learn from it, and no
model is asked. Where that fails, or none is known, the agent answers with its model. Every query
that it writes on the way, and that reads off a decision, becomes a path and is put to trial on
other generated questions: how many of them it decides rightly is what is known of it from then on.
So success and failure alike choose what is followed, and failures what is learned from.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from planweave import PlanweaveError
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.dqa.suite import Judge
from planweave.learning.paths import TaskPath
from planweave.learning.queries.literals import for_question, slotted
from planweave.learning.queries.memory import action
from planweave.memory import Answer, Context
from planweave.nodes.deciding.answering_machine import admitted
from planweave.tools import Limits, open_database
from planweave.tools.database import QueryResult

Ask: TypeAlias = Callable[[Sample], Awaitable[Record]]
"""Has the agent answer a lesson."""

_TOOLS = ("sql", "cypher")
_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
_LIMIT = re.compile(r"\blimit\s+\d+\s*$", re.IGNORECASE)
_LOOKED_UP = 1_000
"""Rows at most: far more than the values of a column that a question names."""


class Tried(NamedTuple):
    """A path, and whether it decides each trial question rightly."""

    path: TaskPath
    right: tuple[bool, ...]

    @property
    def share(self) -> float:
        """Of the trial questions that it decides rightly, from 0 to 1."""
        return sum(self.right) / len(self.right)


class Lesson(NamedTuple):
    """What came of a lesson.

    Attributes:
        decided: Whether the best path that was known decided it rightly.
        found: Paths that were not known before.
    """

    question: str
    decided: bool
    answered: bool | None
    found: int
    calls: int


class Pupil:
    """What is known after some lessons; the same lessons and answers always teach the same.

    Args:
        trials: Questions on which paths are tried, at least one; none of them is a lesson.
    """

    def __init__(self, trials: Sequence[Sample]) -> None:
        self._trials = trials
        self.tried: list[Tried] = []

    @property
    def best(self) -> Tried | None:
        """The path that decides most trial questions rightly; of equal ones the shortest."""
        useful = [one for one in self.tried if any(one.right)]
        return max(useful, key=lambda one: (one.share, -_length(one.path)), default=None)

    def learned(self) -> TaskPath | None:
        """The best path, of a trial question that it decides rightly: one that succeeded."""
        if (best := self.best) is None:
            return None
        solved = self._trials[best.right.index(True)]
        source = f"{best.path.origin}, right in {sum(best.right)} of {len(best.right)} trials"
        return replace(best.path, question=solved.asked, reward=1.0, origin=source)

    async def take(self, lesson: Sample, ask: Ask) -> Lesson:
        """Learn from one lesson."""
        best = self.best
        if best is not None and rightly(best.path, lesson):
            return Lesson(lesson.question, decided=True, answered=None, found=0, calls=0)
        record = await ask(lesson)
        known = {one.path.instructions for one in self.tried}
        new = [path for path in paths_of(record, lesson) if path.instructions not in known]
        self.tried += [self._put_to_trial(path) for path in new]
        right, calls = record.score.value == 1, len(record.calls)
        return Lesson(lesson.question, decided=False, answered=right, found=len(new), calls=calls)

    def _put_to_trial(self, path: TaskPath) -> Tried:
        return Tried(path, tuple(rightly(path, trial) for trial in self._trials))


def rightly(path: TaskPath, sample: Sample) -> bool:
    """Whether a path decides a question as the simulator would; no model is asked."""
    decision = decided(path, sample)
    if decision is None:
        return False
    answer = Answer(decision=decision, why="", facts=[], unknown="")
    judge: Judge = sample.target
    return judge(answer).value == 1


def decided(path: TaskPath, sample: Sample) -> str | None:
    """What a path decides in the world of a question; None where it comes to no decision."""

    def look_up(tool: str, query: str) -> Sequence[str]:
        found = _asked(tool, query, sample.context, rows=_LOOKED_UP)
        return found.texts if found else ()

    row: dict[str, str] = {}
    for instruction in for_question(path.instructions, sample.asked, look_up) or ():
        tool, text = action(instruction) or ("", "")
        if tool == "finish":
            return admitted(row.get(text), sample.context.candidates)
        row = _only_row(_asked(tool, text, sample.context, rows=2))
    return None


def paths_of(record: Record, sample: Sample) -> list[TaskPath]:
    """The queries of a run that read off a decision, as paths with slots, each once.

    Of rows that a query puts in order the first is what it decides. Of rows that it only lists, it
    is the one with the most or the least of each number in them.
    """
    found = [
        _path(tool, reading, sample, record)
        for tool, query in _queries(record)
        for reading in _readings(tool, query, sample.context)
    ]
    return list({path.instructions: path for path in found if path is not None}.values())


def _queries(record: Record) -> Iterator[tuple[str, str]]:
    """The tool and the text of each query that found something."""
    for turn in record.turns:
        if turn["tool"] in _TOOLS and turn["facts"]:
            yield str(turn["tool"]), " ".join(str(turn["input"]).split()).rstrip("; ")


def _readings(tool: str, query: str, context: Context) -> list[str]:
    """The queries for one row that a query for several stands for."""
    if _ORDERED.search(query):
        return [f"{_LIMIT.sub('', query).rstrip()} LIMIT 1"]
    shown = _asked(tool, query, context, rows=2)
    if shown is None or len(shown.rows) < 2 or _LIMIT.search(query):
        return [query]
    numbers = [
        str(place) if tool == "sql" else name
        for place, (name, cell) in enumerate(
            zip(shown.columns, shown.rows[0], strict=True), start=1
        )
        if isinstance(cell, int | float)
    ]
    return [f"{query} ORDER BY {n} {way} LIMIT 1" for n in numbers for way in ("DESC", "ASC")]


def _path(tool: str, query: str, sample: Sample, record: Record) -> TaskPath | None:
    row = _only_row(_asked(tool, query, sample.context, rows=2))
    candidates = sample.context.candidates
    column = next((name for name, cell in row.items() if admitted(cell, candidates)), None)
    if column is None:
        return None
    own = TaskPath(
        sample.scenario,
        sample.asked,
        (f"{tool}[{query}]", f"finish[{column}]"),
        origin=f"{record.method} by {record.model} on generated {sample.question}",
    )
    path = slotted(own)
    return replace(path, reward=float(rightly(path, sample)))


def _asked(tool: str, query: str, context: Context, *, rows: int) -> QueryResult | None:
    """The first rows that a query finds; None where it is refused or fails."""
    url = context.database if tool == "sql" else context.graph
    limits = Limits(seconds=context.query_seconds, rows=rows)
    try:
        return open_database(url or "").run(query, limits)
    except PlanweaveError:
        return None


def _only_row(result: QueryResult | None) -> dict[str, str]:
    """Its cells by column, as text; none where there are several rows, which decide nothing."""
    if result is None or len(result.rows) != 1:
        return {}
    cells = zip(result.columns, result.rows[0], strict=True)
    return {name: str(cell) for name, cell in cells if cell is not None}


def _length(path: TaskPath) -> int:
    return sum(map(len, path.instructions))
