"""The executor of plans: it accepts a right plan for every goal, and refuses spoiled ones.

Every step of a right plan is left out once, and every count above one is halved once: a step whose
action yields several at a time may then be done as often as before.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest
from crafting_planner import make_plan
from published import published

from planweave.tools.crafting import CraftingStep, CraftingWorld, executable, load_world

KEPT = Path(__file__).parents[2] / "results" / "crafting.json"
RIGHT = "right"
LACKING = "a step left out"
AS_OFTEN = "a count halved, the action done as often"
FEWER = "a count halved, the action done fewer times"


def cases(world: CraftingWorld) -> Iterator[tuple[str, str, str, list[CraftingStep]]]:
    """Kind, goal, changed step and plan: a right plan for each goal, and the spoiled ones."""
    for goal in world.goals:
        plan = make_plan(goal, world) or []
        yield RIGHT, goal, "", plan
        for at, step in enumerate(plan):
            before, after = plan[:at], plan[at + 1 :]
            yield LACKING, goal, step.text, [*before, *after]
            if step.count > 1:
                less = replace(step, count=step.count // 2)
                kind = AS_OFTEN if times(less, world) == times(step, world) else FEWER
                yield kind, goal, step.text, [*before, less, *after]


def times(step: CraftingStep, world: CraftingWorld) -> int:
    """How often the action of a right plan's step is done."""
    _, action = world.best[step.item]
    return ceil(step.count / action.count)


@pytest.mark.published
def test_the_published_world_gives_the_stored_figures() -> None:
    world = load_world(published("minecraft"))
    found = {
        kind: {"kind": kind, "plans": 0, "accepted": 0, "unexpected": list[str]()}
        for kind in (RIGHT, LACKING, AS_OFTEN, FEWER)
    }
    for kind, goal, step, plan in cases(world):
        reached = executable(plan, goal, world).reached
        row = found[kind]
        row["plans"] += 1  # type: ignore[operator]
        row["accepted"] += reached  # type: ignore[operator]
        if reached != (kind in (RIGHT, AS_OFTEN)):
            row["unexpected"].append(f"{goal}: {step}")  # type: ignore[attr-defined]
    assert list(found.values()) == json.loads(KEPT.read_text("utf-8"))["result"]
