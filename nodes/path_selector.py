"""Path selector: chooses the path that the actor is shown as its plan (InstructRAG's ML-Agent)."""

from langgraph.runtime import Runtime

from learning.guide import Suggestion, open_guide
from learning.slots import ANSWER, ASKED, FOUND
from memory import Context, InstructionPath, WorkingMemory
from prompts import load

_WORDS = {FOUND: "what was found", ASKED: "what is asked", ANSWER: "the answer"}


def path_selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Choose one of the proposed paths; with the task's names in its slots it is the plan.

    Raises:
        ModelUnavailable: The frozen model of sentence vectors is not on this machine.
    """
    proposed = [
        Suggestion(tuple(path["instructions"]), tuple(path["origins"]), path.get("expected", 0.0))
        for path in state["candidate_paths"]
    ]
    if not proposed:
        return {}
    context = runtime.context
    guide = open_guide(context.paths, context.owner, context.agents)
    question = state["question"]
    selected = proposed[guide.select(question, proposed)]
    plan = list(guide.adapted(selected.instructions, question))
    path = InstructionPath(instructions=plan, origins=list(selected.origins), by=guide.selector)
    return {"path": path, "plan": [_readable(text, question) for text in plan]}


def _readable(instruction: str, question: str) -> str:
    """The instruction with … for what is filled in on the way, and behind it what that is.

    Small models write down what stands in the brackets, so no words for a slot stand there. What
    is searched for may be the question itself.
    """
    if instruction.casefold() == f"search[{ASKED}]":
        return instruction.replace(ASKED, question)
    missing = [words for slot, words in _WORDS.items() if slot in instruction]
    for slot in _WORDS:
        instruction = instruction.replace(slot, "…")
    return f"{instruction} (…: {', '.join(missing)})" if missing else instruction


def chosen_path(state: WorkingMemory) -> str:
    """Guidance by the chosen path, which stands in the prompt as the plan.

    The questions that it is from are not told: small models take up their words.
    """
    return load("instructrag/guidance").fill() if state["path"] else ""
