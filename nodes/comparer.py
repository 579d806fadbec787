"""Comparer: leaves the steps of a draft that the text which was looked up for them already says."""

from langgraph.runtime import Runtime

from memory import Context, Lookup, Revision, WorkingMemory
from nodes.thoughts import checked, open_lookups
from tools.documents.quotes import states


def comparer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """With ``context.skip_agreeing``, note the steps that need no reviser, without a model call.

    A text agrees with a step that it states, word by word and number by number.
    """
    revisions: list[Revision] = []
    if runtime.context.skip_agreeing:
        for lookup in open_lookups(state):
            revisions += _left({**state, "step": lookup["step"]}, lookup)
    return {"revisions": revisions}


def _left(state: WorkingMemory, lookup: Lookup) -> list[Revision]:
    """A record for each step that was looked up, if the page says them all."""
    page = lookup["page"]
    if page is None:
        return []
    steps = {number: state["revised"][number - 1] for number in checked(state)}
    if not all(states(page["text"], text) for text in steps.values()):
        return []
    return [
        Revision(
            step=number,
            query=lookup["query"],
            document=page["document"],
            page=page["page"],
            before=text,
            after=text,
            skipped=True,
        )
        for number, text in steps.items()
    ]
