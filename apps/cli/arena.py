"""``planweave arena``: compare pairs of texts without showing their authors."""

import asyncio
import json
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.progress import Progress
from rich.text import Text

from planweave import BadInput
from planweave.apps.options import AsJson
from planweave.apps.plain import plain, print_line
from planweave.benchmarks.arena.judge import judge as judge_pairs
from planweave.benchmarks.arena.tables import arena_tables
from planweave.benchmarks.arena.votes import (
    MODEL,
    Ballot,
    Pairing,
    PairVerdict,
    Votes,
    make_pairings,
    read_votes,
)
from planweave.benchmarks.core.report import show_tables, table_json, write_page
from planweave.benchmarks.core.store import name_in_file, read_all
from planweave.errors import require
from planweave.memory import Context
from planweave.models import CallRecord, ModelUnavailable

EXAMPLES = """\
planweave arena results/writing/embedded.jsonl

planweave arena results/writing/embedded.jsonl --judge openai:gpt-4.1-mini
"""

_WIDE_COLUMNS = 120
_KEYS: dict[str, PairVerdict] = {"a": "a", "b": "b", "t": "tie", "n": "both_bad"}
_PROMPT = "Better? [a] [b] [t]ie, [n]either is any good, [q]uit: "


def arena(
    results: Annotated[
        list[Path], typer.Argument(help="Result files, for example of bench writing.")
    ],
    *,
    judge: Annotated[str, typer.Option(help="Let this chat model vote in place of people.")] = "",
    report: Annotated[
        bool, typer.Option("--report", help="Only show the result of the votes.")
    ] = False,
    voter: Annotated[
        str, typer.Option(help="Name of the voter, who votes once on each pair.")
    ] = "me",
    votes: Annotated[
        Path | None, typer.Option(help="File of the votes; next to the first result file if unset.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for the order and the sides.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Pairs at most.", min=1)] = None,
    concurrency: Annotated[int, typer.Option(help="Pairs that a model judges at once.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """Compare pairs of texts without their authors; report skill and win rate. Can be resumed."""
    require("The arena", "arena", "openskill")  # before hours of votes
    console = Console(stderr=as_json, highlight=False)
    say = partial(print_line, console)
    records = read_all(results, say).records.values()
    todo = make_pairings(records, seed)[:limit]
    path = votes or _path_beside(results[0], "votes", judge)
    name = _voter_name(voter, judge)
    if not report:
        with closing(Ballot(todo, path, name, say)) as ballot:
            say(f"{path}: {len(ballot.left())} of {len(ballot.matches)} pairs are left.")
            if judge:
                _judge(ballot, judge, concurrency, console)
            else:
                _vote(ballot, console)
            left = len(ballot.left())
        if left and not judge:  # the report would reveal the authors of the remaining texts
            say(f"{left} pairs are left. The result is shown after the last one, or with --report.")
            return
    cast = Votes(todo, read_votes(path), name)
    who = f"{judge}, a stand-in for people" if judge else "votes of people"
    found = arena_tables(cast.decisions(), cast.counted(), who)
    if not found:
        say("There is no vote yet.")
        return
    kept = _path_beside(results[0], "arena.md", judge)
    for written in write_page(kept, [f"# Arena: {who}"], found):
        say(f"Written: {written}")
    if as_json:
        typer.echo(json.dumps({"tables": [table_json(table) for table in found]}, indent=2))
    else:
        show_tables(found, console)


def _voter_name(voter: str, judge: str) -> str:
    if voter.startswith(MODEL):
        raise BadInput(f"A voter's name cannot begin with {MODEL}", fix="Choose another --voter.")
    return f"{MODEL}{judge}" if judge else voter


def _path_beside(result: Path, ending: str, judge: str) -> Path:
    """The file of votes or the report next to a result file, with the judge's name if any."""
    by = judge and f"-judged-by-{name_in_file(judge)}"
    return result.with_name(f"{result.stem}{by}.{ending}")


def _judge(ballot: Ballot, model: str, concurrency: int, console: Console) -> None:
    calls: list[CallRecord] = []
    context = Context(model=model)
    try:
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(f"{model} compares", total=len(ballot.left()))
            asyncio.run(
                judge_pairs(
                    ballot,
                    context,
                    concurrency=concurrency,
                    on_call=calls.append,
                    finished=lambda: bar.advance(task),
                )
            )
    except ModelUnavailable:
        console.print("Stopped. The votes so far are saved; the same command continues from there.")
        raise
    except KeyboardInterrupt:
        console.print("Interrupted. The same command continues from there.")
        raise typer.Exit(130) from None
    tokens = sum(call.input_tokens + call.output_tokens for call in calls)
    console.print(f"{len(calls)} calls, {tokens} tokens.")


def _vote(ballot: Ballot, console: Console) -> None:
    """Show each remaining pair side by side, and ask for a verdict by one key."""
    left = ballot.left()
    for number, match in enumerate(left, start=1):
        _show(match, f"Pair {number} of {len(left)}", console)
        verdict = _ask_verdict(console)
        if verdict is None:
            console.print("The same command continues from here.")
            return
        ballot.cast(match, verdict)


def _show(match: Pairing, title: str, console: Console) -> None:
    console.rule(title)
    console.print(Text(plain(match.asked), style="bold"))
    sides: list[RenderableType] = [
        Panel(Text(plain(entry.text)), title=side, title_align="left")
        for side, entry in (("A", match.a), ("B", match.b))
    ]
    if console.width >= _WIDE_COLUMNS:
        console.print(Columns(sides, width=console.width // 2 - 1, equal=True))
    else:
        console.print(*sides, sep="\n")


def _ask_verdict(console: Console) -> PairVerdict | None:
    """Ask for a verdict; None to stop."""
    while True:
        try:
            typed = console.input(_PROMPT, markup=False).strip().lower()
        except (EOFError, KeyboardInterrupt):
            return None
        if typed in ("q", "quit"):
            return None
        if typed in _KEYS:
            return _KEYS[typed]
