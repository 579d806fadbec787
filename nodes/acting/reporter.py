"""Reporter: reports how a task in an environment has ended."""

import re

from langgraph.runtime import Runtime

from planweave.memory import Answer, Context, WorkingMemory
from planweave.nodes.acting.environment import actions_done, episode_of
from planweave.nodes.support.limits import reason_to_answer
from planweave.tools.environments.episodes import leave

_FINISH = re.compile(r"finish\[(.*)\]", re.IGNORECASE | re.DOTALL)


def reporter(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Report the submitted answer or the outcome, and the score, without a model call."""
    leave(episode_of(runtime.context))
    episode, actions = state["episode"], actions_done(state)
    if episode is None:
        raise RuntimeError("The reporter runs only after intake began a task.")
    handed_in = _FINISH.fullmatch(actions[-1]) if actions else None
    solved = episode["done"] and episode["score"] == 1
    reason = reason_to_answer(state, runtime.context)
    unknown = "" if episode["done"] else f"The task is not finished. {reason}".strip()
    return {
        "answer": Answer(
            decision=handed_in[1] if handed_in else ("done" if solved else None),
            why=f"The environment gives a score of {episode['score']:.2f} after "
            f"{len(actions)} actions in trial {episode['trial']}.",
            facts=[],
            unknown=unknown,
        )
    }
