"""Plans to obtain a thing in a crafting world: read them, carry them out, or make a right one."""

from planweave.tools.crafting.execution import Verdict, executable
from planweave.tools.crafting.plan import Step, parse_plan
from planweave.tools.crafting.planner import make_plan, ranks
from planweave.tools.crafting.world import Action, World, load_world

__all__ = [
    "Action",
    "Step",
    "Verdict",
    "World",
    "executable",
    "load_world",
    "make_plan",
    "parse_plan",
    "ranks",
]
