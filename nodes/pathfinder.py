"""Pathfinder: proposes paths for the task from past successes (InstructRAG's RL-Agent)."""

from langgraph.runtime import Runtime

from planweave.learning.guide import open_guide
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.environment import episode_of


def pathfinder(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Propose ``candidate_paths`` paths.

    Raises:
        BadInput: There is no task to act on, no path that succeeded, or no such agents.
        ModelUnavailable: The frozen model of sentence vectors is not on this machine.
    """
    context = runtime.context
    episode_of(context)
    guide = open_guide(context.paths, context.owner, context.agents)
    return {
        "candidate_paths": [
            InstructionPath(
                instructions=list(found.instructions),
                origins=list(found.origins),
                by=guide.proposer,
                expected=found.expected,
            )
            for found in guide.propose(state["question"], context.candidate_paths)
        ]
    }
