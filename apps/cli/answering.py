"""Answer a thread on the terminal: live events and the answer, or all of it as JSON."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

from planweave import PlanweaveError
from planweave.apps.cli.approval import approver
from planweave.apps.cli.asking import ThreadOptions
from planweave.apps.cli.story import Story, Waiting
from planweave.apps.plain import json_text, print_line
from planweave.apps.run import Decisions, run
from planweave.apps.threads import Thread, read_memory
from planweave.graphs.support.events import AnswerEvent, PlanEvent, ProgressEvent, TokenEvent
from planweave.memory import Answer, Context, Input, WorkingMemory, total_usage
from planweave.models import ModelUnavailable
from planweave.nodes.support.limits import out_of_time
from planweave.nodes.support.turns import is_follow_up

OUT_OF_TIME = 3
"""Exit code of a run that had no time left before an answer."""
UNDECIDED = 6
"""Exit code of a run without a decision."""
UNSUPPORTED = 7
"""Exit code of a run whose decision `--strict` withheld, as it does not follow from the facts."""

_FIELDS = ("question", "answer", "claims", "plan", "facts", "turns", "replans", "failures", "usage")
_OPTIONAL_FIELDS = (  # of some methods
    *("abbreviations", "draft", "revisions", "candidate_queries", "query_scores"),
    *("path", "reflections", "grounded", "members", "agreement"),
)


class UnreadableReplies(PlanweaveError):
    """A run without an answer, because no reply could be read."""


def answer(
    given: typer.Context,
    options: ThreadOptions,
    thread: Thread,
    start: Input | None,
    reason: str = "",
) -> None:
    """Run a thread to its end and report; after an interruption, print how to resume it.

    Without ``start``, an interrupted thread continues. ``reason`` is why the method was chosen, if
    it was not given.
    """
    command, as_json = str(given.info_name), options.as_json
    console = Console(stderr=as_json, highlight=False)
    why = f" ({reason})" if reason else ""
    console.print(f"[bold]{thread.method}[/]{why} · thread {thread.id}")
    question = (start or read_memory(thread.id)).get("question", "")
    console.print(question.strip(), markup=False, style="italic")
    story = Story(console)
    if start and (plan := start.get("predefined_plan")):
        story.show(PlanEvent(steps=[step for step in plan if step.strip()]))
    with _hint_to_resume(console, f"planweave {command} --resume {thread.id}"):
        memory = asyncio.run(_run(thread, start, story, approver(console, thread.id, command)))
    for role in thread.context.models.keys() - memory.get("usage", {}).keys():
        print_line(console, f"The run used no model for the role {role!r}.")
    verdict = thread.example.verdict(memory.get("answer")) if thread.example else None
    if as_json:
        typer.echo(json_text(_record(thread, reason, memory, verdict)))
    else:
        story.finish(memory, in_words=thread.context.in_words)
        if verdict:
            _print_simulation(console, verdict)
        elif _wrote_query(thread.context, memory):
            keep = f"planweave experience confirm {thread.id}"
            console.print(f"[dim]If the query is right, keep it as an example: {keep}[/]")
            console.print("[dim]If it is wrong, add the right one with --query.[/]")
    if out_of_time(memory, thread.context) and not _has_answer_or_needs_none(memory):
        raise typer.Exit(OUT_OF_TIME)
    if _is_unreadable(memory):
        raise UnreadableReplies(
            "The run has no answer, because the model's replies could not be read.",
            fix="Choose another model, or raise --setting max_reply_tokens=NUMBER.",
        )
    if code := exit_code(memory.get("answer"), strict=thread.context.strict):
        raise typer.Exit(code)


@contextmanager
def _hint_to_resume(console: Console, command: str) -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, EOFError):  # Ctrl-C, or Ctrl-D at a prompt
        console.print(f"\nInterrupted. Resume with: {command}")
        raise typer.Exit(130) from None
    except ModelUnavailable:
        console.print(f"The run is saved. Resume with: {command}")
        raise


async def _run(
    thread: Thread,
    start: Input | None,
    story: Story,
    ask: Callable[[Mapping[str, Any]], Decisions],
) -> WorkingMemory:
    """Run a thread to its end and show its events; return the working memory."""
    memory, waiting = WorkingMemory(), Waiting()
    with story.console.status(waiting) as status:

        def ask_without_spinner(request: Mapping[str, Any]) -> Decisions:
            status.stop()
            decisions = ask(request)
            status.start()
            return decisions

        async for event in run(thread, start, ask=ask_without_spinner, tokens=True):
            if isinstance(event, ProgressEvent):
                waiting.show(event)
            elif isinstance(event, TokenEvent):
                waiting.write(event)
            elif isinstance(event, AnswerEvent):
                memory = event.result.memory
            else:
                story.show(event)
    return memory


def _wrote_query(context: Context, memory: WorkingMemory) -> bool:
    """Whether one new query answered a question without rules, so that it can be an example."""
    tools = [turn["tool"] for turn in memory.get("turns", ()) if turn["facts"]]
    is_one = len(tools) == 1 and tools[0] in ("sql", "cypher") and memory.get("answer") is not None
    return (
        is_one
        and not any(fact.get("confirmed") for fact in memory.get("facts", ()))
        and not is_follow_up(memory)
        and not context.rules.strip()
        and context.assists("query_writer")
        and context.confirmed_queries > 0
    )


def _is_unreadable(memory: WorkingMemory) -> bool:
    """Whether there is no answer because replies could not be read."""
    if _has_answer_or_needs_none(memory):
        return False
    return any(failure["kind"] == "malformed_reply" for failure in memory.get("failures", ()))


def _has_answer_or_needs_none(memory: WorkingMemory) -> bool:
    """Whether there is an answer, or the run was not asked for one."""
    answer = memory.get("answer")
    return answer is None or bool(answer["decision"] or answer["why"])


def exit_code(answer: Answer | None, *, strict: bool) -> int:
    """The exit code for an answer; 0 if there is a decision or none was asked for."""
    verdict = answer.get("verdict") if answer else None
    if verdict is None or verdict["kind"] != "undecided":
        return 0
    withheld = strict and verdict.get("said") and not verdict.get("gives")
    return UNSUPPORTED if withheld else UNDECIDED


def _print_simulation(console: Console, verdict: Mapping[str, Any]) -> None:
    best, count = " or ".join(verdict["best"]), verdict["candidates"]
    if verdict["correct"]:
        console.print(f"[green]✔ Simulator: right, the best of {count} decisions.[/]")
    elif verdict["rank"]:
        rank = verdict["rank"]
        console.print(f"[red]✘ Simulator: rank {rank} of {count} decisions; best is {best}.[/]")
    else:
        console.print(f"[red]✘ Simulator: no decision was made; best is {best}.[/]")


def _record(
    thread: Thread, reason: str, memory: WorkingMemory, verdict: Mapping[str, Any] | None
) -> Any:
    record: dict[str, Any] = {"thread": thread.id, "method": thread.method}
    record |= {"reason": reason} if reason else {}
    record["aids"] = thread.context.aids
    record |= {key: memory.get(key) for key in _FIELDS}
    record |= {key: found for key in _OPTIONAL_FIELDS if (found := memory.get(key))}
    record["total"] = total_usage(memory.get("usage", {})).model_dump()
    return record | ({"verdict": verdict} if verdict else {})
