"""Retriever: finds one page for each lookup of a draft, or the pages for the question."""

from langgraph.runtime import Runtime

from planweave.memory import Action, Context, Lookup, WorkingMemory, add_usage
from planweave.nodes.documents.documents import documents
from planweave.nodes.support.thoughts import open_lookups
from planweave.nodes.support.turns import turn_taken
from planweave.usage import Usage


def retriever(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Search for each open lookup; one that fails or finds nothing gets a problem."""
    update: WorkingMemory = {"lookups": [], "usage": {"documents": Usage().model_dump()}}
    for lookup in open_lookups(state):
        found = _search(state, lookup["query"], 1, runtime)
        pages, turns = found["pages"], found.get("turns", [])
        problem = turns[0]["problem"] if turns else ""
        done: Lookup = {**lookup, "page": pages[0] if pages else None, "problem": problem}
        update["lookups"].append(done)
        update["usage"] = add_usage(update["usage"], found["usage"])
    return update


def question_documents(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Find as many pages for the question itself as the context allows retrievals."""
    if not runtime.context.retrievals:
        return {"pages": []}
    found = _search(state, state["question"], runtime.context.retrievals, runtime)
    return found | {"action": _build_action(state["question"])}


def _search(
    state: WorkingMemory, query: str, pages: int, runtime: Runtime[Context]
) -> WorkingMemory:
    """As the node ``documents``, for this number of pages; a query may be repeated."""
    context = runtime.context.model_copy(update={"pages": pages})
    given: WorkingMemory = {**state, "action": _build_action(query), "turns": []}
    if not context.has_documents:
        return turn_taken(given, [], "No document collection is connected.", 0.0) | {"pages": []}
    return documents(given, runtime.override(context=context))


def _build_action(query: str) -> Action:
    return Action(step=1, thought="", tool="documents", input=query)
