"""Reviser: corrects a step of the draft by the one text that was looked up for it."""

from abc import abstractmethod
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


class Rewritten(BaseModel):
    """A step as it should be."""

    number: int
    text: Text


class Revised(BaseModel):
    """The reviser's reply."""

    @abstractmethod
    def changes(self) -> dict[int, str] | None:
        """The steps that change, by number; None: the text agrees with what is checked."""


class Rewriting(Revised):
    """The steps, written again."""

    steps: list[Rewritten] = Field(max_length=MAX_STEPS)

    def changes(self) -> dict[int, str]:
        """See :class:`Revised`."""
        return {step.number: step.text.strip() for step in self.steps}


class Verdict(Revised):
    """A verdict first, so that nothing need be written where the text agrees."""

    agrees: bool
    steps: list[Rewritten] = Field(max_length=MAX_STEPS)

    def changes(self) -> dict[int, str] | None:
        """See :class:`Revised`."""
        return None if self.agrees else {step.number: step.text.strip() for step in self.steps}


async def reviser(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Revise ``state["step"]`` by its page: T*(1..i) from the task, T*(1..i-1), T(i) and R(i).

    With ``context.skip_agreeing`` the same reply may say that the text agrees, and no more. An
    unreadable reply leaves the step as it was.
    """
    context = runtime.context
    lookup = next(one for one in state["lookups"] if one["step"] == state["step"])
    page = lookup["page"]
    if page is None:
        raise RuntimeError("The reviser is asked only where a page was found.")
    task = _task(state, page, context)
    output: type[Revised] = Verdict if context.skip_agreeing else Rewriting
    reply = await ask_writer("reviser", output, task, state, runtime)
    changes = reply.value.changes() if reply.value else {}
    admitted = [*checked(state), *([] if context.parallel else seen_with(state, context))]
    changed = {
        number: text
        for number, text in (changes or {}).items()
        if number in admitted and text not in ("", state["revised"][number - 1])
    }
    return {
        "revisions": _revisions(state, lookup["query"], page, changed, skipped=changes is None),
        "usage": usage(reply),
        "failures": failures(reply),
    }


def _task(state: WorkingMemory, page: Page, context: Context) -> str:
    verdict = load(f"rat/revise_{_manner(state['step'], context)}")
    form = load("rat/revised_unless_agreed" if context.skip_agreeing else "rat/revised")
    return load("rat/reviser").fill(
        earlier=numbered(state, seen_with(state, context)),
        step=numbered(state, checked(state)),
        document=page["document"],
        page=str(page["page"]),
        text=excerpt(page, context.page_characters),
        verdict=verdict.fill(**dict.fromkeys(verdict.placeholders, str(state["step"]))),
        reply=form.fill(number=str(checked(state)[0])),
    )


def _manner(number: int, context: Context) -> str:
    if context.skip_agreeing:
        return "unless_agreed"
    if number == WHOLE:
        return "whole"
    return "alone" if context.parallel or number == 1 else "always"


def _revisions(
    state: WorkingMemory, query: str, page: Page, changed: Mapping[int, str], *, skipped: bool
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
            skipped=skipped,
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
