"""Experience: a path that decided questions like this one becomes the plan, without a model call.

What the question names fills the slots of the path's queries: it is looked up in the columns that
the slots name. Where nothing fits, or a slot cannot be filled, the run goes on without a path.
"""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from planweave.learning.experience import experience_of
from planweave.learning.paths import TaskPath, succeeded
from planweave.learning.queries.literals import for_question
from planweave.learning.queries.memory import OWN, SHIPPED, fitting, learned
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.support.role import PlainNode
from planweave.prompts import load
from planweave.tools import Limits, open_database

_LOOKED_UP = 1_000
"""Rows at most: far more than the values of a column that a question names."""


def experience(*, always: bool = False) -> PlainNode:
    """Make the node; ``always``: the shipped experience is used when the context names none."""

    def experience(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        name = runtime.context.experience or (SHIPPED if always else None)
        if name is None or state["greeting"] or state["plan"]:
            return {}
        known = known_paths(name, runtime.context.owner)
        for path in fitting(known, state["question"], list(state["languages"])):
            instructions = _filled(path, state["question"], runtime.context)
            if instructions:
                chosen = InstructionPath(instructions=instructions, origins=[path.origin])
                return {"path": chosen, "plan": learned_plan()}
        return {}

    return experience


def known_paths(name: str, owner: str) -> Sequence[TaskPath]:
    """The paths that succeeded, of the experience of that name; the owner's own latest first."""
    if name != OWN:
        return learned(name)
    return succeeded(entry.path for entry in reversed(experience_of(owner).entries()))


def learned_plan() -> list[str]:
    """The plan that a learned path is, in words."""
    return load("planrag/learned_plan").fill().splitlines()


def _filled(path: TaskPath, question: str, context: Context) -> list[str]:
    """The instructions with every slot filled; empty if one cannot be."""

    def look_up(tool: str, query: str) -> Sequence[str]:
        url = context.database if tool == "sql" else context.graph
        limits = Limits(seconds=context.query_seconds, rows=_LOOKED_UP, owner=context.owner)
        return open_database(url or "").run(query, limits).texts

    return list(for_question(path.instructions, question, look_up) or ())
