"""``planweave arena``: which of two texts is better, asked without saying who wrote them."""

import asyncio
import json
import re
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
from planweave.benchmarks.arena.judge import judge as have_judged
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
from planweave.benchmarks.core.store import read_all
from planweave.memory import Context
from planweave.models import CallRecord, ModelUnavailable

EXAMPLES = """\
planweave arena results/writing/embedded.jsonl

planweave arena results/writing/embedded.jsonl --judge openai:gpt-4.1-mini
"""

_WIDE = 120
_KEYS: dict[str, PairVerdict] = {"a": "a", "b": "b", "t": "tie", "n": "both_bad"}
_ASK = "Better? [a] [b] [t]ie, [n]either is any good, [q]uit: "


def arena(
    results: Annotated[list[Path], typer.Argument(help="Result files, such as of bench writing.")],
    *,
    judge: Annotated[
        str, typer.Option(help="Have this chat model vote, as a stand-in for people.")
    ] = "",
    report: Annotated[
        bool, typer.Option("--report", help="Only show the result of the votes.")
    ] = False,
    voter: Annotated[str, typer.Option(help="Who votes; each person votes once a pair.")] = "me",
    votes: Annotated[
        Path | None, typer.Option(help="File of the votes; beside the first result file if unset.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order and the sides.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Pairs at most.", min=1)] = None,
    concurrency: Annotated[int, typer.Option(help="Pairs that a model judges at once.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """Compare pairs of texts without their authors; report skill and win rate. Can be resumed."""
    console = Console(stderr=as_json, highlight=False)
    say = partial(print_line, console)
    records = read_all(results, say).records.values()
    todo = make_pairings(records, seed)[:limit]
    path = votes or _beside(results[0], "votes", judge)
    name = _voter(voter, judge)
    if not report:
        with closing(Ballot(todo, path, name, say)) as ballot:
            say(f"{path}: {len(ballot.left())} of {len(ballot.matches)} pairs are left.")
            if judge:
                _judge(ballot, judge, concurrency, console)
            else:
                _vote(ballot, console)
            left = len(ballot.left())
        if left and not judge:  # who wrote the texts of what is left would show
            say(f"{left} pairs are left. The result is shown after the last, or with --report.")
            return
    cast = Votes(todo, read_votes(path), name)
    who = f"{judge}, a stand-in for people" if judge else "votes of people"
    found = arena_tables(cast.decisions(), cast.counted(), who)
    if not found:
        say("There is no vote yet.")
        return
    kept = _beside(results[0], "arena.md", judge)
    for written in write_page(kept, [f"# Arena: {who}"], found):
        say(f"Written: {written}")
    if as_json:
        typer.echo(json.dumps({"tables": [table_json(table) for table in found]}, indent=2))
    else:
        show_tables(found, console)


def _voter(voter: str, judge: str) -> str:
    if voter.startswith(MODEL):
        raise BadInput(f"A voter's name cannot begin with {MODEL}", fix="Choose another --voter.")
    return f"{MODEL}{judge}" if judge else voter


def _beside(result: Path, ending: str, judge: str) -> Path:
    """The file of votes, or the report, beside a result file; a model's has its name in it."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", Path(judge).name).strip("-")
    return result.with_name(f"{result.stem}{judge and f'-judged-by-{name}'}.{ending}")


def _judge(ballot: Ballot, model: str, concurrency: int, console: Console) -> None:
    calls: list[CallRecord] = []
    context = Context(model=model)
    try:
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(f"{model} compares", total=len(ballot.left()))
            asyncio.run(
                have_judged(
                    ballot,
                    context,
                    concurrency=concurrency,
                    on_call=calls.append,
                    finished=lambda: bar.advance(task),
                )
            )
    except ModelUnavailable:
        console.print("Stopped. What was judged is kept; the same command goes on from there.")
        raise
    except KeyboardInterrupt:
        console.print("Interrupted. The same command goes on from there.")
        raise typer.Exit(130) from None
    tokens = sum(call.input_tokens + call.output_tokens for call in calls)
    console.print(f"{len(calls)} calls, {tokens} tokens.")


def _vote(ballot: Ballot, console: Console) -> None:
    """Ask for each pair that is left: two texts side by side, one key for the answer."""
    left = ballot.left()
    for number, match in enumerate(left, start=1):
        _show(match, f"Pair {number} of {len(left)}", console)
        verdict = _asked(console)
        if verdict is None:
            console.print("The same command goes on from here.")
            return
        ballot.cast(match, verdict)


def _show(match: Pairing, title: str, console: Console) -> None:
    console.rule(title)
    console.print(Text(plain(match.asked), style="bold"))
    sides: list[RenderableType] = [
        Panel(Text(plain(entry.text)), title=side, title_align="left")
        for side, entry in (("A", match.a), ("B", match.b))
    ]
    if console.width >= _WIDE:
        console.print(Columns(sides, width=console.width // 2 - 1, equal=True))
    else:
        console.print(*sides, sep="\n")


def _asked(console: Console) -> PairVerdict | None:
    """The answer; None to stop."""
    while True:
        try:
            typed = console.input(_ASK, markup=False).strip().lower()
        except (EOFError, KeyboardInterrupt):
            return None
        if typed in ("q", "quit"):
            return None
        if typed in _KEYS:
            return _KEYS[typed]
