"""Path selector: chooses the path that becomes the actor's plan (InstructRAG's ML-Agent)."""

from collections.abc import Sequence
from typing import NamedTuple

from langgraph.runtime import Runtime

from planweave.learning.progress import PathProgress
from planweave.learning.rl_agent import Proposal
from planweave.learning.slots import ANSWER, ASKED, FITTING, FOUND, remove_price_limit
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.acting.pathfinder import open_guide_for
from planweave.prompts import load
from planweave.tools.environments import OPEN, moves

_MAX_SHOWN = 5
"""Possible actions for a step that the guidance names; more are no help."""
_SLOT_WORDS = {
    FOUND: "what was found",
    ASKED: "what is asked",
    FITTING: "what fits the task",
    ANSWER: "the answer",
}


def path_selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Choose one of the proposed paths that fit the task and make it the plan.

    Raises:
        ModelUnavailable: The model of sentence vectors is not installed.
    """
    context, question = runtime.context, state["question"]
    if not state["candidate_paths"]:
        return {}
    guide = open_guide_for(context)
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
    return {"path": path, "plan": [describe_instruction(text, question) for text in steps]}


def describe_instruction(instruction: str, question: str) -> str:
    """The instruction with … for each open slot, followed by the meaning of the slots.

    Small models copy the text in the brackets, so the meaning is not inside them. A search for
    ``ASKED`` becomes a search for the question itself, without its price limit.
    """
    if instruction.casefold() == f"search[{ASKED}]":
        return instruction.replace(ASKED, remove_price_limit(question))
    missing = [words for slot, words in _SLOT_WORDS.items() if slot in instruction]
    for slot in _SLOT_WORDS:
        instruction = instruction.replace(slot, "…")
    return f"{instruction} (…: {', '.join(missing)})" if missing else instruction


class NextStep(NamedTuple):
    """The next step of the chosen path.

    Attributes:
        text: The step in the words of the plan; empty if all steps are done.
        actions: The possible actions that carry it out, without forms.
        requested: Actions that the task still asks for before a step that ends the task.
        ends_task: Whether it ends the task, so that nothing can follow it.
    """

    text: str
    actions: Sequence[str]
    requested: Sequence[str]
    ends_task: bool


def find_next_step(
    state: WorkingMemory, possible: Sequence[str], context: Context
) -> NextStep | None:
    """The next step of the chosen path; None without a path or without path aids."""
    path = state.get("path")
    if path is None or state["episode"] is None or context.path_aids == "off":
        return None
    steps = path["instructions"]
    progress = PathProgress(steps, state["question"], moves(state["episode"]["environment"]))
    done = [turn["input"] for turn in state["turns"] if not turn["problem"]]
    at = progress.next_step(done, possible)
    if at == len(steps):
        return NextStep("", (), (), ends_task=False)
    actions = [one for one in progress.doing(steps[at], possible) if not one.endswith(OPEN)]
    ends_task = at == len(steps) - 1 and progress.ends_the_task
    requested = progress.asked_for(done, possible) if ends_task else ()
    return NextStep(state["plan"][at], actions, requested, ends_task)


def guide_by_path(state: WorkingMemory, possible: Sequence[str], context: Context) -> str:
    """Guidance: the next step of the chosen path, which is the plan in the prompt.

    It does not show the questions that the path comes from: small models copy their words.
    """
    step = find_next_step(state, possible, context)
    if step is None:
        return load("instructrag/plan").fill() if state["path"] else ""
    if not step.text:
        return load("instructrag/followed").fill()
    if step.ends_task and step.requested:
        way = load("instructrag/left").fill(actions="; ".join(step.requested))
    elif step.ends_task:
        way = load("instructrag/end").fill()
    elif 0 < len(step.actions) <= _MAX_SHOWN:
        way = load("instructrag/possible").fill(actions="; ".join(step.actions))
    else:
        way = load("instructrag/open").fill()
    return load("instructrag/guidance").fill(step=step.text, way=way)
