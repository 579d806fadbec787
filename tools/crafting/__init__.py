"""Plans to obtain a thing in a crafting world: reads them and carries them out."""

from planweave.tools.crafting.execution import executable as executable
from planweave.tools.crafting.plan import CraftingStep as CraftingStep
from planweave.tools.crafting.plan import parse_plan as parse_plan
from planweave.tools.crafting.world import CraftingAction as CraftingAction
from planweave.tools.crafting.world import CraftingWorld as CraftingWorld
from planweave.tools.crafting.world import load_world as load_world
