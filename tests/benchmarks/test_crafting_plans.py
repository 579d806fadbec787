"""The executor of plans: it accepts a right plan for every goal, and refuses spoiled ones.

Every step of a right plan is left out once, and every count above one is halved once: a step whose
action yields several at a time may then be done as often as before.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest
from crafting_planner import make_plan
from published import published

from planweave.tools.crafting import CraftingStep, CraftingWorld, executable, load_world

KEPT = Path(__file__).parents[2] / "results" / "crafting.json"
RIGHT, LACKING = "right", "a step left out"
AS_OFTEN = "a count halved, the action done as often"
FEWER = "a count halved, the action done fewer times"


def cases(world: CraftingWorld) -> Iterator[tuple[str, str, list[CraftingStep]]]:
    """Kind, goal with the changed step, and plan: right for each goal, and the spoiled ones."""
    for goal in world.goals:
        plan = make_plan(goal, world) or []
        yield RIGHT, f"{goal}: ", plan
        for at, step in enumerate(plan):
            before, after = plan[:at], plan[at + 1 :]
            yield LACKING, f"{goal}: {step.text}", [*before, *after]
            if step.count > 1:
                less = replace(step, count=step.count // 2)
                yielded = world.best[step.item][1].count
                is_as_often = ceil(less.count / yielded) == ceil(step.count / yielded)
                kind = AS_OFTEN if is_as_often else FEWER
                yield kind, f"{goal}: {step.text}", [*before, less, *after]


@pytest.mark.published
def test_the_published_world_gives_the_stored_figures() -> None:
    world = load_world(published("minecraft"))
    plans, accepted, unexpected = Counter[str](), Counter[str](), defaultdict[str, list[str]](list)
    for kind, where, plan in cases(world):
        reached = executable(plan, where.partition(":")[0], world).reached
        plans[kind] += 1
        accepted[kind] += reached
        if reached != (kind in (RIGHT, AS_OFTEN)):
            unexpected[kind].append(where)
    assert json.loads(KEPT.read_text("utf-8"))["result"] == [
        {"kind": k, "plans": plans[k], "accepted": accepted[k], "unexpected": unexpected[k]}
        for k in (RIGHT, LACKING, AS_OFTEN, FEWER)
    ]
