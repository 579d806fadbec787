"""``planweave bench environment``: tasks of an environment, with and without a language model."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import JsonValue
from rich.console import Console
from rich.progress import track
from rich.table import Table as Drawn

from apps.bench.common import (
    AsJson,
    Ray,
    context_of,
    head_of,
    listed,
    result_path,
    run_samples,
    tell_report,
)
from apps.options import Agents, resolved
from apps.setting import pairs
from benchmarks import environment as suite
from benchmarks import environment_play as without_model
from benchmarks import machine
from benchmarks.environment_play import Choose, Played, Summary
from benchmarks.table import text
from graphs import ACTORS
from learning.agents_file import NONE, SHIPPED
from learning.guide import guide_of
from learning.paths import Path as Instructions
from learning.paths import read_paths, write_paths
from planweave import BadInput
from tools.environments import ENVIRONMENTS, Task, open_environment

_POLICIES = ("gold", "nearest", "form", "path")
_METHODS = (*ACTORS, "react")


def environment(
    *,
    name: Annotated[str, typer.Option(help=f"One of {', '.join(ENVIRONMENTS)}.")],
    data: Annotated[Path | None, typer.Option(help="File or folder of its tasks.")] = None,
    policy: Annotated[
        str,
        typer.Option(
            help="With commas between. Without a language model: gold (replays known paths), "
            "nearest (follows the path of the nearest question), form (that of the question "
            "nearest in form), path (the one that InstructRAG's agents select). "
            f"With one: {', '.join(_METHODS)}."
        ),
    ] = "gold",
    paths: Annotated[
        Path | None,
        typer.Option(help="Paths that worked; those of the split's tasks are left out."),
    ] = None,
    agents: Agents = SHIPPED,
    split: Annotated[str, typer.Option(help="Part of the tasks; all if unset.")] = "",
    limit: Annotated[int | None, typer.Option(help="Tasks at most; all if unset.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Which tasks are drawn.")] = 1,
    model: Annotated[str, typer.Option(help="Chat model, such as openai:gpt-4o.")] = "embedded",
    setting: Annotated[
        list[str] | None, typer.Option(help="Any other setting of a run: max_iterations=30.")
    ] = None,
    concurrency: Annotated[int, typer.Option(help="Tasks in flight.", min=1, max=4)] = 1,
    ray: Ray = "",
    redo_crashed: Annotated[
        bool, typer.Option("--redo-crashed", help="Run again what crashed before.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the result files.")] = Path(
        "results/environments"
    ),
    as_json: AsJson = False,
) -> None:
    """Play tasks of an environment; runs with a language model can be resumed."""
    console = Console(stderr=as_json, highlight=False)
    chosen = listed(policy, (*_POLICIES, *_METHODS), "policy", every="all")
    with open_environment(name, data) as world:
        every = world.tasks(split)
    tasks, asked = without_model.choose(every, limit, seed), {task.question for task in every}
    known = [one for one in read_paths(paths) if one.question not in asked] if paths else []
    about: dict[str, JsonValue] = {
        "name": name,
        "data": data.name if data else "",
        "paths": paths.name if paths else "",
        "known": len(known),
        "agents": Path(agents).name,
        "split": split,
        "limit": limit,
        "seed": seed,
    }
    if bare := [one for one in chosen if one in _POLICIES]:
        made = _play(name, data, tasks, bare, known, agents, console)
        path = out / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_written(_head(about) | made), "utf-8")
        console.print(f"Written: {path}", markup=False, soft_wrap=True)
        if as_json:
            typer.echo(path.read_text("utf-8"))
    if methods := [one for one in chosen if one in _METHODS]:
        os.environ.setdefault("PLANWEAVE_RESPONSE_CACHE", "off")  # a kept reply would look free
        context = context_of({"model": model, **pairs(setting or [])})
        kept = result_path(out / name, model)
        if ray:  # its machines have to find the paths where they find the data
            kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent if ray else None) as folder:
            file = Path(folder).resolve() / "paths.jsonl"
            write_paths(file, known)
            given = {"environment_data": str(data) if data else None, "paths": str(file)}
            context = context.model_copy(update=given | {"agents": resolved(agents)})
            runs = suite.samples(name, tasks, methods=methods, settings=context, paths=known)
            head = head_of(suite.NAME, context, about | {"concurrency": concurrency})
            run_samples(
                console,
                runs,
                head,
                kept,
                concurrency=concurrency,
                redo_crashed=redo_crashed,
                ray=ray,
            )
        tell_report([kept], console, as_json=as_json, folder=out / name)


def _play(
    name: str,
    data: Path | None,
    tasks: Sequence[Task],
    policies: Sequence[str],
    known: Sequence[Instructions],
    agents: str,
    console: Console,
) -> dict[str, Any]:
    """Play without a language model, and show what came of it."""
    summaries: list[Summary] = []
    played: dict[str, list[Played]] = {}
    if {*policies} - {"gold"} and not known:
        raise BadInput("There are no paths to follow.", mend="Name a file: --paths FILE")
    for policy in policies:
        chosen = _chooser(policy, name, known, agents)
        playable = tasks if policy != "gold" else [task for task in tasks if task.gold]
        with open_environment(name, data) as world:
            playing = without_model.play(world, playable, chosen)
            played[policy] = list(track(playing, policy, len(playable), console=console))
            summaries.append(without_model.summary(policy, played[policy], world))
    _show(name, summaries, console)
    return {
        "policies": [one.as_json() for one in summaries],
        "tasks": {policy: [one.as_json() for one in mine] for policy, mine in played.items()},
    }


def _chooser(policy: str, name: str, known: Sequence[Instructions], agents: str) -> Choose:
    if policy == "gold":
        return without_model.Gold
    guide = guide_of(tuple(known), agents if policy == "path" else NONE)
    return without_model.followers(name, guide, proposed=policy != "nearest")


def _written(made: dict[str, Any]) -> str:
    """The result as JSON, with a line for each task."""
    lines = json.dumps({**made, "tasks": {}}, indent=1).removesuffix(" {}\n}")
    tasks = ",\n".join(
        f"  {json.dumps(policy)}: [\n" + ",\n".join(f"   {json.dumps(one)}" for one in played) + "]"
        for policy, played in made["tasks"].items()
    )
    return f"{lines} {{\n{tasks}}}\n}}\n"


def _head(about: dict[str, JsonValue]) -> dict[str, Any]:
    return {
        "command": machine.command(["planweave", *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
        **about,
        "machine": machine.machine(),
        "versions": machine.versions(),
        "commit": machine.commit(),
    }


def _show(name: str, summaries: Sequence[Summary], console: Console) -> None:
    made = without_model.table(name, summaries)
    drawn = Drawn(*made.columns, title=made.title, title_justify="left", box=None)
    for row in made.rows:
        drawn.add_row(*map(text, row))
    console.print(drawn)
    console.print(made.note, style="dim", markup=False)
