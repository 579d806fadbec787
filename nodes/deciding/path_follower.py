"""Path follower: takes the learned path's next instruction as the action, without a model call."""

from typing import NamedTuple

from langgraph.runtime import Runtime

from planweave.learning.queries.memory import action
from planweave.memory import Context, Tool, WorkingMemory
from planweave.nodes.deciding.experience import learned_plan
from planweave.nodes.deciding.selector import action_of
from planweave.nodes.support.role import Node

_DECISION = "decision"
_TOOLS: dict[str, Tool] = {"sql": "sql", "cypher": "cypher", "finish": "finish"}


def path_follower(state: WorkingMemory) -> WorkingMemory:
    """Choose the instruction of the plan's present step; after the last one, finish."""
    path = state["path"]
    if path is None:
        raise RuntimeError("A path is followed only where there is one.")
    left = path["instructions"][state["step"] - 1 :]
    found = action(left[0]) if left else None
    tool, text = found or ("finish", "")
    thought = f"Learned from {'; '.join(path['origins'])}."
    chosen = action_of(state, thought=thought, tool=_TOOLS[tool], input=text)
    return {"action": chosen, "actions": []}


def following(selector: Node) -> Node:
    """Make a selector that follows the learned path, while there is one."""

    async def follow_or_select(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        return path_follower(state) if followed(state) else await selector(state, runtime)

    return follow_or_select


def followed(state: WorkingMemory) -> bool:
    """Whether the run follows a path: until a step fails or another plan is made."""
    sound = not any(turn["problem"] for turn in state["turns"])
    return state.get("path") is not None and state["plan"] == learned_plan() and sound


class Finish(NamedTuple):
    """What a path decides, and the number of the fact that says so."""

    decision: str
    fact: int

    @property
    def why(self) -> str:
        """The reason, in words."""
        return f"A learned query selects {self.decision} [{self.fact}]."


def finish(state: WorkingMemory) -> Finish | None:
    """The decision that the followed path has come to; None without one."""
    number = next((n for turn in reversed(state["turns"]) for n in turn["facts"]), 0)
    path = state.get("path")
    if not number or path is None or not followed(state):
        return None
    tool, column = action(path["instructions"][-1]) or ("", "")
    values = state["facts"][number - 1]["values"]
    value = values.get(column if tool == "finish" else _DECISION)
    return None if value is None else Finish(str(value), number)
