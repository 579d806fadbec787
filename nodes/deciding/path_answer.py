"""Path answer: reads the decision off the last result of a learned path, without any model."""

from langgraph.runtime import Runtime

from planweave.memory import Answer, Context, WorkingMemory
from planweave.nodes.deciding.answering_machine import admitted, learned_answer
from planweave.nodes.deciding.path_follower import finish

_NONE_FITS = "No learned path fits this question."
_NAMES_NONE = "The path that fits names no decision: let the method planrag decide from its rows."


def path_answer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Decide what the path has come to, or say what is missing."""
    found = finish(state)
    if found is None:
        problems = [turn["problem"] for turn in state["turns"] if turn["problem"]]
        fits = state.get("path") is not None
        unknown = problems[-1] if problems else _NAMES_NONE if fits else _NONE_FITS
        return {"answer": Answer(decision=None, why="", facts=[], unknown=unknown)}
    decision = admitted(found.decision, runtime.context.candidates)
    if decision is None:
        unknown = f"The path decides {found.decision}, which the question does not admit."
        return {"answer": Answer(decision=None, why="", facts=[found.fact], unknown=unknown)}
    return {"answer": learned_answer(found, decision)}
