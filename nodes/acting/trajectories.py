"""Trajectories: the whole paths of the nearest tasks, as examples (RAP)."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from planweave.learning.agents_file import NONE
from planweave.learning.paths import TaskPath
from planweave.learning.rl_agent import Proposal
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.acting.path_selector import chosen_path, readable
from planweave.nodes.acting.pathfinder import guide_for
from planweave.prompts import load

_SHORTENED = 300
"""Characters of an observation in an example."""
_SHORTER = (_SHORTENED, 80, 0)
"""Less and less of each observation, until all examples fit."""
_MOST = 20_000
"""Characters of all examples. A path of hundreds of steps would fill what a model can read."""


def trajectories(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Find the ``candidate_paths`` nearest.

    With ``path_aids`` on the nearest one is the plan, too, as InstructRAG's is.
    """
    context, question = runtime.context, state["question"]
    guide = guide_for(context.model_copy(update={"agents": NONE}))
    nearest = guide.nearest(question, context.candidate_paths)
    update: WorkingMemory = {"candidate_paths": [_example(path) for path in nearest]}
    followed = Proposal(guide.form(nearest[0]), (nearest[0].question,))
    if context.path_aids == "on" and (steps := guide.shown(followed, question)):
        origins = [*followed.origins]
        update["path"] = InstructionPath(instructions=[*steps], origins=origins, by="RAP")
        update["plan"] = [readable(text, question) for text in steps]
    return update


def examples(state: WorkingMemory, possible: Sequence[str], context: Context) -> str:
    """Guidance by the paths that were found, with what their actions showed where it is known."""
    if not state["candidate_paths"]:
        return ""
    shown = load("rap/guidance").fill(examples=_listed(state))
    following = chosen_path(state, possible, context)
    return f"{shown}\n{following}" if following else shown


def _example(path: TaskPath) -> InstructionPath:
    example = InstructionPath(instructions=[*path.instructions], origins=[path.question])
    if any(path.observations):
        plain = (" ".join(text.split()) for text in path.observations)
        example["observations"] = [_shortened(text, _SHORTENED) for text in plain]
    return example


def _listed(state: WorkingMemory) -> str:
    """The examples, with as much of their observations as there is room for."""
    text = ""
    for most in _SHORTER:
        lines = [
            load("rap/example").fill(
                task="; ".join(path["origins"]), actions=_actions(path, state["question"], most)
            )
            for path in state["candidate_paths"]
        ]
        text = "\n".join(lines)
        if len(text) <= _MOST:
            return text
    return _shortened(text, _MOST)


def _actions(path: InstructionPath, question: str, most: int) -> str:
    actions = [readable(text, question) for text in path["instructions"]]
    if "observations" not in path or not most:
        return ", ".join(actions)
    seen = [_shortened(text, most) for text in path["observations"]]
    pairs = zip(actions, seen, strict=True)
    steps = [load("rap/step").fill(action=action, shown=shown) for action, shown in pairs]
    return "".join(f"\n  - {step}" for step in steps)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} …"
