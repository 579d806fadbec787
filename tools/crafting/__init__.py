"""Plans to obtain a thing in a crafting world: read them and carry them out."""

from planweave.tools.crafting.execution import PlanVerdict, executable
from planweave.tools.crafting.plan import CraftingStep, parse_plan
from planweave.tools.crafting.world import Action, CraftingWorld, load_world

__all__ = [
    "Action",
    "CraftingStep",
    "CraftingWorld",
    "PlanVerdict",
    "executable",
    "load_world",
    "parse_plan",
]
