"""Appender: adds what was found and revised, so that the next step starts from it."""

from langgraph.runtime import Runtime

from planweave.memory import Action, Context, Fact, Lookup, Turn, WorkingMemory
from planweave.nodes.documents.evidence import evidence
from planweave.nodes.support.thoughts import open_lookups
from planweave.nodes.support.turns import turn_taken


def appender(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Add the revised steps, and each page as a fact; a known page keeps its fact."""
    facts: list[Fact] = []
    turns: list[Turn] = []
    for lookup in open_lookups(state):
        known: WorkingMemory = {**state, "facts": [*state["facts"], *facts]}
        known["iteration"] = state["iteration"] + len(turns)
        noted = _record_lookup(known, lookup, runtime)
        facts += noted["facts"]
        turns += noted["turns"]
    revised = [*state["draft"]]
    for revision in state["revisions"]:
        revised[revision["step"] - 1] = revision["after"]
    return {
        "facts": facts,
        "turns": turns,
        "iteration": state["iteration"] + len(turns),
        "revised": revised,
    }


def _record_lookup(
    state: WorkingMemory, lookup: Lookup, runtime: Runtime[Context]
) -> WorkingMemory:
    """The turn of a lookup, and its fact if that is new."""
    page, step = lookup["page"], lookup["step"]
    thought = state["revised"][step - 1] if step else state["reasoning"]
    action = Action(step=step, thought=thought, tool="documents", input=lookup["query"])
    given: WorkingMemory = {**state, "action": action}
    if page is None:
        return turn_taken(given, [], lookup["problem"], 0.0)
    noted = evidence({**given, "pages": [page]}, runtime)
    place = (page["document"], page["page"])
    for fact in state["facts"]:
        if (quote := fact["quote"]) and (quote["document"], quote["page"]) == place:
            turn: Turn = {**noted["turns"][0], "facts": [fact["number"]]}
            return {"facts": [], "turns": [turn]}
    return noted
