"""Which thought of a draft is checked next, and what is seen while one is checked (RAT)."""

from collections.abc import Iterable, Mapping

from planweave.memory import Context, Lookup, Revision, WorkingMemory

WHOLE = 0
"""The number that stands for the whole draft where it is checked at once."""


def step_to_check(state: WorkingMemory, context: Context) -> int | None:
    """The step that is checked next, as long as there are retrievals left."""
    done = {lookup["step"] for lookup in state["lookups"]}
    if context.revision != "causal":
        return WHOLE if state["draft"] and context.retrievals and not done else None
    last = min(len(state["draft"]), context.retrievals)
    return next((number for number in range(1, last + 1) if number not in done), None)


def open_lookups(state: WorkingMemory) -> list[Lookup]:
    """The lookups that have not yet led to a turn."""
    done = {turn["step"] for turn in state["turns"]}
    return [lookup for lookup in state["lookups"] if lookup["step"] not in done]


def seen_with(state: WorkingMemory) -> range:
    """The earlier steps that are shown beside the one that is checked.

    Never a later one: that is what makes the revision causal.
    """
    return range(1, state["step"])


def checked(state: WorkingMemory) -> list[int]:
    """The step that is checked, or all of them at once."""
    number = state["step"]
    return [*range(1, len(state["draft"]) + 1)] if number == WHOLE else [number]


def revisions(state: WorkingMemory, lookup: Lookup, changed: Mapping[int, str]) -> list[Revision]:
    """What the page of a lookup changed; where nothing, that the steps were checked by it."""
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
        for number in sorted(changed or checked(state))
    ]


def numbered(state: WorkingMemory, numbers: Iterable[int]) -> str:
    """These steps as they now are, a numbered line each."""
    lines = [f"{number}. {state['revised'][number - 1]}" for number in numbers]
    return "\n".join(lines) or "(nothing)"
