"""Path follower: takes the learned path's next instruction as the action, without a model call."""

from typing import NamedTuple

from langgraph.runtime import Runtime

from planweave.learning.queries.memory import parse_instruction
from planweave.memory import Context, Tool, WorkingMemory
from planweave.nodes.deciding.experience import plan_of_path
from planweave.nodes.deciding.selector import build_action
from planweave.nodes.support.role import Node

_DECISION_COLUMN = "decision"
_TOOLS: dict[str, Tool] = {"sql": "sql", "cypher": "cypher", "finish": "finish"}


def path_follower(state: WorkingMemory) -> WorkingMemory:
    """Choose the instruction of the present step; after the last one, finish."""
    path = state["path"]
    if path is None:
        raise RuntimeError("The path follower runs only with a path.")
    left = path["instructions"][state["step"] - 1 :]
    found = parse_instruction(left[0]) if left else None
    tool, text = found or ("finish", "")
    thought = f"Learned from {'; '.join(path['origins'])}."
    chosen = build_action(state, thought=thought, tool=_TOOLS[tool], input=text)
    return {"action": chosen, "actions": []}


def follow_or_select(selector: Node) -> Node:
    """Make a selector that follows the learned path while there is one."""

    async def follow_or_select(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        return path_follower(state) if is_following(state) else await selector(state, runtime)

    return follow_or_select


def is_following(state: WorkingMemory) -> bool:
    """Whether the run follows a path; it ends when a step fails or the plan changes."""
    sound = not any(turn["problem"] for turn in state["turns"])
    return state.get("path") is not None and state["plan"] == plan_of_path() and sound


class LearnedDecision(NamedTuple):
    """The decision of a path, and the number of the fact that states it."""

    decision: str
    fact: int

    @property
    def why(self) -> str:
        """The reason, in words."""
        return f"A learned query selects {self.decision} [{self.fact}]."


def find_decision(state: WorkingMemory) -> LearnedDecision | None:
    """The decision of the followed path; None without one."""
    number = next((n for turn in reversed(state["turns"]) for n in turn["facts"]), 0)
    path = state.get("path")
    if not number or path is None or not is_following(state):
        return None
    tool, column = parse_instruction(path["instructions"][-1]) or ("", "")
    values = state["facts"][number - 1]["values"]
    value = values.get(column if tool == "finish" else _DECISION_COLUMN)
    return None if value is None else LearnedDecision(str(value), number)
