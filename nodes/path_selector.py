"""Path selector: chooses the path that the actor is shown as its plan (InstructRAG's ML-Agent)."""

from collections.abc import Callable, Sequence
from functools import partial

from langgraph.runtime import Runtime

from planweave.learning.guide import Suggestion, open_guide
from planweave.learning.progress import does, next_step
from planweave.learning.queries.memory import is_finish, is_query
from planweave.learning.queries.slots import places
from planweave.learning.slots import ANSWER, ASKED, FOUND
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.environment import episode_of
from planweave.prompts import load
from planweave.tools.environments import OPEN
from planweave.tools.environments.episodes import look_up

_FEW = 5
"""Actions that do a step, which are told for it; more are no help."""
_DECISION = "{decision}"
_WORDS = {
    FOUND: "what was found",
    ASKED: "what is asked",
    ANSWER: "the answer",
    _DECISION: "the decision that was found",
}


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
    look = partial(look_up, episode_of(context))
    plan = list(guide.adapted(selected.instructions, question, look))
    path = InstructionPath(instructions=plan, origins=list(selected.origins), by=guide.selector)
    return {"path": path, "plan": [readable(text, question) for text in plan]}


def readable(instruction: str, question: str) -> str:
    """The instruction with … for what is filled in on the way, and behind it what that is.

    Small models write down what stands in the brackets, so no words for a slot stand there. What
    is searched for may be the question itself.
    """
    if instruction.casefold() == f"search[{ASKED}]":
        return instruction.replace(ASKED, question)
    if is_finish(instruction):
        instruction = f"Finish[{_DECISION}]"
    missing = [words for slot, words in _WORDS.items() if slot in instruction]
    for slot in _WORDS:
        instruction = instruction.replace(slot, "…")
    return f"{instruction} (…: {', '.join(missing)})" if missing else instruction


def chosen_path(state: WorkingMemory, possible: Sequence[str]) -> str:
    """Guidance by the chosen path, which stands in the prompt as the plan: its next step.

    The questions that it is from are not told: small models take up their words.
    """
    if state["path"] is None:
        return ""
    at = _next_step(state, possible)
    if at == len(state["plan"]):
        return load("instructrag/followed").fill()
    fitting = [action for action in possible if not action.endswith(OPEN)]
    fitting = [*filter(goes_on(state, possible), fitting)]
    few = 0 < len(fitting) <= _FEW
    way = load("instructrag/possible").fill(actions="; ".join(fitting)) if few else ""
    return load("instructrag/guidance").fill(
        step=state["plan"][at], way=way or load("instructrag/open").fill()
    )


def goes_on(state: WorkingMemory, possible: Sequence[str]) -> Callable[[str], bool]:
    """Tells of an action whether it does the next step of the chosen path; none without a path."""
    at, steps = _next_step(state, possible), _steps(state)
    if at == len(steps):
        return lambda _: False
    return partial(does, step=steps[at], question=state["question"])


def shown_queries(state: WorkingMemory) -> list[str]:
    """The queries of the paths that the actor is shown, which it may write as they are."""
    shown = [state["path"]] if state["path"] else state["candidate_paths"]
    texts = [text for path in shown for text in path["instructions"]]
    return [text for text in texts if is_query(text) and not places(text)]


def _next_step(state: WorkingMemory, possible: Sequence[str]) -> int:
    actions = [turn["input"] for turn in state["turns"] if not turn["problem"]]
    return next_step(_steps(state), actions, possible, state["question"])


def _steps(state: WorkingMemory) -> Sequence[str]:
    return state["path"]["instructions"] if state["path"] else []
