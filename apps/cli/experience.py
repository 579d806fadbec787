"""``planweave experience``: show, share and delete an owner's paths of earlier runs."""

import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from planweave import BadInput
from planweave.apps.cli.progress import sentence_vectors
from planweave.apps.options import AsJson
from planweave.apps.plain import counted, json_text
from planweave.apps.threads import load_thread, read_memory
from planweave.apps.trajectory import origin_of, path_of
from planweave.learning.experience import experience_of
from planweave.learning.instruction_graph import THRESHOLD, InstructionGraph
from planweave.learning.paths import (
    TaskPath,
    read_paths,
    select_succeeded,
    to_json_lines,
    write_paths,
)
from planweave.learning.queries.memory import is_query
from planweave.memory import Context
from planweave.nodes.support.turns import is_follow_up
from planweave.tools import Limits, open_database
from planweave.tools.result_text import one_line

EXAMPLES = """\
planweave experience confirm THREAD

planweave experience list

planweave experience show
"""

_CYPHER = re.compile(r"\s*(?:optional\s+)?(?:match|call|unwind)\b", re.IGNORECASE)

app = typer.Typer(no_args_is_help=True)

Owner = Annotated[str, typer.Option("--owner", help="User or project.")]


@app.callback()
def experience() -> None:
    """Paths of instructions from earlier runs; successful ones guide later runs."""


@app.command("add")
def add(
    files: Annotated[list[Path], typer.Argument(help="Trajectories: .jsonl or .jsonl.gz.")],
    owner: Owner = "local",
) -> None:
    """Add the paths of files; failed paths are saved, too, with their reward."""
    for file in files:
        paths = read_paths(file)
        new = len(experience_of(owner).add(paths))
        succeeded = sum(path.reward == 1 for path in paths)
        every = counted(len(paths), "path")
        _print_line(f"{file.name}: {new} new of {every}, {succeeded} of them succeeded.")


@app.command("confirm")
def confirm(
    thread: Annotated[str, typer.Argument(help="Name of the thread, as the run printed it.")],
    *,
    owner: Annotated[
        str, typer.Option("--owner", help="Owner of the path; the run's own if unset.")
    ] = "",
    wrong: Annotated[bool, typer.Option("--wrong", help="Save it as a failed path.")] = False,
    query: Annotated[
        str | None,
        typer.Option(help="The right query, if that of the thread was wrong; it is run once."),
    ] = None,
) -> None:
    """Confirm that a thread's last answer was right, and save its actions as a path."""
    if query is not None and wrong:
        raise BadInput("--query is the right query.", fix="Leave out --wrong.")
    saved = load_thread(thread)
    memory = read_memory(saved.id)
    task = saved.example.scenario if saved.example else saved.method
    question = memory.get("question", "")
    in_context = bool(saved.context.rules.strip()) or is_follow_up(memory)
    if query is not None:
        if not question.strip():
            raise BadInput("The thread has no question.", fix="Confirm a thread that was asked.")
        instruction = _check_query(query, saved.context)
        origin = origin_of(saved.id, in_context=in_context)
        path = TaskPath(task, question, (instruction,), origin=origin)
    else:
        turns = memory.get("turns", []) if memory.get("answer") else []
        reward = 0.0 if wrong else 1.0
        path = path_of(
            question, turns, task=task, reward=reward, thread=saved.id, in_context=in_context
        )
    experience_of(owner or saved.context.owner).add([path])
    typer.echo(f"Saved as {path.key}, {counted(len(path.instructions), 'instruction')}.")
    if in_context and not wrong and is_query(path.instructions[-1]):
        typer.echo("No example for other questions: this one depends on rules or an earlier one.")


def _check_query(query: str, context: Context) -> str:
    """Run a query once on the database of a thread, and return it as an instruction."""
    is_cypher = context.graph and (not context.database or _CYPHER.match(query))
    tool, url = ("cypher", context.graph) if is_cypher else ("sql", context.database)
    if not url:
        raise BadInput("The thread has no database.", fix="Leave out --query.")
    open_database(url).run(query, Limits(seconds=context.query_seconds, rows=1))
    return f"{tool}[{query.strip()}]"


