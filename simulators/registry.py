"""The scenarios by name: our own, registered ones, and those of installed packages."""

from planweave.registry import Registry
from planweave.simulators import building, distribution, locating, sourcing
from planweave.simulators.scenario import Scenario

SCENARIOS: Registry[Scenario] = Registry(
    "scenario", accepts=lambda found: isinstance(found, Scenario)
)
"""Every scenario; the entry-point group is ``planweave.scenarios``."""


def register(scenario: Scenario) -> Scenario:
    """Make a scenario known by its name."""
    return SCENARIOS.add(scenario.name, scenario)


for _own in (building, distribution, locating, sourcing):
    register(_own.SCENARIO)


def scenario(name: str) -> Scenario:
    """The scenario of that name; see :meth:`Registry.get`."""
    return SCENARIOS.get(name)
