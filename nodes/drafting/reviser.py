"""Reviser: corrects a step of the draft by the page that was looked up for it."""

import json
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from itertools import chain

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, JsonValue

from planweave.memory import Context, Revision, WorkingMemory
from planweave.nodes.assist.replies import is_own_step
from planweave.nodes.drafting.drafter import MAX_STEPS, Text
from planweave.nodes.support.pages import excerpt
from planweave.nodes.support.role import ask_writer, spent
from planweave.nodes.support.thoughts import WHOLE_DRAFT, build_revisions, earlier_steps, steps_text
from planweave.prompts import load


class Rewritten(BaseModel):
    """An earlier step as it should be."""

    number: int
    text: Text


class Step(BaseModel):
    """The step that is checked, written again."""

    text: Text


class StepAndEarlier(Step):
    """The step, and what it shows to be wrong before it."""

    earlier: list[Rewritten] = Field(max_length=2)


class Steps(BaseModel):
    """All steps in order, where the whole draft is checked at once."""

    steps: list[Text] = Field(max_length=MAX_STEPS)


_OTHER_STEPS: Mapping[type[Step] | type[Steps], Sequence[str]] = {
    Step: (),
    StepAndEarlier: ("rat/revise_earlier",),
    Steps: ("rat/revise_whole",),
}
"""Prompts about the other steps, by the form of the reply."""

_PROMPTS = ("rat/ground", "rat/reviser", *chain(*_OTHER_STEPS.values()))


async def reviser(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Revise ``state["step"]`` by its page: T*(1..i) from the task, T*(1..i-1), T(i) and R(i).

    The prompt ends with the form of the reply, filled with the unchanged step. An unreadable reply
    changes nothing.
    """
    lookup = next(one for one in state["lookups"] if one["step"] == state["step"])
    page = lookup["page"]
    if page is None:
        raise RuntimeError("The reviser runs only if a page was found.")
    output, form = _reply_form(state)
    task = load("rat/reviser").fill(
        document=page["document"],
        page=str(page["page"]),
        text=excerpt(page, runtime.context.page_characters),
        earlier=steps_text(state, earlier_steps(state)),
        others="".join(load(name).text for name in _OTHER_STEPS[output]),
        form=json.dumps(form, ensure_ascii=False),
    )
    reply = await ask_writer("reviser", output, task, state, runtime)
    written = _steps_by_number(reply.value, state["step"]) if reply.value else {}
    changed = {
        number: text
        for number, step in written.items()
        if number <= len(state["revised"])
        and (text := step.strip()) not in ("", "…", "...", state["revised"][number - 1])
        and is_own_step(text, page, _PROMPTS, runtime.context)
    }
    return {"revisions": build_revisions(state, lookup, changed), **spent(reply)}


def _steps_by_number(reply: Step | Steps, step: int) -> dict[int, str]:
    """The steps of a reply by number, where ``step`` was checked; never a later one."""
    if isinstance(reply, Steps):
        return dict(enumerate(reply.steps, 1))
    others = reply.earlier if isinstance(reply, StepAndEarlier) else []
    return {one.number: one.text for one in others if 0 < one.number < step} | {step: reply.text}


def _reply_form(state: WorkingMemory) -> tuple[type[Step] | type[Steps], dict[str, JsonValue]]:
    """The form of the reply, and the reply that would change nothing."""
    if state["step"] == WHOLE_DRAFT:
        return Steps, {"steps": [*state["revised"]]}
    text = state["revised"][state["step"] - 1]
    if state["step"] == 1:
        return Step, {"text": text}
    return StepAndEarlier, {"text": text, "earlier": []}


def revision_text(revision: Revision) -> str:
    """A revision for people: the step, the page, and a unified diff of the change."""
    what = "unchanged" if revision["before"] == revision["after"] else "changed"
    head = f"Step {revision['step']}: {what} ({revision['document']}, p. {revision['page']})"
    lines = unified_diff(
        revision["before"].splitlines(), revision["after"].splitlines(), lineterm=""
    )
    return "\n".join([head, *[line for line in lines if line[:3] not in ("---", "+++")]])
