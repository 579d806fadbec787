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
    lines = [
        load("rap/example").fill(
            task="; ".join(path["origins"]), actions=_actions(path, state["question"])
        )
        for path in state["candidate_paths"]
    ]
    if not lines:
        return ""
    shown = load("rap/guidance").fill(examples="\n".join(lines))
    following = chosen_path(state, possible, context)
    return f"{shown}\n{following}" if following else shown


def _example(path: TaskPath) -> InstructionPath:
    example = InstructionPath(instructions=[*path.instructions], origins=[path.question])
    if any(path.observations):
        example["observations"] = [_shortened(text) for text in path.observations]
    return example


def _actions(path: InstructionPath, question: str) -> str:
    actions = [readable(text, question) for text in path["instructions"]]
    if "observations" not in path:
        return ", ".join(actions)
    pairs = zip(actions, path["observations"], strict=True)
    steps = [load("rap/step").fill(action=action, shown=shown) for action, shown in pairs]
    return "".join(f"\n  - {step}" for step in steps)


def _shortened(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHORTENED else f"{plain[:_SHORTENED].rstrip()} …"
