"""Observer: takes in a round of actions; marks completed steps, or puts the plan in doubt."""

import re
from collections.abc import Iterator, Sequence

from langgraph.types import Overwrite

from planweave.memory import Fact, Turn, Value, WorkingMemory
from planweave.nodes.support.combined import open_steps
from planweave.nodes.support.turns import normalise

_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d+(?:\.\d+)?\b")


def observer(state: WorkingMemory) -> WorkingMemory:
    """Take in the results of a round of actions, once all of them have ended.

    It marks the steps that a successful action completes, or one that repeats a successful one. A
    problem, a result without any value, or a contradiction to an earlier result puts the plan in
    doubt.
    """
    update = _number_observed(state)
    turns = update.get("turns") or state["turns"][-1:]
    facts = [*state["facts"], *update.get("facts", [])]
    new = {number for turn in turns for number in turn["facts"]}
    problems = [turn for turn in turns if turn["problem"] and not _is_known(turn, state["turns"])]
    ticked = {number for turn in turns if turn not in problems for number in _completed_steps(turn)}
    plan = range(1, len(state["plan"]) + 1)
    done = [number for number in plan if number in ticked or number in state.get("done_steps", ())]
    left = open_steps({**state, "done_steps": done})
    doubts = [turn["problem"] for turn in problems]
    doubts += [
        text for fact in facts if fact["number"] in new for text in _find_doubts(fact, facts)
    ]
    return update | {
        "done_steps": done,
        "step": left[0] if left else len(plan) + 1,
        "replanning": " ".join(dict.fromkeys(doubts)),
    }


def _is_known(turn: Turn, turns: Sequence[Turn]) -> bool:
    """Whether a turn repeats an action that led to a fact."""
    kind = (turn["tool"], normalise(turn["input"]))
    return any(one["facts"] and (one["tool"], normalise(one["input"])) == kind for one in turns)


def _completed_steps(turn: Turn) -> list[int]:
    return turn.get("completes", [turn["step"]])


def _number_observed(state: WorkingMemory) -> WorkingMemory:
    """Number the facts and turns of parallel actions; a single action has added its own."""
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
    update: WorkingMemory = {
        "facts": facts,
        "turns": turns,
        "iteration": turns[-1]["iteration"],
        "observed": Overwrite([]),  # type: ignore[typeddict-item]
    }
    return update


def _find_doubts(fact: Fact, facts: Sequence[Fact]) -> Iterator[str]:
    """Doubts from a new fact: it has only empty values, or contradicts an earlier fact."""
    number, table = fact["number"], fact.get("table")
    if table is None:
        return
    if all(cell is None for row in table["rows"] for cell in row):
        yield f"Fact [{number}] holds only empty values."
    for earlier in facts[: number - 1]:
        if differing := _find_difference(earlier, fact):
            yield f"Facts [{earlier['number']}] and [{number}] contradict each other: {differing}."


def _find_difference(one: Fact, other: Fact) -> str:
    """Where two results with the same columns and conditions disagree; empty if nowhere."""
    left, right = one.get("table"), other.get("table")
    if left is None or right is None or left["columns"] != right["columns"]:
        return ""
    if _literals(one) != _literals(other):
        return ""
    values, others = _rows_by_name(left["rows"]), _rows_by_name(right["rows"])
    for name in (name for name in values if name in others):
        for column, a, b in zip(left["columns"], values[name], others[name], strict=True):
            if a != b:
                return f"{column} of {', '.join(name)} is {a} and {b}"
    return ""


def _literals(fact: Fact) -> set[str]:
    """The values in a query; queries with different values look for different things."""
    return {*_LITERAL.findall(fact["query"])}


def _rows_by_name(rows: Sequence[list[Value]]) -> dict[tuple[str, ...], list[Value]]:
    """The rows by their text cells; rows with equal texts are left out."""
    names = [tuple(cell for cell in row if isinstance(cell, str)) for row in rows]
    return {
        name: row for name, row in zip(names, rows, strict=True) if name and names.count(name) == 1
    }
