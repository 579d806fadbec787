"""Reviser: corrects a step of the draft by the one text that was looked up for it."""

import json
from collections.abc import Mapping
from difflib import unified_diff

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from memory import Context, Page, Revision, WorkingMemory
from nodes.drafter import MAX_STEPS, Text
from nodes.pages import excerpt
from nodes.role import failures, usage
from nodes.thoughts import WHOLE, checked, numbered, seen_with
from nodes.writer import ask_writer
from prompts import load
from tools.documents.quotes import locate, states


class Rewritten(BaseModel):
    """A step as it should be."""

    number: int
    text: Text


class Revised(BaseModel):
    """The reviser's reply: the steps, written again."""

    steps: list[Rewritten] = Field(max_length=MAX_STEPS)


async def reviser(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Revise ``state["step"]`` by its page: T*(1..i) from the task, T*(1..i-1), T(i) and R(i).

    An unreadable reply leaves the step as it was, and so does one that repeats its instructions,
    as small models do.
    """
    context = runtime.context
    lookup = next(one for one in state["lookups"] if one["step"] == state["step"])
    page = lookup["page"]
    if page is None:
        raise RuntimeError("The reviser is asked only where a page was found.")
    reply = await ask_writer("reviser", Revised, _task(state, page, context), state, runtime)
    admitted = [*checked(state), *([] if context.parallel else seen_with(state, context))]
    changed = {
        step.number: text
        for step in (reply.value.steps if reply.value else [])
        if step.number in admitted
        and (text := step.text.strip()) not in ("", state["revised"][step.number - 1])
        and not _repeats_instructions(text)
    }
    return {
        "revisions": _revisions(state, lookup["query"], page, changed),
        "usage": usage(reply),
        "failures": failures(reply),
    }


def _task(state: WorkingMemory, page: Page, context: Context) -> str:
    steps = [{"number": number, "text": state["revised"][number - 1]} for number in checked(state)]
    return load("rat/reviser").fill(
        document=page["document"],
        page=str(page["page"]),
        text=excerpt(page, context.page_characters),
        earlier=numbered(state, seen_with(state, context)),
        others=_others(state["step"], context),
        steps=json.dumps({"steps": steps}, ensure_ascii=False),
    )


def _others(number: int, context: Context) -> str:
    """Which other steps the reply may or need not hold."""
    if number == WHOLE:
        return load("rat/revise_whole").text
    return "" if context.parallel or number == 1 else load("rat/revise_earlier").text


def _repeats_instructions(text: str) -> bool:
    names = ("rat/ground", "rat/reviser", "rat/revise_whole", "rat/revise_earlier")
    instructions = "\n\n".join(load(name).text for name in names)
    return bool(locate(text, instructions)) or states(instructions, text)


def _revisions(
    state: WorkingMemory, query: str, page: Page, changed: Mapping[int, str]
) -> list[Revision]:
    """What changed; where nothing did, that the step was checked."""
    before = {number: state["revised"][number - 1] for number in [*changed, *checked(state)]}
    after = changed or {number: before[number] for number in checked(state)}
    return [
        Revision(
            step=number,
            query=query,
            document=page["document"],
            page=page["page"],
            before=before[number],
            after=text,
            skipped=False,
        )
        for number, text in sorted(after.items())
    ]


def revision_text(revision: Revision) -> str:
    """A revision for people: what was checked by which page, and a unified diff of the change."""
    what = "agrees" if revision["skipped"] else "unchanged"
    if revision["before"] != revision["after"]:
        what = "changed"
    head = f"Step {revision['step']}: {what} ({revision['document']}, p. {revision['page']})"
    lines = unified_diff(
        revision["before"].splitlines(), revision["after"].splitlines(), lineterm=""
    )
    return "\n".join([head, *[line for line in lines if line[:3] not in ("---", "+++")]])
