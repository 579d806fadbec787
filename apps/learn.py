"""``planweave learn``: agents that learn from their own successes."""

import asyncio
import json
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from apps.plain import plain
from benchmarks import machine
from benchmarks.metrics import wilson
from learning.paths import write_paths
from learning.queries.course import Course, Learned, Learner, Material, Point
from learning.queries.formulas import Formula
from learning.queries.questions import Worlds
from learning.queries.search import Settings
from nodes.proposer import proposer
from planweave import BadInput
from simulators.outcome import Semantics
from simulators.registry import scenario

app = typer.Typer(help="Learn from the successes of simulated decisions.", no_args_is_help=True)

_QUICK = Settings(generations=40, population=60, proposals=200, batch=150, promoted=20)


class _Taken(NamedTuple):
    course: Course
    settings: Settings
    about: str
    curve: list[Point]
    learned: Learned


@app.callback()
def learn() -> None:
    """Learn from the successes of simulated decisions."""


@app.command()
def dqa(
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small course of minutes, to see it learn.")
    ] = False,
    scenarios: Annotated[
        str, typer.Option("--scenario", help="Scenarios with commas between.")
    ] = "locating,building",
    semantics: Annotated[
        str, typer.Option(help="annotation (as published answers were computed), or printed.")
    ] = "annotation",
    seeds: Annotated[str, typer.Option(help="Seeds of searches, with commas between.")] = "1",
    generations: Annotated[
        int | None, typer.Option(help="Of each search; unset: 250, or 40 if quick.", min=1)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Chat model that proposes first formulas, such as embedded:0.5b."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of all that is kept.")] = Path(
        "results/learning"
    ),
) -> None:
    """Learn to decide on generated worlds, never on published ones; can be stopped and resumed.

    The folder gets the learned paths (dqa-experience.jsonl, for --setting experience=FILE), their
    card, and the curve of accuracy against experience, as JSON and as a picture.
    """
    console = Console(highlight=False)
    settings = _QUICK if quick else Settings()
    if generations:
        settings = replace(settings, generations=generations)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out} cannot be made ({error.strerror}).") from None
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    taken = []
    with Progress(*columns, console=console) as bar:
        for name in scenarios.split(","):
            course = _course(name, _semantics(semantics), quick=quick)
            material = _material(course, out, bar)
            proposed = _proposed(model, material, bar)
            file = out / "experience.sqlite"
            learners = [
                Learner(material, replace(settings, seed=seed), file, proposed)
                for seed in _numbers(seeds)
            ]
            found = [_take(learner, bar) for learner in learners]
            found.sort(key=lambda one: -one.learned.trial)
            if len(learners) > 1:  # what each has learned is recombined, and goes first
                all_learned = [f for learner in learners for f in learner.formulas()]
                found.insert(0, _take(Learner(material, settings, file, all_learned), bar))
            taken += found
    _write(out, taken)
    _draw(out / "curve.png", taken)
    _tell(console, taken)
    console.print(f"Written to {out}: dqa-experience.jsonl and its card, curve.json, curve.png")


def _course(name: str, semantics: Semantics, *, quick: bool) -> Course:
    worlds = Worlds(scenario=scenario(name.strip()), semantics=semantics)
    if not quick:
        return Course(worlds=worlds)
    small = replace(worlds, smallest=100, largest=400)
    return Course(worlds=small, lessons=400, trial=200, unseen=200)


def _semantics(name: str) -> Semantics:
    if name == "annotation":
        return "annotation"
    if name == "printed":
        return "printed"
    raise BadInput(f"There are no {name!r} semantics.", mend="Choose annotation or printed.")


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"{text!r} is no list of seeds.", mend="Write such as 1,2,3.") from None


def _material(course: Course, out: Path, bar: Progress) -> Material:
    task: TaskID = bar.add_task(f"{course.worlds.scenario.name}: worlds")

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    return Material(course, out, show)


