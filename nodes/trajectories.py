"""Trajectories: the whole paths of the nearest tasks, as examples (RAP)."""

from collections.abc import Sequence
from functools import partial

from langgraph.runtime import Runtime

from planweave.learning.guide import open_guide
from planweave.learning.queries.literals import for_question
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.environment import episode_of
from planweave.nodes.path_selector import readable
from planweave.prompts import load
from planweave.tools.environments.episodes import look_up


def trajectories(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Find the ``candidate_paths`` nearest; slots of queries are filled for the task at hand.

    Raises:
        BadInput: There is no task to act on, or there are no paths that succeeded.
        ModelUnavailable: The frozen model of sentence vectors is not on this machine.
    """
    context, question = runtime.context, state["question"]
    look = partial(look_up, episode_of(context))
    nearest = open_guide(context.paths, context.owner).nearest(question, context.candidate_paths)
    return {
        "candidate_paths": [
            InstructionPath(
                instructions=list(
                    for_question(path.instructions, question, look) or path.instructions
                ),
                origins=[path.question],
            )
            for path in nearest
        ]
    }


def examples(state: WorkingMemory, _possible: Sequence[str]) -> str:
    """Guidance by the paths that were found."""
    lines = [
        load("rap/example").fill(
            task="; ".join(path["origins"]),
            actions=", ".join(readable(text, state["question"]) for text in path["instructions"]),
        )
        for path in state["candidate_paths"]
    ]
    return load("rap/guidance").fill(examples="\n".join(lines)) if lines else ""
