"""Which thoughts of a draft are checked next, and what is seen while one is checked (RAT)."""

from collections.abc import Iterable, Mapping

from planweave.memory import Context, Lookup, Revision, WorkingMemory

WHOLE = 0
"""The number that stands for the whole draft where it is checked at once."""


def steps_to_check(state: WorkingMemory, context: Context) -> list[int]:
    """The steps that may be checked now, as long as there are retrievals left for them.

    In order it is one at a time. In parallel it is all whose needs are met; these are the same
    steps in the end, since only the first ``context.retrievals`` are ever checked.
    """
    done = {lookup["step"] for lookup in state["lookups"]}
    if context.revision != "causal":
        return [WHOLE] if state["draft"] and context.retrievals and not done else []
    last = min(len(state["draft"]), context.retrievals)
    left = [number for number in range(1, last + 1) if number not in done]
    if not context.parallel:
        return left[:1]
    return [number for number in left if done.issuperset(state["needs"][number - 1])]


def open_lookups(state: WorkingMemory) -> list[Lookup]:
    """The lookups that have not yet led to a turn."""
    done = {turn["step"] for turn in state["turns"]}
    return [lookup for lookup in state["lookups"] if lookup["step"] not in done]


def steps_to_revise(state: WorkingMemory) -> list[int]:
    """The steps for which a page was found that does not say them already."""
    looked_up = {lookup["step"]: lookup for lookup in open_lookups(state) if lookup["page"]}
    agreed = {one["step"] for one in state["revisions"] if one["skipped"]}
    return [step for step in looked_up if not agreed.issuperset(checked({**state, "step": step}))]


def seen_with(state: WorkingMemory, context: Context) -> list[int]:
    """The earlier steps that are shown beside the one that is checked.

    Never a later one: that is what makes the revision causal.
    """
    number = state["step"]
    if number == WHOLE:
        return []
    return state["needs"][number - 1] if context.parallel else [*range(1, number)]


def checked(state: WorkingMemory) -> list[int]:
    """The step that is checked, or all of them at once."""
    number = state["step"]
    return [*range(1, len(state["draft"]) + 1)] if number == WHOLE else [number]


def revisions(
    state: WorkingMemory, lookup: Lookup, changed: Mapping[int, str], *, skipped: bool = False
) -> list[Revision]:
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
            skipped=skipped,
        )
        for number in sorted(changed or checked(state))
    ]


def numbered(state: WorkingMemory, numbers: Iterable[int]) -> str:
    """These steps as they now are, a numbered line each."""
    lines = [f"{number}. {state['revised'][number - 1]}" for number in numbers]
    return "\n".join(lines) or "(nothing)"
