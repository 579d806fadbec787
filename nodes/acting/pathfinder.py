"""Pathfinder: proposes paths for the task from past successes (InstructRAG's RL-Agent)."""

from langgraph.runtime import Runtime

from planweave.learning.guide import Guide, open_guide
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.acting.environment import episode_of
from planweave.tools.environments import moves


def pathfinder(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Propose ``candidate_paths`` paths."""
    context = runtime.context
    guide = open_guide_for(context)
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


def open_guide_for(context: Context) -> Guide:
    """Open the guide of past successes for the environment of the run."""
    moving = moves(episode_of(context).environment)
    return open_guide(context.paths, context.owner, context.agents, moving)