def _proposed(model: str | None, material: Material, bar: Progress) -> list[Formula]:
    """What a model proposes for the first lesson; nothing without a model."""
    if model is None:
        return []
    ((_, question),) = material.course.worlds.questions([1])
    formulas = asyncio.run(proposer(model, question, list(material.attributes.known)))
    said = "; ".join(map(str, formulas)) or "nothing that can be read"
    bar.console.print(plain(f"{model} proposes: {said}"), markup=False)
    return formulas


def _take(learner: Learner, bar: Progress) -> _Taken:
    """Learn to the end; every tenth generation is told."""
    course, settings = learner.course, learner.settings
    about = f"{course.worlds.scenario.name}, {learner.about}"
    task = bar.add_task(about, total=settings.generations)
    for point in learner.learn():
        bar.update(task, completed=point.generation)
        if point.generation % 10 == 0:
            bar.console.print(
                f"{about}, generation {point.generation}: "
                f"{point.answered:,} questions answered, {point.unseen:.1%} of unseen ones right"
            )
    bar.update(task, completed=settings.generations)
    return _Taken(course, settings, learner.about, learner.curve(), learner.learned())


def _write(out: Path, taken: list[_Taken]) -> None:
    paths = [path for one in taken for path in one.learned.paths]
    write_paths(out / "dqa-experience.jsonl", list(dict.fromkeys(paths)))
    card = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": machine.command(["planweave", *sys.argv[1:]]),
        "courses": [_card(one) for one in taken],
    }
    (out / "dqa-experience.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    curves = [
        {
            "scenario": one.course.worlds.scenario.name,
            "search": one.about,
            "columns": Point._fields[:4],
            "points": [point[:4] for point in one.curve],
        }
        for one in taken
    ]
    (out / "curve.json").write_text(json.dumps(curves, indent=1) + "\n", encoding="utf-8")


def _card(one: _Taken) -> dict[str, object]:
    course, worlds = one.course, one.course.worlds
    low, high = wilson(one.learned.unseen, course.unseen)
    seeds = {"lessons": [1, course.lessons]}
    seeds["trial"] = [course.lessons + 1, course.lessons + course.trial]
    seeds["unseen"] = [seeds["trial"][1] + 1, seeds["trial"][1] + course.unseen]
    return {
        "scenario": worlds.scenario.name,
        "semantics": worlds.semantics,
        "world_sizes": [worlds.smallest, worlds.largest],
        "world_seeds": seeds,
        "search": {"about": one.about, **asdict(one.settings)},
        "questions_answered": one.curve[-1].answered,
        "ranking": str(one.learned.ranking),
        "right_trial": round(one.learned.trial, 4),
        "right_unseen": round(one.learned.unseen, 4),
        "interval_unseen": [round(low, 4), round(high, 4)],
    }


def _tell(console: Console, taken: list[_Taken]) -> None:
    for one in taken:
        first, learned = one.curve[0], one.learned
        console.print(
            f"{one.course.worlds.scenario.name}, {one.about}: {first.unseen:.1%} of "
            f"unseen questions right at first, {learned.unseen:.1%} at last"
        )
        console.print(plain(f"  {learned.ranking}"), markup=False)


def _draw(path: Path, taken: list[_Taken]) -> None:
    """Draw the share of unseen questions decided rightly against the questions answered."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(one.course.worlds.scenario.name for one in taken))
    figure = Figure(figsize=(4.5 * len(names), 3.6), layout="constrained")
    for name, axes in zip(names, figure.subplots(1, len(names), squeeze=False)[0], strict=True):
        for one in taken:
            if one.course.worlds.scenario.name == name:
                answered = [point.answered / 1e6 for point in one.curve]
                shares = [100 * point.unseen for point in one.curve]
                axes.plot(answered, shares, label=one.about)
        axes.set(title=name, xlabel="million questions answered", ylabel="% of unseen right")
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)
