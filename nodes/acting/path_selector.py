"""Path selector: chooses the path that the actor is shown as its plan (InstructRAG's ML-Agent)."""

from collections.abc import Sequence
from typing import NamedTuple

from langgraph.runtime import Runtime

from planweave.learning.progress import PathProgress
from planweave.learning.rl_agent import Proposal
from planweave.learning.slots import ANSWER, ASKED, FITTING, FOUND, without_limit
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.acting.pathfinder import guide_for
from planweave.prompts import load
from planweave.tools.environments import OPEN, moves

_FEW = 5
"""Actions that do a step, which are told for it; more are no help."""
_WORDS = {
    FOUND: "what was found",
    ASKED: "what is asked",
    FITTING: "what fits the task",
    ANSWER: "the answer",
}


def path_selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Choose one of the proposed paths that fit the task; with its names filled in it is the plan.

    Raises:
        ModelUnavailable: The frozen model of sentence vectors is not on this machine.
    """
    context, question = runtime.context, state["question"]
    if not state["candidate_paths"]:
        return {}
    guide = guide_for(context)
    proposed = [
        Proposal(tuple(path["instructions"]), tuple(path["origins"]), path.get("expected", 0.0))
        for path in state["candidate_paths"]
    ]
    plans = {path: plan for path in proposed if (plan := guide.shown(path, question))}
    if not plans:
        return {}
    selected = [*plans][guide.select(question, [*plans])]
    steps, origins = [*plans[selected]], [*selected.origins]
    path = InstructionPath(instructions=steps, origins=origins, by=guide.selector)
    return {"path": path, "plan": [readable(text, question) for text in steps]}


def readable(instruction: str, question: str) -> str:
    """The instruction with … for what is filled in on the way, and behind it what that is.

    Small models write down what is in the brackets, so no words for a slot are there. What
    is searched for may be the question itself, without its limit of price.
    """
    if instruction.casefold() == f"search[{ASKED}]":
        return instruction.replace(ASKED, without_limit(question))
    missing = [words for slot, words in _WORDS.items() if slot in instruction]
    for slot in _WORDS:
        instruction = instruction.replace(slot, "…")
    return f"{instruction} (…: {', '.join(missing)})" if missing else instruction


class NextStep(NamedTuple):
    """What is next on the chosen path.

    Attributes:
        text: The step as the plan has it; empty if all steps are done.
        doing: The possible actions that do it, forms left out.
        asked: What the task asks for and is still to do before this step, which ends the task.
        last: Whether it ends the task, so that nothing can follow it.
    """

    text: str
    doing: Sequence[str]
    asked: Sequence[str]
    last: bool


def next_step(state: WorkingMemory, possible: Sequence[str], context: Context) -> NextStep | None:
    """The next step of the chosen path; None without a path, or where it is left to the model."""
    path = state.get("path")
    if path is None or state["episode"] is None or context.path_aids == "off":
        return None
    steps = path["instructions"]
    progress = PathProgress(steps, state["question"], moves(state["episode"]["environment"]))
    done = [turn["input"] for turn in state["turns"] if not turn["problem"]]
    at = progress.next_step(done, possible)
    if at == len(steps):
        return NextStep("", (), (), last=False)
    doing = [one for one in progress.doing(steps[at], possible) if not one.endswith(OPEN)]
    last = at == len(steps) - 1 and progress.ends_the_task
    asked = progress.asked_for(done, possible) if last else ()
    return NextStep(state["plan"][at], doing, asked, last)


def chosen_path(state: WorkingMemory, possible: Sequence[str], context: Context) -> str:
    """Guidance by the chosen path, which is the plan in the prompt: its next step.

    The questions that it comes from are not shown: small models take up their words.
    """
    following = next_step(state, possible, context)
    if following is None:
        return load("instructrag/plan").fill() if state["path"] else ""
    if not following.text:
        return load("instructrag/followed").fill()
    if following.last:
        way = load("instructrag/end").fill()
        if following.asked:
            way = load("instructrag/left").fill(actions="; ".join(following.asked))
    elif 0 < len(following.doing) <= _FEW:
        way = load("instructrag/possible").fill(actions="; ".join(following.doing))
    else:
        way = load("instructrag/open").fill()
    return load("instructrag/guidance").fill(step=following.text, way=way)
