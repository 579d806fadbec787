"""Crafting worlds: plans are read as models write them, and carried out by the rules alone."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from crafting_planner import make_plan, ranks
from published import published

from planweave import BadInput
from planweave.tools.crafting import (
    CraftingAction,
    CraftingWorld,
    executable,
    load_world,
    parse_plan,
)

PICKAXES, TABLE = ("wooden_pickaxe", "stone_pickaxe"), ("crafting_table",)


def action(kind: str, item: str, count: int = 1, **more: Any) -> CraftingAction:
    return CraftingAction(kind=kind, item=item, count=count, **more)  # type: ignore[arg-type]


SMALL = CraftingWorld(
    actions=(
        action("mine", "oak_log", source="oak_log"),
        action("mine", "cobblestone", source="stone", tools=PICKAXES),
        action("mine", "iron_ore", source="iron_ore", tools=PICKAXES[1:]),
        action("hunt", "beef", source="cow"),
        action("hunt", "leather", source="cow"),
        action("craft", "oak_planks", 4, needs={"oak_log": 1}),
        action("craft", "stick", 4, needs={"oak_planks": 2}),
        action("craft", "crafting_table", needs={"oak_planks": 4}),
        action("craft", PICKAXES[0], needs={"oak_planks": 3, "stick": 2}, tools=TABLE),
        action("craft", PICKAXES[1], needs={"cobblestone": 3, "stick": 2}, tools=TABLE),
        action("craft", "furnace", needs={"cobblestone": 8}, tools=TABLE),
        action("smelt", "iron_ingot", needs={"iron_ore": 1}, tools=("furnace",)),
        action("craft", "map", needs={"paper": 8}),
    ),
    fuels={"oak_planks": 1.5, "stick": 0.5},
    displays={
        "oak_log": "Oak Log",
        "oak_planks": "Oak Planks",
        "filled_map": "Map",
        "map": "Chart",
    },
)
IRON = """Here is my plan.
**STEP 1:** Chop down 7 oak trees.
STEP 2. Craft 24 planks from the logs.
- Step 3: Craft a crafting table using 4 planks and place it.
STEP 4: Place the crafting table on the ground.
STEP 5: craft(stick, 4)
STEP 6: At the crafting table, make one wooden pickaxe with 3 planks and 2 sticks.
STEP 7: With the wooden pickaxe, mine 11 blocks of cobblestone.
STEP 8: {"action": "craft", "item": "furnace", "count": 1}
STEP 9: Use the crafting table to craft a stone_pickaxe
STEP 10: Mine iron ore x3
STEP 11: Smelt 3 iron ore into iron ingots, using oak planks as fuel
"""


def test_a_plan_in_many_forms_is_carried_out() -> None:
    assert executable(IRON, "iron_ingot", SMALL).reached
    numbered = "\n".join(line.partition(":")[2] for line in IRON.splitlines())
    assert not parse_plan(numbered, SMALL)
    lines = ["mine 1 oak_log", "craft 4 oak_planks"]
    assert executable("1. " + "\n2) ".join(lines), "oak_planks", SMALL).reached


@cases(
    ("Mining three Oak Logs by hand", "mine", "oak_log", 3, ""),
    ("Gather 12 x wood", "mine", "oak_log", 12, ""),
    ("Go and collect 2 pieces of oak logs", "mine", "oak_log", 2, ""),
    ("mine 3 stone", "mine", "stone", 3, ""),
    ("Mine 2 iron with the stone pickaxe", "mine", "iron_ore", 2, ""),
    ("Kill 2 cows", "hunt", "cow", 2, ""),
    ("hunt(leather, 2)", "hunt", "leather", 2, ""),
    ("craft stick x8 using 4 oak planks", "craft", "stick", 8, ""),
    ("Crafting sticks (4) from planks", "craft", "stick", 4, ""),
    ("smelt 3 iron_ore with stick as fuel", "smelt", "iron_ore", 3, "stick"),
    ("Smelt the iron ore (3) to get iron", "smelt", "iron_ingot", 3, ""),
    ("Obtain 2 sticks", "craft", "stick", 2, ""),
    ("craft a map", "craft", "map", 1, ""),
    ("craft 99999999999999999999 stick", "craft", "stick", 100_000, ""),
    ("craft a spaceship", "craft", "", 1, ""),
)
def test_sentences_are_read(text: str, kinds: str, item: str, count: int, fuel: str) -> None:
    (step,) = parse_plan(f"STEP 1: {text}", SMALL)
    assert (step.item, step.count, step.fuel) == (item, count, fuel)
    assert kinds in step.kinds


@cases(
    ("", 0, "no steps"),
    ("STEP 1: ponder", 0, "no action that can be understood"),
    ("STEP 1: craft a spaceship", 0, "names nothing that is known"),
    ("STEP 1: craft 1 stick", 0, "needs 2 oak_planks, has 0"),
    ("STEP 1: mine 1 oak_log\nSTEP 2: craft 5 oak_planks", 1, "needs 2 oak_log, has 1"),
    ("STEP 1: mine 1 stone", 0, "needs wooden_pickaxe or stone_pickaxe"),
    ("STEP 1: hunt 1 oak_planks", 0, "is not to be had this way"),
    ("STEP 1: mine 1 oak_log", 1, "there is no furnace"),
    (IRON.replace("STEP 8", "note"), 9, "needs furnace"),
    (IRON.replace("24 planks", "8 planks"), 5, "needs 3 oak_planks, has 2"),
    (IRON.replace("STEP 3", "STEP"), 0, ""),
)
def test_the_first_step_that_fails_has_a_reason(plan: str, done: int, reason: str) -> None:
    goal = "iron_ingot" if "iron" in plan else "furnace"
    verdict = executable(plan, goal, SMALL)
    if not reason:
        assert verdict.reached
        return
    assert not verdict.reached
    assert reason in verdict.reason
    assert verdict.steps_done == done


def test_steps_behind_the_goal_are_not_looked_at() -> None:
    verdict = executable("STEP 1: mine 1 oak_log\nSTEP 2: fly to the moon", "oak_log", SMALL)
    assert (verdict.reached, verdict.steps_done) == (True, 1)
    assert not executable("STEP 1: fly away\nSTEP 2: mine 1 oak_log", "oak_log", SMALL).reached


def test_heat_is_left_in_the_furnace() -> None:
    """Three planks are left, and each smelts one item and a half: the fifth item stays raw."""
    plan = IRON.replace("24 planks", "12 planks").replace("ore x3", "ore x9")
    one = "STEP: smelt 1 iron ore using oak planks as fuel\n"
    verdict = executable(plan[: plan.index("STEP 11")] + one * 9, "nine ingots", SMALL)
    assert "needs fuel for 1 items from oak_planks" in verdict.reason
    assert verdict.steps_done == 10 + 4


def test_hunting_an_animal_yields_all_it_gives() -> None:
    for goal in ("beef", "leather"):
        assert executable("STEP 1: kill a cow", goal, SMALL).reached


def test_a_world_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load_world(tmp_path)
    for name in ("actions", "items", "goals"):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as file:
            file.write('{"type": "fly"}\n')
    (tmp_path / "smelting.json").write_text("{}")
    with pytest.raises(BadInput, match="no crafting world"):
        load_world(tmp_path)
    path = tmp_path / "actions.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(BadInput, match="it is damaged"):
        load_world(tmp_path)


@pytest.fixture(scope="module")
def minecraft() -> CraftingWorld:
    return load_world(published("minecraft"))


@pytest.mark.published
def test_what_can_be_had_and_how_deep_is_as_published(minecraft: CraftingWorld) -> None:
    with gzip.open(published("minecraft/goals.jsonl.gz"), "rt") as file:
        depths = {row["item"]: row["depth"] for row in map(json.loads, file)}
    assert len(depths) == 596
    assert ranks(minecraft) == depths
    assert make_plan("bedrock", minecraft) is None


@pytest.mark.published
def test_a_right_plan_for_every_goal_is_accepted(minecraft: CraftingWorld) -> None:
    for goal in minecraft.goals:
        plan = make_plan(goal, minecraft)
        assert plan
        text = "\n".join(f"STEP {n}: {step.text}" for n, step in enumerate(plan, 1))
        shown = text.replace("_", " ").upper()
        for one in (plan, text, shown):
            assert executable(one, goal, minecraft).reached, (goal, one)


@pytest.mark.published
def test_a_plan_turned_round_is_refused(minecraft: CraftingWorld) -> None:
    """What is spoiled in one step alone: see ``tests/benchmarks/test_crafting_plans.py``."""
    plans = {goal: make_plan(goal, minecraft) or [] for goal in minecraft.goals}
    longer = {goal: plan for goal, plan in plans.items() if len(plan) > 1}
    assert len(longer) > 500
    for goal, plan in longer.items():
        assert not executable(plan[::-1], goal, minecraft).reached, (goal, plan)
