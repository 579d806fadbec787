"""Energy: buildings, meters, readings and tariffs."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable

_KINDS = ("electricity", "gas", "heat")
_USES = ("School", "Library", "Town hall", "Pool", "Museum", "Depot", "Kindergarten", "Clinic")


class Building(NamedTuple):
    """A building of the town."""

    id: int
    name: str
    city: str
    floor_area: float
    built: int | None


class Tariff(NamedTuple):
    """What a kind of energy costs and emits."""

    id: int
    kind: str
    price: float
    co2: float


class Meter(NamedTuple):
    """A meter in a building."""

    id: int
    building_id: int
    tariff_id: int
    installed: date


class Reading(NamedTuple):
    """What a meter counted in a month."""

    id: int
    meter_id: int
    month: date
    kwh: float | None


def build(rng: random.Random) -> Shop:
    """The buildings of a town and what they use."""
    now = Calendar.drawn(rng)
    towns = words.cities(3, rng)
    names = words.rooms(len(_USES), rng)
    buildings = [
        Building(
            n,
            f"{name} {use}",
            towns[n % 3],
            float(rng.randrange(300, 4000, 50)),
            rng.choice((None, rng.randint(1900, 2015))),
        )
        for n, (name, use) in enumerate(zip(names, _USES, strict=True), start=1)
    ]
    tariffs = [
        Tariff(n, kind, round(rng.uniform(0.08, 0.4), 3), round(rng.uniform(0.1, 0.5), 3))
        for n, kind in enumerate(_KINDS, start=1)
    ]
    meters = [
        Meter(n, 1 + (n - 1) % 8, 1 + (n - 1) // 8, now.ago(rng.randrange(1000, 6000)))
        for n in range(1, 25)
    ]
    months = [
        date(year, month, 1) for year in (now.year - 1, now.year) for month in (1, 2, 3, 4, 5, 6)
    ]
    usual = {
        meter.id: rng.uniform(0.5, 9) * buildings[meter.building_id - 1].floor_area / 3
        for meter in meters
    }
    readings = [
        Reading(
            n,
            meter.id,
            month,
            None if rng.random() < 0.06 else round(usual[meter.id] * rng.uniform(0.6, 1.4), 1),
        )
        for n, (meter, month) in enumerate(
            ((meter, month) for meter in meters for month in months), start=1
        )
    ]
    tables = (
        ShopTable("buildings", buildings),
        ShopTable("tariffs", tariffs),
        ShopTable("meters", meters, {"building_id": "buildings", "tariff_id": "tariffs"}),
        ShopTable("readings", readings, {"meter_id": "meters"}),
    )
    return with_decisions("energy", rng, now, tables)
