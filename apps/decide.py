"""``planweave decide``: one decision question on a user's own database, told as it happens."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console

from apps.approval import approver
from apps.example import Example
from apps.run import run
from apps.story import Story
from apps.threads import Thread, load_thread, new_id
from graphs import method as method_module
from memory import Context, WorkingMemory, total_usage
from planweave import BadInput
from tools import Limits, open_database


def decide(
    question: Annotated[str, typer.Argument(help="The decision question.")] = "",
    *,
    database: Annotated[
        str, typer.Option(help="Relational database: URL, SQLite file or .sql script.")
    ] = "",
    graph: Annotated[str, typer.Option(help="Graph database: bolt:// URL or .cql script.")] = "",
    rules: Annotated[Path | None, typer.Option(help="File with the business rules.")] = None,
    candidates: Annotated[
        str, typer.Option(help="Query whose first column lists the decisions to choose from.")
    ] = "",
    scenario: Annotated[
        str,
        typer.Option(
            help="Ask a generated question: sourcing, distribution, building or locating."
        ),
    ] = "",
    seed: Annotated[int, typer.Option(help="Which generated question.")] = 1,
    size: Annotated[int, typer.Option(help="About how many rows its database has.", min=10)] = 60,
    as_graph: Annotated[bool, typer.Option(help="Generate it as a graph database.")] = False,
    method: Annotated[str, typer.Option(help="See `planweave methods`.")] = "planrag",
    model: Annotated[str, typer.Option(help="Chat model, such as openai:gpt-4o.")] = "embedded",
    role_model: Annotated[
        list[str] | None, typer.Option(help="Another model for a role: planner=openai:gpt-4o.")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="File with a plan, one step a line.")] = None,
    approve: Annotated[bool, typer.Option(help="Stop for approval of the plan.")] = False,
    replan: Annotated[
        str, typer.Option(help="every_observation, or when_needed (fewer calls).")
    ] = "every_observation",
    max_iterations: Annotated[int, typer.Option(help="Actions at most.")] = 15,
    max_calls: Annotated[int | None, typer.Option(help="Budget of model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Budget of tokens.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Budget of seconds.")] = None,
    max_dollars: Annotated[float | None, typer.Option(help="Budget of dollars.")] = None,
    resume: Annotated[str, typer.Option(help="Go on with an interrupted thread.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as JSON.")] = False,
) -> None:
    """Answer a decision question: plan, queries and facts as they come, then the decision."""
    urls = {"database": database or None, "graph": graph or None}
    if resume:
        _finish(load_thread(resume, urls), None, as_json=as_json)
        return
    method_module(method)
    settings: dict[str, Any] = urls | {"rules": _text(rules, "rules") if rules else ""}
    example = Example(scenario, seed, size) if scenario else None
    if example:
        settings = example.settings(as_graph=as_graph)
        question = question or example.question().prompt
    elif candidates:
        settings["candidates"] = _candidates(graph or database, candidates)
    settings |= {
        "model": model,
        "models": _roles(role_model or []),
        "approve": approve,
        "replan": replan,
        "max_iterations": max_iterations,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
        "max_dollars": max_dollars,
    }
    thread = Thread(id=new_id(), method=method, context=_context(settings), example=example)
    thread.save()
    start: dict[str, Any] = {"question": question}
    if plan:
        start["predefined_plan"] = _text(plan, "plan").splitlines()
    _finish(thread, start, as_json=as_json)


def _finish(thread: Thread, start: Any, *, as_json: bool) -> None:
    """Run to the end and report; an interrupted run says how to go on."""
    console = Console(stderr=as_json, highlight=False)
    if start:
        console.print(f"[bold]{thread.method}[/] · thread {thread.id}")
        console.print(start["question"].strip(), markup=False, style="italic")
    try:
        memory = asyncio.run(run(thread, start, console, approver(console, thread.id)))
    except KeyboardInterrupt:
        console.print(f"\nInterrupted. Go on with: planweave decide --resume {thread.id}")
        raise typer.Exit(130) from None
    verdict = thread.example.verdict(memory.get("answer")) if thread.example else None
    if as_json:
        typer.echo(json.dumps(_record(thread, memory, verdict), indent=2, ensure_ascii=False))
        return
    Story(console).finish(memory)
    if verdict:
        _tell_verdict(console, verdict)


def _tell_verdict(console: Console, verdict: dict[str, Any]) -> None:
    best, count = " or ".join(verdict["best"]), verdict["candidates"]
    if verdict["correct"]:
        console.print(f"[green]✔ Simulator: right, the best of {count} decisions.[/]")
    elif verdict["rank"]:
        rank = verdict["rank"]
        console.print(f"[red]✘ Simulator: rank {rank} of {count} decisions; best is {best}.[/]")
    else:
        console.print(f"[red]✘ Simulator: no decision was made; best is {best}.[/]")


def _record(thread: Thread, memory: WorkingMemory, verdict: dict[str, Any] | None) -> Any:
    told = ("question", "answer", "plan", "facts", "turns", "replans", "failures", "usage")
    record: dict[str, Any] = {"thread": thread.id, "method": thread.method}
    record |= {key: memory.get(key) for key in told}
    record["total"] = total_usage(memory.get("usage", {})).model_dump()
    return record | ({"verdict": verdict} if verdict else {})


def _context(settings: dict[str, Any]) -> Context:
    try:
        return Context.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The setting {name} cannot be used: {first['msg']}.") from None


def _candidates(url: str, query: str) -> list[str]:
    result = open_database(url).run(query, Limits(rows=10_000, characters=1_000_000))
    found = [str(row[0]) for row in result.rows if row[0] is not None]
    if not found:
        raise BadInput(
            "The question has no candidates: the query for them returned no value.",
            mend="Check the query given with --candidates.",
        )
    return found


def _roles(pairs: list[str]) -> dict[str, str]:
    if wrong := [pair for pair in pairs if not all(pair.partition("="))]:
        raise BadInput(
            f"{wrong[0]!r} names no model for a role.",
            mend="Write --role-model ROLE=MODEL, such as planner=openai:gpt-4o.",
        )
    return dict(pair.split("=", 1) for pair in pairs)


def _text(path: Path, what: str) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadInput(
            f"The {what} file {path} cannot be read ({error.strerror}).", mend="Check the path."
        ) from None
    except UnicodeDecodeError:
        raise BadInput(f"The {what} file {path} is not UTF-8 text.") from None
    if not text:
        raise BadInput(f"The {what} file {path} is empty.", mend=f"Write the {what} into it.")
    return text
