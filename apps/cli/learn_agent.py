"""``planweave learn agent``: PlanRAG and its model learn by answering generated questions."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_args

import platformdirs
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from planweave import BadInput
from planweave.apps.cli.bench.common import GO_ON, context_of, head_of, run_samples
from planweave.apps.cli.groups import grouped
from planweave.apps.cli.setting import Settings, pairs
from planweave.apps.options import Reading, semantics_of
from planweave.apps.plain import plain
from planweave.benchmarks.core.metrics import Rate, rate
from planweave.benchmarks.core.options import Model, listed
from planweave.benchmarks.core.picture import draw_picture
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.core.runner import carry_out
from planweave.benchmarks.core.store import ResultFile, Run, read
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.lessons import Lesson, Pupil, Tried, rightly
from planweave.benchmarks.suites.dqa import suite as dqa
from planweave.learning.paths import write_paths
from planweave.learning.queries.questions import Worlds
from planweave.memory import Context
from planweave.simulators.registry import scenario
from planweave.tools.database import Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LESSONS, _TRIALS, _UNSEEN = 1, 1_000_001, 2_000_001
"""The seeds of each kind of question begin here, so that none is of two kinds."""

_METHOD = "planrag"
"""Who answers: the method that follows experience."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """Which questions are asked, and how many of each kind."""

    name: Annotated[str, typer.Option("--scenario", help="Whose questions.")] = "sourcing"
    semantics: Reading = "annotation"
    size: Annotated[int, typer.Option(help="About how many rows a world has.", min=10)] = 60
    lessons: Annotated[int, typer.Option(help="Questions to learn from, at most.", min=1)] = 200
    answers: Annotated[int, typer.Option(help="Of them, answered by the model.", min=1)] = 20
    trials: Annotated[int, typer.Option(help="Questions on which paths are tried.", min=1)] = 60
    unseen: Annotated[int, typer.Option(help="Questions of the exam at the end.", min=1)] = 20


@dataclass(frozen=True, kw_only=True)
class _School:
    """Whose questions are asked, and of whom."""

    course: Course
    database: Kind
    context: Context

    def exam(self) -> list[Sample]:
        """The questions at the end."""
        return [*self._questions(_UNSEEN, self.course.unseen)]

    def trials(self) -> list[Sample]:
        """The questions on which paths are tried."""
        return [*self._questions(_TRIALS, self.course.trials)]

    def lessons(self) -> Iterator[Sample]:
        """The questions to learn from, made one by one."""
        return self._questions(_LESSONS, self.course.lessons)

    def _questions(self, first: int, count: int) -> Iterator[Sample]:
        course = self.course
        semantics = semantics_of(course.semantics)
        worlds = Worlds(
            scenario=scenario(course.name),
            semantics=semantics,
            smallest=course.size,
            largest=course.size,
        )
        for _, question in worlds.questions(range(first, first + count)):
            yield from dqa.samples(
                [question.read_as(semantics)],
                methods=[_METHOD],
                databases=[self.database],
                settings=self.context,
                folder=platformdirs.user_cache_path("planweave") / "lessons",
            )


class _Answers:
    """The agent's answers to lessons; one that was given before is taken as it is kept."""

    def __init__(self, results: ResultFile, head: Run) -> None:
        self._results, self._head = results, head

    async def __call__(self, lesson: Sample) -> Record:
        if kept := self._results.results.records.get(lesson.key):
            return kept
        if self._head not in self._results.results.runs:
            self._results.append(self._head)
        record = await carry_out(lesson)
        self._results.append(record)
        return record


class _Taken(NamedTuple):
    """A lesson, and the share of the unseen that the best path known after it decides rightly."""

    lesson: Lesson
    unseen: float


@grouped()
def agent(
    *,
    model: Model = "embedded",
    database: Annotated[str, typer.Option(help="relational or graph.")] = "relational",
    course: Course,
    setting: Settings = None,
    out: Annotated[Path, typer.Option(help="Folder of all that is kept.")] = Path(
        "results/learning-agent"
    ),
) -> None:
    """Learn from answers to generated questions, which a simulator judges; can be resumed.

    A lesson that the best path known decides rightly costs no call; the model answers the others,
    and its queries are tried. At the end it answers unseen questions without and with what was
    learned. The folder gets the best path (experience.jsonl, for --experience), all that were tried
    (paths.jsonl), every answer, and the curve.
    """
    os.environ.setdefault("PLANWEAVE_RESPONSE_CACHE", "off")  # a kept reply would look free
    console = Console(highlight=False)
    context = context_of({"model": model, **pairs(setting or [])})
    school = _School(
        course=course,
        database=listed(database, get_args(Kind), "kind of database", every="relational")[0],
        context=context,
    )
    head = head_of(dqa.NAME, context, {"name": f"generated: {course.name}", **asdict(course)})
    pupil, exam = Pupil(school.trials()), school.exam()
    taken = _taught(pupil, school, exam, _lessons_file(out, console), head, console)
    _summarise(console, taken, pupil)
    _write(out, pupil)
    rows = _examined(exam, pupil.best, head, out, console)
    show_tables([_table(rows)], console)
    _write_card(out, head, taken, pupil, rows)
    picture = ", curve.png" if draw_picture(out / "curve.png", partial(_draw, taken)) else ""
    console.print(f"Written to {out}: experience.jsonl, paths.jsonl, learned.json{picture}")


def _lessons_file(out: Path, console: Console) -> ResultFile:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out} cannot be made ({error.strerror}).") from None
    return ResultFile(out / "lessons.jsonl", lambda text: console.print(text, markup=False))


