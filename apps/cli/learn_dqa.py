"""``planweave learn dqa``: learn to decide from successful simulated decisions."""

import json
from collections.abc import Container
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, NamedTuple, TypeAlias

import typer
from pydantic import BaseModel, JsonValue
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from planweave import BadInput
from planweave.apps.options import Reading, output_folder
from planweave.apps.plain import plain
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.metrics import wilson
from planweave.benchmarks.core.picture import Figure, draw_picture
from planweave.learning.paths import TaskPath, read_paths, write_paths
from planweave.learning.queries.course import (
    Course,
    CourseMaterial,
    GenerationPoint,
    Learned,
    Learner,
)
from planweave.learning.queries.questions import Worlds
from planweave.learning.queries.search import RankingSettings
from planweave.records import read_object
from planweave.simulators.outcome import Semantics
from planweave.simulators.registry import scenario

_QUICK = RankingSettings(generations=40, population=60, proposals=200, batch=150, promoted=20)


_FILES = ("dqa-experience.jsonl", "dqa-experience.json", "curve.json")
_FIX = "Name another folder with --out, or move that file away."

_Course: TypeAlias = dict[str, JsonValue]


class _Finished(NamedTuple):
    course: Course
    settings: RankingSettings
    about: str
    curve: list[GenerationPoint]
    learned: Learned
    seconds: float

    @property
    def name(self) -> str:
        return self.course.worlds.scenario.name


class _Card(BaseModel):
    date: str
    command: str
    courses: list[_Course]


class _Curve(BaseModel):
    scenario: str
    search: str
    columns: tuple[str, ...] = GenerationPoint._fields[:4]
    points: list[tuple[int, int, float, float]]


class _FolderContent(NamedTuple):
    """The content of an output folder."""

    paths: list[TaskPath]
    courses: list[_Course]
    curves: list[_Curve]


def dqa(
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small course that takes minutes.")
    ] = False,
    scenarios: Annotated[
        str, typer.Option("--scenario", help="Scenarios, comma-separated.")
    ] = "locating,building",
    semantics: Reading = "annotation",
    seeds: Annotated[str, typer.Option(help="Seeds of the searches, comma-separated.")] = "1",
    generations: Annotated[
        int | None, typer.Option(help="Generations of a search; unset: 250, or 40 if quick.", min=1)
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/learning"),
) -> None:
    """Learn to decide in generated worlds, never in published ones.

    The folder gets the learned paths (dqa-experience.jsonl, for --setting experience=FILE), their
    card, and the curve of accuracy against experience, as JSON and as a picture. Results of other
    scenarios in it stay.
    """
    console = Console(highlight=False)
    settings = _QUICK if quick else RankingSettings()
    if generations:
        settings = replace(settings, generations=generations)
    names = dict.fromkeys(name.strip() for name in scenarios.split(","))
    courses = [_make_course(name, semantics, quick=quick) for name in names]
    searches = [replace(settings, seed=seed) for seed in _parse_seeds(seeds)]
    _read_others(output_folder(out), names)  # fails before hours of learning
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    finished = []
    with Progress(*columns, console=console) as bar:
        for course in courses:
            material = _make_material(course, bar)
            learners = [Learner(material, search) for search in searches]
            found = [_run_course(learner, bar) for learner in learners]
            found.sort(key=lambda one: -one.learned.trial)
            if (
                len(learners) > 1
            ):  # the formulas of all searches are recombined; the result comes first
                all_learned = [f for learner in learners for f in learner.formulas()]
                found.insert(0, _run_course(Learner(material, settings, all_learned), bar))
            finished += found
    others, drawn = _write(out, finished)
    _print_results(console, finished)
    picture = ", curve.png" if drawn else ""
    console.print(f"Written to {out}: dqa-experience.jsonl and its card, curve.json{picture}")
    if others:
        console.print(f"Kept there from other runs: {', '.join(others)}")


def _make_course(name: str, semantics: Semantics, *, quick: bool) -> Course:
    worlds = Worlds(scenario=scenario(name), semantics=semantics)
    if not quick:
        return Course(worlds=worlds)
    small = replace(worlds, smallest=100, largest=400)
    return Course(worlds=small, lessons=400, trial=200, unseen=200)


