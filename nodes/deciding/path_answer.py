"""Path answer: reads the decision from the last result of a learned path, without a model."""

from langgraph.runtime import Runtime

from planweave.memory import Answer, Context, WorkingMemory
from planweave.nodes.deciding.answering_machine import answer_from_path, match_candidate
from planweave.nodes.deciding.path_follower import find_decision

_NO_PATH = "No learned path fits this question."
_NO_DECISION = "The path that fits names no decision: let the method planrag decide from its rows."


def path_answer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Take the decision of the path, or report what is missing."""
    found = find_decision(state)
    if found is None:
        problems = [turn["problem"] for turn in state["turns"] if turn["problem"]]
        fits = state.get("path") is not None
        unknown = problems[-1] if problems else _NO_DECISION if fits else _NO_PATH
        return {"answer": Answer(decision=None, why="", facts=[], unknown=unknown)}
    decision = match_candidate(found.decision, runtime.context.candidates)
    if decision is None:
        unknown = f"The path decides {found.decision}, which the question does not admit."
        return {"answer": Answer(decision=None, why="", facts=[found.fact], unknown=unknown)}
    return {"answer": answer_from_path(found, decision)}
