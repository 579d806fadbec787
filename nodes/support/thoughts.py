"""The order in which the steps of a draft are checked, and what each check shows (RAT)."""

from collections.abc import Iterable, Mapping

from planweave.memory import Context, Lookup, Revision, WorkingMemory

WHOLE_DRAFT = 0
"""The step number of the whole draft, if it is checked at once."""


def step_to_check(state: WorkingMemory, context: Context) -> int | None:
    """The next step to check; None if no retrievals are left."""
    done = {lookup["step"] for lookup in state["lookups"]}
    if context.revision != "causal":
        return WHOLE_DRAFT if state["draft"] and context.retrievals and not done else None
    last = min(len(state["draft"]), context.retrievals)
    return next((number for number in range(1, last + 1) if number not in done), None)


def open_lookups(state: WorkingMemory) -> list[Lookup]:
    """The lookups without a turn."""
    done = {turn["step"] for turn in state["turns"]}
    return [lookup for lookup in state["lookups"] if lookup["step"] not in done]


def earlier_steps(state: WorkingMemory) -> range:
    """The steps before the one that is checked.

    The prompt never shows a later one; this makes the revision causal.
    """
    return range(1, state["step"])


def checked_steps(state: WorkingMemory) -> list[int]:
    """The step that is checked, or all steps."""
    number = state["step"]
    return [*range(1, len(state["draft"]) + 1)] if number == WHOLE_DRAFT else [number]


def build_revisions(
    state: WorkingMemory, lookup: Lookup, changed: Mapping[int, str]
) -> list[Revision]:
    """The revisions by the page of a lookup; unchanged steps if it changed nothing."""
    page = lookup["page"]
    if page is None:
        return []
    return [
        Revision(
            step=number,
            query=lookup["query"],
            document=page["document"],
            page=page["page"],
            before=state["revised"][number - 1],
            after=changed.get(number, state["revised"][number - 1]),
        )
        for number in sorted(changed or checked_steps(state))
    ]


def steps_text(state: WorkingMemory, numbers: Iterable[int]) -> str:
    """These steps as they are now, as numbered lines."""
    lines = [f"{number}. {state['revised'][number - 1]}" for number in numbers]
    return "\n".join(lines) or "(nothing)"
