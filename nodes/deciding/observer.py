"""Observer: takes in what a round of actions led to; ticks the plan, or puts it in doubt."""

import re
from collections.abc import Iterator, Sequence

from langgraph.types import Overwrite

from planweave.memory import Fact, Turn, Value, WorkingMemory
from planweave.nodes.support.combined import open_steps

_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d+(?:\.\d+)?\b")


def observer(state: WorkingMemory) -> WorkingMemory:
    """Note what a round of actions has shown, once all of them have ended.

    Steps that a successful action completes are ticked. A problem, a result without any value, or
    one that contradicts an earlier one puts the plan in doubt.
    """
    update = _taken_in(state)
    turns = update.get("turns") or state["turns"][-1:]
    facts = [*state["facts"], *update.get("facts", [])]
    new = {number for turn in turns for number in turn["facts"]}
    ticked = {number for turn in turns if not turn["problem"] for number in _completes(turn)}
    plan = range(1, len(state["plan"]) + 1)
    done = [number for number in plan if number in ticked or number in state.get("done_steps", ())]
    left = open_steps({**state, "done_steps": done})
    doubts = [turn["problem"] for turn in turns if turn["problem"]]
    doubts += [text for fact in facts if fact["number"] in new for text in _doubts(fact, facts)]
    return update | {
        "done_steps": done,
        "step": left[0] if left else len(plan) + 1,
        "replanning": " ".join(dict.fromkeys(doubts)),
    }


def _completes(turn: Turn) -> list[int]:
    return turn.get("completes", [turn["step"]])


def _taken_in(state: WorkingMemory) -> WorkingMemory:
    """Numbered facts and turns of actions at once; a single action has noted its own."""
    facts: list[Fact] = []
    turns: list[Turn] = []
    for seen in state["observed"]:
        first = len(state["facts"]) + len(facts) + 1
        numbered: list[Fact] = [{**f, "number": first + at} for at, f in enumerate(seen["facts"])]
        iteration = state["iteration"] + len(turns) + 1
        numbers = [fact["number"] for fact in numbered]
        turns.append({**seen["turn"], "iteration": iteration, "facts": numbers})
        facts += numbered
    if not turns:
        return {}
    taken_in: WorkingMemory = {
        "facts": facts,
        "turns": turns,
        "iteration": turns[-1]["iteration"],
        "observed": Overwrite([]),  # type: ignore[typeddict-item]
    }
    return taken_in


def _doubts(fact: Fact, facts: Sequence[Fact]) -> Iterator[str]:
    """What a new fact puts in doubt: a result of empty values, or one that differs from before."""
    number, table = fact["number"], fact.get("table")
    if table is None:
        return
    if all(cell is None for row in table["rows"] for cell in row):
        yield f"Fact [{number}] holds only empty values."
    for earlier in facts[: number - 1]:
        if differing := _difference(earlier, fact):
            yield f"Facts [{earlier['number']}] and [{number}] contradict each other: {differing}."


def _difference(one: Fact, other: Fact) -> str:
    """Where two results of the same columns, under the same conditions, disagree; or nothing."""
    left, right = one.get("table"), other.get("table")
    if left is None or right is None or left["columns"] != right["columns"]:
        return ""
    if _literals(one) != _literals(other):
        return ""
    values, others = _by_name(left["rows"]), _by_name(right["rows"])
    for name in (name for name in values if name in others):
        for column, a, b in zip(left["columns"], values[name], others[name], strict=True):
            if a != b:
                return f"{column} of {', '.join(name)} is {a} and {b}"
    return ""


def _literals(fact: Fact) -> set[str]:
    """The values that a query names: queries with others look for something else."""
    return {*_LITERAL.findall(fact["query"])}


def _by_name(rows: Sequence[list[Value]]) -> dict[tuple[str, ...], list[Value]]:
    """The rows that a text names, each by its texts; of rows with equal texts none."""
    names = [tuple(cell for cell in row if isinstance(cell, str)) for row in rows]
    return {
        name: row for name, row in zip(names, rows, strict=True) if name and names.count(name) == 1
    }
