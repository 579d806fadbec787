"""Trajectories: the whole paths of the nearest tasks, as examples (RAP)."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from learning.guide import open_guide
from memory import Context, InstructionPath, WorkingMemory
from nodes.environment import episode_of
from prompts import load


def trajectories(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Find the ``candidate_paths`` nearest.

    Raises:
        BadInput: There is no task to act on, or there are no paths that succeeded.
        ModelUnavailable: The frozen model of sentence vectors is not on this machine.
    """
    context = runtime.context
    episode_of(context)
    nearest = open_guide(context.paths, context.owner).nearest(
        state["question"], context.candidate_paths
    )
    return {
        "candidate_paths": [
            InstructionPath(instructions=list(path.instructions), origins=[path.question])
            for path in nearest
        ]
    }


def examples(state: WorkingMemory, _possible: Sequence[str]) -> str:
    """Guidance by the paths that were found."""
    lines = [
        load("rap/example").fill(
            task="; ".join(path["origins"]), actions=", ".join(path["instructions"])
        )
        for path in state["candidate_paths"]
    ]
    return load("rap/guidance").fill(examples="\n".join(lines)) if lines else ""
