"""The shops by name."""

from collections.abc import Mapping
from types import MappingProxyType

from planweave.errors import BadInput
from planweave.simulators.shops import (
    deliveries,
    energy,
    loans,
    rooms,
    sales,
    staff,
    stock,
    tickets,
)
from planweave.simulators.shops.shop import Build, Shop, generate

_BUILDS: Mapping[str, Build] = MappingProxyType(
    {
        "sales": sales.build,
        "deliveries": deliveries.build,
        "staff": staff.build,
        "stock": stock.build,
        "rooms": rooms.build,
        "tickets": tickets.build,
        "loans": loans.build,
        "energy": energy.build,
    }
)
DOMAINS: tuple[str, ...] = tuple(_BUILDS)
"""Names of the shops."""


def shop(name: str, seed: int) -> Shop:
    """The shop of that name; another seed gives other names, rows and truths."""
    if name not in _BUILDS:
        raise BadInput(f"There is no shop {name!r}.", fix=f"Known are {', '.join(DOMAINS)}.")
    return generate(name, _BUILDS[name], seed)
