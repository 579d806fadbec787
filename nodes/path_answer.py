"""Path answer: reads the decision off the last result of a learned path, without any model."""

from langgraph.runtime import Runtime

from memory import Answer, Context, WorkingMemory
from nodes.answering_machine import admitted

_DECISION = "decision"


def path_answer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Decide what the column ``decision`` of the last fact says, or say what is missing."""
    number = next((n for turn in reversed(state["turns"]) for n in turn["facts"]), 0)
    value = state["facts"][number - 1]["values"].get(_DECISION) if number else None
    if value is None:
        problems = [turn["problem"] for turn in state["turns"] if turn["problem"]]
        unknown = problems[-1] if problems else "No learned path fits this question."
        return {"answer": Answer(decision=None, why="", facts=[], unknown=unknown)}
    decision = admitted(str(value), runtime.context.candidates)
    why = f"A learned query ranks {value} first [{number}]."
    return {"answer": Answer(decision=decision, why=why, facts=[number], unknown="")}
