"""Carries out a plan from nothing, step by step, until it reaches the goal or a step fails."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from planweave.tools.crafting.plan import CraftingStep, parse_plan
from planweave.tools.crafting.world import CraftingAction, CraftingWorld


@dataclass(frozen=True, kw_only=True)
class PlanVerdict:
    """The result of a plan.

    Attributes:
        reached: Whether the goal is in the bag.
    """

    reached: bool
    steps_done: int
    reason: str


class _Inventory:
    """The available things, and the heat left in the furnace, in items that it can still smelt."""

    def __init__(self, world: CraftingWorld) -> None:
        self._world = world
        self.items: Counter[str] = Counter()
        self._heat = 0.0

    def do(self, action: CraftingAction, count: int, fuel: str) -> str:
        """Do an action often enough for ``count`` items; returns the problem, or an empty text."""
        times = ceil(count / action.count)
        if action.tools and not any(self.items[tool] for tool in action.tools):
            return f"needs {' or '.join(action.tools)}"
        for name, many in action.needs.items():
            if self.items[name] < many * times:
                return f"needs {many * times} {name}, has {self.items[name]}"
        if action.kind == "smelt" and (fuels := self._choose_fuel(action, times, fuel)) is None:
            return f"needs fuel for {times} items" + (f" from {fuel}" if fuel else "")
        self.items.subtract({name: many * times for name, many in action.needs.items()})
        if action.kind == "smelt" and fuels:
            self.items.subtract(fuels)
            self._heat += sum(self._world.fuels[one] * many for one, many in fuels.items())
        self._heat -= times if action.kind == "smelt" else 0
        self.items[action.item] += times * action.count
        return ""

    def _choose_fuel(self, action: CraftingAction, times: int, fuel: str) -> Counter[str] | None:
        """What to burn, of ``fuel`` or of anything at hand; None if there is too little."""
        fuels: Counter[str] = Counter()
        missing = times - self._heat
        for name in [fuel] if fuel else self._world.fuels:
            left = self.items[name] - action.needs.get(name, 0) * times
            units = min(left, ceil(missing / self._world.fuels[name]))
            if units > 0 and missing > 0:
                fuels[name] = units
                missing -= units * self._world.fuels[name]
        return fuels if missing <= 0 else None


def executable(plan: str | Sequence[CraftingStep], goal: str, world: CraftingWorld) -> PlanVerdict:
    """Carry out a plan from nothing and check whether it reaches its goal, an item.

    A plan may be text in the form of :func:`parse_plan`. Steps after the goal are ignored.
    """
    steps = parse_plan(plan, world) if isinstance(plan, str) else plan
    if not steps:
        return PlanVerdict(reached=False, steps_done=0, reason="The plan has no steps.")
    bag = _Inventory(world)
    for done, step in enumerate(steps):
        if problem := _carry_out(step, bag, world):
            shown = step.text or f"{'/'.join(step.kinds)} {step.count} {step.item}"
            reason = f"Step {done + 1} ({shown}) {problem}."
            return PlanVerdict(reached=False, steps_done=done, reason=reason)
        if bag.items[goal]:
            return PlanVerdict(reached=True, steps_done=done + 1, reason="")
    reason = f"All steps were done, but there is no {goal}."
    return PlanVerdict(reached=False, steps_done=len(steps), reason=reason)


def _carry_out(step: CraftingStep, bag: _Inventory, world: CraftingWorld) -> str:
    """Do a step in the first way that works; if none does, return the problem of the first way."""
    if step.idle:
        return ""
    if not step.kinds or not step.item:
        return (
            "names nothing that is known" if step.kinds else "is no action that can be understood"
        )
    ways = [a for a in world.yielding.get(step.item, []) if a.kind in step.kinds]
    if not ways and (ways := [a for a in world.sources.get(step.item, []) if a.kind in step.kinds]):
        return _take_all(ways, step, bag)
    if not ways:
        return f"cannot be done: {step.item} is not to be had this way"
    first = ""
    # If ways differ only in their yield, the most generous one is meant.
    for action in sorted(ways, key=lambda one: -one.count):
        if not (problem := bag.do(action, step.count, step.fuel)):
            return ""
        first = first or problem
    return first


def _take_all(ways: Sequence[CraftingAction], step: CraftingStep, bag: _Inventory) -> str:
    """``hunt 2 cows`` yields all products of cows; ``smelt iron_ore`` only its one product."""
    best = {a.item: a for a in sorted(ways, key=lambda one: one.count)}
    problems = [bag.do(a, step.count * a.count, step.fuel) for a in best.values()]
    return "" if "" in problems else problems[0]
