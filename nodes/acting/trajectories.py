"""Trajectories: finds the whole paths of the nearest tasks, as examples (RAP)."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from planweave.learning.agents_file import NONE
from planweave.learning.paths import TaskPath
from planweave.learning.rl_agent import Proposal
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.acting.path_selector import describe_instruction, guide_by_path
from planweave.nodes.acting.pathfinder import open_guide_for
from planweave.prompts import load

_OBSERVATION_CHARACTERS = 300
"""Length of an observation in an example."""
_LENGTHS = (_OBSERVATION_CHARACTERS, 80, 0)
"""Shorter and shorter observations, until all examples fit."""
_MAX_CHARACTERS = 20_000
"""Length of all examples together; a path may have hundreds of steps."""


def trajectories(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Find the nearest paths, as many as ``candidate_paths``.

    With ``path_aids`` the nearest one also becomes the plan, as in InstructRAG.
    """
    context, question = runtime.context, state["question"]
    guide = open_guide_for(context.model_copy(update={"agents": NONE}))
    nearest = guide.nearest(question, context.candidate_paths)
    update: WorkingMemory = {"candidate_paths": [_build_example(path) for path in nearest]}
    followed = Proposal(guide.form(nearest[0]), (nearest[0].question,))
    if context.path_aids == "on" and (steps := guide.shown(followed, question)):
        origins = [*followed.origins]
        update["path"] = InstructionPath(instructions=[*steps], origins=origins, by="RAP")
        update["plan"] = [describe_instruction(text, question) for text in steps]
    return update


def guide_by_examples(state: WorkingMemory, possible: Sequence[str], context: Context) -> str:
    """Guidance: the paths found, with the observations of their actions where known."""
    if not state["candidate_paths"]:
        return ""
    shown = load("rap/guidance").fill(examples=_examples_text(state))
    following = guide_by_path(state, possible, context)
    return f"{shown}\n{following}" if following else shown


def _build_example(path: TaskPath) -> InstructionPath:
    example = InstructionPath(instructions=[*path.instructions], origins=[path.question])
    if any(path.observations):
        plain = (" ".join(text.split()) for text in path.observations)
        example["observations"] = [_cut(text, _OBSERVATION_CHARACTERS) for text in plain]
    return example


def _examples_text(state: WorkingMemory) -> str:
    """The examples, with as much of their observations as fits."""
    text = ""
    for limit in _LENGTHS:
        lines = [
            load("rap/example").fill(
                task="; ".join(path["origins"]),
                actions=_actions_text(path, state["question"], limit),
            )
            for path in state["candidate_paths"]
        ]
        text = "\n".join(lines)
        if len(text) <= _MAX_CHARACTERS:
            return text
    return _cut(text, _MAX_CHARACTERS)


def _actions_text(path: InstructionPath, question: str, limit: int) -> str:
    actions = [describe_instruction(text, question) for text in path["instructions"]]
    if "observations" not in path or not limit:
        return ", ".join(actions)
    seen = [_cut(text, limit) for text in path["observations"]]
    pairs = zip(actions, seen, strict=True)
    steps = [load("rap/step").fill(action=action, shown=shown) for action, shown in pairs]
    return "".join(f"\n  - {step}" for step in steps)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"
