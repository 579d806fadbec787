"""Plans to obtain a thing in a crafting world: read them, carry them out, or make a right one."""

from planweave.tools.crafting.execution import PlanVerdict, executable
from planweave.tools.crafting.plan import CraftingStep, parse_plan
from planweave.tools.crafting.planner import make_plan, ranks
from planweave.tools.crafting.world import Action, CraftingWorld, load_world

__all__ = [
    "Action",
    "CraftingStep",
    "CraftingWorld",
    "PlanVerdict",
    "executable",
    "load_world",
    "make_plan",
    "parse_plan",
    "ranks",
]
