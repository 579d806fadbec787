"""The scenarios that can be asked for by name: our own, registered ones, and installed plug-ins."""

from importlib.metadata import EntryPoint, entry_points

from planweave.errors import BadInput
from planweave.simulators import building_world, distribution, locating_world, sourcing
from planweave.simulators.scenario import Scenario

GROUP = "planweave.scenarios"
"""Entry-point group: each entry names a :class:`Scenario` in an installed package."""

_scenarios: dict[str, Scenario] = {}


def register(scenario: Scenario) -> Scenario:
    """Make a scenario known by its name.

    Raises:
        BadInput: Another scenario has that name.
    """
    known = _scenarios.setdefault(scenario.name, scenario)
    if known is not scenario:
        raise BadInput(
            f"There is already a scenario named {scenario.name!r}.", mend="Give it another name."
        )
    return scenario


for _own in (locating_world, building_world, distribution, sourcing):
    register(_own.SCENARIO)


def scenario(name: str) -> Scenario:
    """The scenario of that name; installed plug-ins are loaded when first asked for.

    Raises:
        BadInput: There is none, or the plug-in cannot be loaded.
    """
    if name in _scenarios:
        return _scenarios[name]
    for entry in entry_points(group=GROUP, name=name):
        return register(_loaded(entry))
    raise BadInput(f"There is no scenario named {name!r}.", mend=f"Known are {', '.join(names())}.")


def names() -> tuple[str, ...]:
    """The names of all scenarios, installed plug-ins included."""
    return tuple(sorted({*_scenarios, *(entry.name for entry in entry_points(group=GROUP))}))


def _loaded(entry: EntryPoint) -> Scenario:
    mend = "Mend or uninstall the package that brings it."
    try:
        found = entry.load()
    except Exception as error:
        reason = type(error).__name__
        raise BadInput(
            f"The scenario {entry.value} cannot be loaded ({reason}).", mend=mend
        ) from error
    if not isinstance(found, Scenario):
        raise BadInput(f"{entry.value} is no Scenario.", mend=mend)
    return found
