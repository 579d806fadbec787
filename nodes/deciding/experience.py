"""Experience: a path that decided similar questions becomes the plan, without a model call.

The slots of the path's queries name columns. The node looks up which values of these columns the
question names and fills the slots with them. If no path fits, or a slot cannot be filled, the run
continues without a path.
"""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from planweave.learning.experience import experience_of
from planweave.learning.paths import TaskPath, select_succeeded
from planweave.learning.queries.literals import add_slots, fill_for_question
from planweave.learning.queries.memory import OWN, SHIPPED, find_fitting, load_learned
from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.support.role import PlainNode
from planweave.prompts import load
from planweave.tools import Limits, open_database

_MAX_ROWS = 1_000
"""Far more than the values of a column that a question may name."""


def experience(*, always: bool = False) -> PlainNode:
    """Make the node; with ``always`` it uses the shipped experience if the context names none."""

    def experience(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        name = runtime.context.experience or (SHIPPED if always else None)
        if name is None or state["greeting"] or state["plan"]:
            return {}
        known = load_paths(name, runtime.context.owner)
        for path in find_fitting(known, state["question"], list(state["languages"])):
            instructions = _fill_slots(path, state["question"], runtime.context)
            if instructions:
                chosen = InstructionPath(instructions=instructions, origins=[path.origin])
                return {"path": chosen, "plan": plan_of_path()}
        return {}

    return experience


def load_paths(name: str, owner: str) -> Sequence[TaskPath]:
    """Load the paths that succeeded from this experience, with slots in their queries.

    Of the owner's own, the latest come first.
    """
    if name != OWN:
        return [*map(add_slots, load_learned(name))]
    entries = reversed(experience_of(owner).entries())
    return [*map(add_slots, select_succeeded(entry.path for entry in entries))]


def plan_of_path() -> list[str]:
    """The plan, in words, of a run that follows a learned path."""
    return load("planrag/learned_plan").fill().splitlines()


def _fill_slots(path: TaskPath, question: str, context: Context) -> list[str]:
    """The instructions with every slot filled; empty if a slot cannot be filled."""

    def look_up(tool: str, query: str) -> Sequence[str]:
        url = context.database if tool == "sql" else context.graph
        limits = Limits(seconds=context.query_seconds, rows=_MAX_ROWS, owner=context.owner)
        return open_database(url or "").run(query, limits).texts

    return list(fill_for_question(path.instructions, question, look_up) or ())