@app.command("list")
def list_paths(owner: Owner = "local", as_json: AsJson = False) -> None:
    """List the paths, oldest first."""
    entries = experience_of(owner).entries()
    if as_json:
        records = [{"key": e.path.key, **asdict(e.path), "added": e.added} for e in entries]
        typer.echo(json_text(records))
        return
    if not entries:
        typer.echo("There is no experience yet. Add some: planweave experience add FILE")
        return
    table = Table(box=None)
    for title in ("key", "task", "question", "steps", "reward", "added"):
        table.add_column(title, no_wrap=title not in ("task", "question"))
    for path, added in entries:
        steps, reward = str(len(path.instructions)), f"{path.reward:.3g}"
        cells = (path.task, path.question, steps, reward, added[:10])
        table.add_row(path.key, *map(one_line, cells))
    Console(markup=False, highlight=False).print(table)


@app.command("show")
def show(
    key: Annotated[
        str | None, typer.Argument(help="Key of a path; the whole graph if unset.")
    ] = None,
    *,
    owner: Owner = "local",
    threshold: Annotated[
        float, typer.Option(help="Least cosine for instructions to share a node.", min=0, max=1)
    ] = THRESHOLD,
    as_json: AsJson = False,
) -> None:
    """Show a path, or the instruction graph of all successful paths; the studio draws it."""
    experience = experience_of(owner)
    if key:
        found = {entry.path.key: entry.path for entry in experience.entries()}
        if key not in found:
            raise BadInput(f"There is no path {key!r}.", fix="See `planweave experience list`.")
        _print_path(found[key], as_json=as_json)
        return
    with sentence_vectors(Console(stderr=True), kept=False) as embed:
        paths = select_succeeded(entry.path for entry in experience.entries())
        graph = InstructionGraph.of(paths, embed, threshold)
    if not graph.paths:
        raise BadInput(
            "There is no successful path.", fix="Add some: planweave experience add FILE"
        )
    if as_json:
        typer.echo(json_text(_graph_json(graph)))
    else:
        _print_graph(graph)


@app.command("remove")
def remove(
    keys: Annotated[list[str] | None, typer.Argument(help="See `planweave experience list`.")] = (
        None
    ),
    *,
    owner: Owner = "local",
    everything: Annotated[bool, typer.Option("--all", help="Remove all paths.")] = False,
) -> None:
    """Remove paths permanently; the graph is rebuilt without them."""
    if bool(keys) == everything:
        raise BadInput("Nothing was removed.", fix="Name keys of paths, or give --all.")
    if keys:
        experience_of(owner).remove(keys)
        typer.echo(f"Removed: {' '.join(keys)}")
    else:
        experience_of(owner).clear()
        typer.echo("All paths are removed.")


@app.command("export")
def export(
    file: Annotated[
        Path | None, typer.Argument(help=".jsonl or .jsonl.gz; standard output if unset.")
    ] = None,
    *,
    owner: Owner = "local",
) -> None:
    """Write all paths as trajectories, which `experience add` can read."""
    paths = [entry.path for entry in experience_of(owner).entries()]
    if file is None:
        typer.echo(to_json_lines(paths), nl=False)
        return
    write_paths(file, paths)
    _print_line(f"{counted(len(paths), 'path')} written to {file}.")


def _print_line(text: str) -> None:
    typer.echo(one_line(text))


def _print_path(path: TaskPath, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json_text({"key": path.key, **asdict(path)}))
        return
    _print_line(path.question)
    _print_line(f"task: {path.task or '-'}, reward: {path.reward:g}, from: {path.origin or '-'}")
    for number, instruction in enumerate(path.instructions, start=1):
        _print_line(f"{number:3}. {instruction}")


def _print_graph(graph: InstructionGraph) -> None:
    tasks = Counter(path.task for path in graph.paths)
    typer.echo(
        f"{counted(len(graph.paths), 'path')} in {counted(len(graph.nodes), 'node')} and "
        f"{counted(len(graph.edges), 'edge')}, "
        f"threshold {graph.threshold:g}."
    )
    for task, count in tasks.most_common():
        _print_line(f"  {task or 'no task'}: {counted(count, 'path')}")


def _graph_json(graph: InstructionGraph) -> dict[str, Any]:
    edges = [
        {"from": a, "to": b, "tasks": {task: sorted(asked) for task, asked in tasks.items()}}
        for (a, b), tasks in graph.edges.items()
    ]
    walks = {path.key: graph.walk(path.key) for path in graph.paths}
    return {
        "threshold": graph.threshold,
        "nodes": {str(node): list(held) for node, held in graph.nodes.items()},
        "edges": edges,
        "walks": walks,
    }