def _parse_seeds(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(
            f"{text!r} is not a list of seeds.", fix="Write a list such as 1,2,3."
        ) from None


def _make_material(course: Course, bar: Progress) -> CourseMaterial:
    task: TaskID = bar.add_task(f"{course.worlds.scenario.name}: worlds")

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    return CourseMaterial(course, show)


def _run_course(learner: Learner, bar: Progress) -> _Finished:
    """Run a course to its end; print every tenth generation."""
    course, settings = learner.course, learner.settings
    about = f"{course.worlds.scenario.name}, {learner.about}"
    task = bar.add_task(about, total=settings.generations)
    begun = perf_counter()
    for point in learner.learn():
        bar.update(task, completed=point.generation)
        if point.generation % 10 == 0:
            bar.console.print(
                f"{about}, generation {point.generation}: "
                f"{point.answered:,} questions answered, {point.unseen:.1%} of unseen ones right"
            )
    bar.update(task, completed=settings.generations)
    seconds = perf_counter() - begun
    return _Finished(course, settings, learner.about, learner.curve, learner.learned(), seconds)


def _read_others(out: Path, learned: Container[str]) -> _FolderContent:
    """Read the folder's results of scenarios that are not in ``learned``."""
    paths, card, curves = (out / name for name in _FILES)
    found = _FolderContent([], [], [])
    if paths.exists():
        found.paths.extend(path for path in read_paths(paths) if path.task not in learned)
    if card.exists():
        whole = read_object(card, _Card, fix=_FIX)
        older: _Course = {
            "date": whole.date,
            "command": whole.command,
        }  # of old files, whose courses have none
        others = (one for one in whole.courses if one.get("scenario") not in learned)
        found.courses.extend(older | one for one in others)
    if curves.exists():
        every = read_object(curves, list[_Curve], fix=_FIX)
        found.curves.extend(one for one in every if one.scenario not in learned)
    return found


def _write(out: Path, finished: list[_Finished]) -> tuple[list[str], bool]:
    """Write the results, and keep the folder's results of other scenarios.

    Returns:
        The names of the other scenarios, and whether the picture was drawn.
    """
    written = _read_others(out, {one.name for one in finished})
    others = [path.task for path in written.paths]
    date = datetime.now(UTC).date().isoformat()
    about: _Course = {"date": date, "command": machine.command()}
    for one in finished:
        written.paths.extend(one.learned.paths)
        written.courses.append(about | _course_card(one))
        points = [point[:4] for point in one.curve]
        written.curves.append(_Curve(scenario=one.name, search=one.about, points=points))
    paths, card, curves = (out / name for name in _FILES)
    write_paths(paths, dict.fromkeys(written.paths))
    commands = dict.fromkeys(str(course["command"]) for course in written.courses)
    whole = _Card(date=date, command=" ; ".join(commands), courses=written.courses)
    card.write_text(whole.model_dump_json(indent=1) + "\n", encoding="utf-8")
    listed = [curve.model_dump() for curve in written.curves]
    curves.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    return [*dict.fromkeys(others)], draw_picture(
        out / "curve.png", partial(_draw_curves, written.curves)
    )


def _course_card(one: _Finished) -> _Course:
    course, worlds = one.course, one.course.worlds
    low, high = wilson(one.learned.unseen, course.unseen)
    tried = course.lessons + course.trial
    seeds: _Course = {
        "lessons": [1, course.lessons],
        "trial": [course.lessons + 1, tried],
        "unseen": [tried + 1, tried + course.unseen],
    }
    return {
        "scenario": one.name,
        "semantics": worlds.semantics,
        "world_sizes": [worlds.smallest, worlds.largest],
        "world_seeds": seeds,
        "search": {"about": one.about, **asdict(one.settings)},
        "seconds": round(one.seconds, 1),
        "questions_answered": one.curve[-1].answered,
        "ranking": str(one.learned.ranking),
        "right_trial": round(one.learned.trial, 4),
        "right_unseen": round(one.learned.unseen, 4),
        "interval_unseen": [round(low, 4), round(high, 4)],
    }


def _print_results(console: Console, finished: list[_Finished]) -> None:
    for one in finished:
        first, learned = one.curve[0], one.learned
        console.print(
            f"{one.name}, {one.about}: {first.unseen:.1%} of "
            f"unseen questions right at the start, {learned.unseen:.1%} at the end"
        )
        console.print(plain(f"  {learned.ranking}"), markup=False)


def _draw_curves(curves: list[_Curve], figure: Figure) -> None:
    """Draw the share of unseen questions with right decisions."""
    names = list(dict.fromkeys(curve.scenario for curve in curves))
    figure.set_size_inches(4.5 * len(names), 3.6)
    for name, axes in zip(names, figure.subplots(1, len(names), squeeze=False)[0], strict=True):
        for curve in curves:
            if curve.scenario == name:
                answered = [point[1] / 1e6 for point in curve.points]
                shares = [100 * point[3] for point in curve.points]
                axes.plot(answered, shares, label=curve.search)
        axes.set(title=name, xlabel="million questions answered", ylabel="% of unseen right")
        axes.grid(alpha=0.3)
        axes.legend()
