"""A right plan for everything that is available from nothing, without any model."""

from collections import Counter
from math import ceil

from planweave.tools.crafting.plan import CraftingStep
from planweave.tools.crafting.world import CraftingAction, CraftingWorld


def ranks(world: CraftingWorld) -> dict[str, int]:
    """How many levels of things each item needs before it; what is not available is left out."""
    return {item: rank for item, (rank, _) in world.best.items()}


def make_plan(goal: str, world: CraftingWorld) -> list[CraftingStep] | None:
    """Steps that obtain ``goal`` from nothing; None if it is not available.

    Each item is made by an action whose needs all rank lower. So all demands for an item are
    known once the higher ranks are done, and made in rising rank nothing is ever short.
    """
    best = world.best
    if goal not in best:
        return None
    fuel = min(world.fuels, key=lambda name: best[name][0] if name in best else len(best))
    demand, kept = Counter({goal: 1}), set[str]()
    steps: list[CraftingStep] = []
    for item in sorted(best, key=lambda name: -best[name][0]):
        count = demand[item] + (item in kept)
        if not count:
            continue
        action = best[item][1]
        times = ceil(count / action.count)
        for name, many in action.needs.items():
            demand[name] += many * times
        if action.tools:
            kept.add(_tool(action, best))
        burning = fuel if action.kind == "smelt" else ""
        if burning:
            demand[fuel] += ceil(times / world.fuels[fuel])
        text = f"{action.kind} {count} {item}" + (f" with {burning} as fuel" if burning else "")
        steps.append(
            CraftingStep(kinds=(action.kind,), item=item, count=count, fuel=burning, text=text)
        )
    return steps[::-1]


def _tool(action: CraftingAction, best: dict[str, tuple[int, CraftingAction]]) -> str:
    return min((tool for tool in action.tools if tool in best), key=lambda tool: best[tool][0])
