"""``planweave bench environment``: play tasks of an environment, also without a model."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import JsonValue
from rich.console import Console
from rich.progress import track

from planweave import BadInput
from planweave.apps.cli.bench.common import RESULTS, Running, write_text
from planweave.apps.cli.groups import grouped
from planweave.apps.options import Agents, output_folder, resolved, writable
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.options import Model, listed
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.suites.environment import play as without_model
from planweave.benchmarks.suites.environment import suite
from planweave.benchmarks.suites.environment.play import Choose, Played, Summary
from planweave.graphs import of_family
from planweave.learning.agents_file import NONE, SHIPPED, load_agents
from planweave.learning.guide import make_guide
from planweave.learning.paths import TaskPath, read_paths, write_paths
from planweave.tools.environments import ENVIRONMENTS, Environment, Task, moves, open_environment

_RESULTS = RESULTS / "environments"
_POLICIES = ("gold", "nearest", "form", "path")
_METHODS = (*of_family("act"), "react")


@grouped()
def environment(
    *,
    name: Annotated[str, typer.Option(help=f"One of {', '.join(ENVIRONMENTS)}.")],
    data: Annotated[Path | None, typer.Option(help="File or folder of its tasks.")] = None,
    policy: Annotated[
        str,
        typer.Option(
            help="Comma-separated. Without a language model: gold (replays known paths), nearest "
            "(follows the path of the nearest question), form (of the question with the nearest "
            "form), path (of InstructRAG's agents). "
            f"With a language model: {', '.join(_METHODS)}."
        ),
    ] = "gold",
    paths: Annotated[
        Path | None,
        typer.Option(help="Successful paths; those of the split's tasks are left out."),
    ] = None,
    agents: Agents = SHIPPED,
    split: Annotated[str, typer.Option(help="Part of the tasks; all if unset.")] = "",
    limit: Annotated[int | None, typer.Option(help="Tasks at most; all if unset.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the drawn tasks.")] = 1,
    model: Model = "embedded",
    running: Running,
) -> None:
    """Play tasks of an environment; runs with a language model can be resumed."""
    if running.out:
        writable(running.out)
    chosen = listed(policy, (*_POLICIES, *_METHODS), "policy")
    if agents != NONE and {"path", "instructrag"} & {*chosen}:
        load_agents(agents)  # an unusable file would crash every run
    with open_environment(name, data) as world:
        every = world.tasks(split)
        chosen_tasks = drawn(every, limit, seed, lambda task: task.id)
        shown = track(chosen_tasks, "tasks", console=running.console, transient=True)
        tasks = [world.described(task) for task in shown]
    asked = {task.question for task in (*every, *tasks)}
    known = [one for one in read_paths(paths) if one.question not in asked] if paths else []
    given = _Selection(name=name, data=data, tasks=tasks, known=known, agents=agents)
    about: dict[str, JsonValue] = {
        "name": name,
        "data": data.name if data else "",
        "paths": paths.name if paths else "",
        "known": len(known),
        "agents": Path(agents).name,
        "split": split,
        "questions": len(every),
        "chosen": len(tasks),
        "limit": limit,
        "seed": seed,
    }
    if policies := [one for one in chosen if one in _POLICIES]:
        _play_policies(given, policies, about, running)
    if methods := [one for one in chosen if one in _METHODS]:
        _measure_methods(given, methods, about, running, model)


@dataclass(frozen=True, kw_only=True)
class _Selection:
    """The tasks to play, and the known paths."""

    name: str
    data: Path | None
    tasks: Sequence[Task]
    known: Sequence[TaskPath]
    agents: str


def _play_policies(
    given: _Selection, policies: Sequence[str], about: dict[str, JsonValue], running: Running
) -> None:
    made = machine.describe_run() | about | _play(given, policies, running.console)
    path = (running.out or _RESULTS) / f"{given.name}.json"
    text = _result_text(made)
    write_text(path, text, running.console)
    if running.as_json:
        typer.echo(text)


def _measure_methods(
    given: _Selection,
    methods: Sequence[str],
    about: dict[str, JsonValue],
    running: Running,
    model: str,
) -> None:
    context = running.context(model=model)
    kept = (running.out or _RESULTS) / given.name
    if running.ray:  # its machines need the paths in a shared folder
        output_folder(kept)
    with tempfile.TemporaryDirectory(dir=kept if running.ray else None) as folder:
        file = Path(folder).resolve() / "paths.jsonl"
        write_paths(file, given.known)
        data = str(given.data) if given.data else None
        more = {"environment_data": data, "paths": str(file), "agents": resolved(given.agents)}
        context = context.model_copy(update=more)
        samples = suite.samples(
            given.name, given.tasks, methods=methods, settings=context, paths=given.known
        )
        running.measure(suite.NAME, samples, context, about, folder=kept)


def _play(given: _Selection, policies: Sequence[str], console: Console) -> dict[str, Any]:
    """Play without a language model, and show the results."""
    summaries: list[Summary] = []
    played: dict[str, list[Played]] = {}
    if {*policies} - {"gold"} and not given.known:
        raise BadInput("There are no paths to follow.", fix="Name a file: --paths FILE")
    if "gold" in policies and not any(task.gold for task in given.tasks):
        raise BadInput(
            f"None of these tasks of the environment {given.name!r} has a gold path.",
            fix="Follow successful paths: --policy nearest,form,path --paths FILE",
        )
    for policy in policies:
        playable = [task for task in given.tasks if task.gold or policy != "gold"]
        with open_environment(given.name, given.data) as world:
            playing = without_model.play(world, playable, _chooser(policy, given, world))
            played[policy] = list(track(playing, policy, len(playable), console=console))
            summaries.append(without_model.summarise(policy, played[policy], world))
    show_tables([without_model.play_table(given.name, summaries)], console)
    return {
        "policies": [asdict(one) for one in summaries],
        "tasks": {policy: [one.as_json() for one in mine] for policy, mine in played.items()},
    }


def _chooser(policy: str, given: _Selection, world: Environment) -> Choose:
    if policy == "gold":
        return without_model.Gold
    agents = given.agents if policy == "path" else NONE
    guide = make_guide(tuple(given.known), agents, moves(given.name))
    return without_model.path_followers(world, guide, proposed=policy != "nearest")


def _result_text(made: dict[str, Any]) -> str:
    """The result as JSON with one line for each task."""
    lines = json.dumps({**made, "tasks": {}}, indent=1).removesuffix(" {}\n}")
    tasks = ",\n".join(
        f"  {json.dumps(policy)}: [\n" + ",\n".join(f"   {json.dumps(one)}" for one in played) + "]"
        for policy, played in made["tasks"].items()
    )
    return f"{lines} {{\n{tasks}}}\n}}\n"
