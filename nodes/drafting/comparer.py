"""Comparer: leaves the steps of a draft that the text which was looked up for them already says."""

from langgraph.runtime import Runtime

from planweave.memory import Context, Revision, WorkingMemory
from planweave.nodes.support.thoughts import checked, open_lookups, revisions
from planweave.tools.documents.quotes import states


def comparer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """With ``context.skip_agreeing``, note the steps that need no reviser, without a model call.

    A text agrees with a step that it states, word by word and number by number.
    """
    if not runtime.context.skip_agreeing:
        return {}
    left: list[Revision] = []
    for lookup in open_lookups(state):
        own: WorkingMemory = {**state, "step": lookup["step"]}
        texts = [state["revised"][number - 1] for number in checked(own)]
        page = lookup["page"]
        if page and all(states(page["text"], text) for text in texts):
            left += revisions(own, lookup, {}, skipped=True)
    return {"revisions": left}