def _taught(
    pupil: Pupil,
    school: _School,
    exam: Sequence[Sample],
    results: ResultFile,
    head: Run,
    console: Console,
) -> list[_Taken]:
    """Take lessons until the model has answered as many as it may, or there are no more."""
    course, ask, taken = school.course, _Answers(results, head), list[_Taken]()
    columns = (TextColumn("lessons"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    unseen = lru_cache(maxsize=2)(lambda best: _share(best, exam))

    async def take(bar: Progress) -> None:
        shown, answered = bar.add_task("", total=course.lessons), 0
        for number, sample in enumerate(school.lessons(), start=1):
            lesson = await pupil.take(sample, ask)
            taken.append(_Taken(lesson, unseen(pupil.best)))
            bar.update(shown, completed=number)
            if lesson.answered is not None:
                answered += 1
                console.print(plain(_line(number, taken[-1], pupil)), markup=False, soft_wrap=True)
            if answered == course.answers:
                break

    try:
        with Progress(*columns, console=console, transient=True) as bar:
            asyncio.run(take(bar))
    except KeyboardInterrupt:
        console.print(f"\nInterrupted. {GO_ON}")
        raise typer.Exit(130) from None
    finally:
        results.close()
    return taken


def _share(best: Tried | None, exam: Sequence[Sample]) -> float:
    return fmean(rightly(best.path, sample) for sample in exam) if best else 0.0


def _line(number: int, taken: _Taken, pupil: Pupil) -> str:
    lesson = taken.lesson
    answered = "rightly" if lesson.answered else "wrongly"
    best = f"{pupil.best.share:.0%} of the trials" if pupil.best else "none decides"
    return (
        f"lesson {number}: answered {answered}, {lesson.calls} calls, {lesson.found} new paths; "
        f"best path: {best}"
    )


def _summarise(console: Console, taken: Sequence[_Taken], pupil: Pupil) -> None:
    asked = [one.lesson.answered for one in taken if one.lesson.answered is not None]
    console.print(
        f"{len(taken)} lessons, {len(asked)} answered by the model, {sum(asked)} of them rightly; "
        f"{len(pupil.tried)} paths tried."
    )
    if pupil.best is None:
        console.print("None of them decides a trial question rightly: nothing was learned.")
        return
    console.print(f"The best decides {pupil.best.share:.1%} of {len(pupil.best.right)} trials:")
    for instruction in pupil.best.path.instructions:
        console.print(plain(f"  {instruction}"), markup=False, soft_wrap=True)


def _write(out: Path, pupil: Pupil) -> None:
    """The best path, for --experience, and all that were tried."""
    learned = pupil.learned()
    write_paths(out / "experience.jsonl", [learned] if learned else [])
    write_paths(out / "paths.jsonl", [one.path for one in pupil.tried])


class _Row(NamedTuple):
    """What the agent came to in the exam, one way."""

    way: str
    records: Sequence[Record]

    def mean(self, figure: Callable[[Record], float]) -> float:
        return fmean(map(figure, self.records))


def _examined(
    exam: Sequence[Sample], best: Tried | None, head: Run, out: Path, console: Console
) -> list[_Row]:
    """The unseen questions answered without experience and, where there is any, with it."""
    ways = {"without experience": exam}
    if best is not None:
        used = {"experience": str(out / "experience.jsonl")}
        ways["with experience"] = [
            replace(
                sample,
                context=sample.context.model_copy(update=used),
                content=f"{sample.content} {best.path.key}",
            )
            for sample in exam
        ]
    file = out / "exam.jsonl"
    samples = [*chain.from_iterable(zip(*ways.values(), strict=True))]
    run_samples(console, samples, head, file, concurrency=1, redo_crashed=False)
    records = read(file).records
    return [_Row(way, [records[s.key] for s in asked]) for way, asked in ways.items()]


def _table(rows: Sequence[_Row]) -> Table:
    return Table(
        title="Unseen questions",
        columns=("way", "right", "calls", "tokens", "seconds"),
        rows=[
            (
                row.way,
                rate([record.score.value for record in row.records]),
                row.mean(lambda record: len(record.calls)),
                row.mean(lambda record: record.tokens),
                row.mean(lambda record: record.seconds),
            )
            for row in rows
        ],
        note="Means a question; right: with the 95 % interval and the number of questions.",
    )


def _write_card(
    out: Path, head: Run, taken: Sequence[_Taken], pupil: Pupil, rows: Sequence[_Row]
) -> None:
    table = _table(rows)
    exam = [
        {
            name: cell._asdict() if isinstance(cell, Rate) else cell
            for name, cell in zip(table.columns, row, strict=True)
        }
        for row in table.rows
    ]
    tried = [
        {"instructions": [*one.path.instructions], "share": round(one.share, 4)}
        for one in pupil.tried
    ]
    lessons = [one.lesson._asdict() | {"unseen": round(one.unseen, 4)} for one in taken]
    card = {"run": head.model_dump(), "lessons": lessons, "paths": tried, "exam": exam}
    (out / "learned.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def _draw(taken: Sequence[_Taken], figure: "Figure") -> None:
    """Draw what the best path decides of the unseen."""
    figure.set_size_inches(6, 3.6)
    axes = figure.subplots()
    shares = [0.0, *(100 * one.unseen for one in taken)]
    axes.step(range(len(shares)), shares, where="post", label="best path")
    asked = [n for n, one in enumerate(taken, start=1) if one.lesson.answered is not None]
    axes.plot(asked, [shares[n] for n in asked], "o", label="answered by the model")
    axes.set(xlabel="lessons", ylabel="% of unseen questions right", ylim=(0, 100))
    axes.grid(alpha=0.3)
    axes.legend()
