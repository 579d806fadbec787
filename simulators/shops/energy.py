"""Energy: buildings, meters, readings and tariffs."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, total

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
    return Shop(
        name="energy",
        rules=_rules(now),
        tables=(
            ShopTable("buildings", buildings),
            ShopTable("tariffs", tariffs),
            ShopTable("meters", meters, {"building_id": "buildings", "tariff_id": "tariffs"}),
            ShopTable("readings", readings, {"meter_id": "meters"}),
        ),
        decisions=_decisions(rng, now, buildings, tariffs, meters, readings),
    )


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
A reading without kwh has failed. Failed readings do not count for use, cost or emission.
The cost of a reading is kwh * price of its tariff.
The emission of a reading is kwh * co2 of its tariff.
The specific use of a building is the sum of its kwh divided by its floor_area.
A reading belongs to the year of its month.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    buildings: list[Building],
    tariffs: list[Tariff],
    meters: list[Meter],
    readings: list[Reading],
) -> list[Decision]:
    read = [
        (reading, reading.kwh, buildings[meter.building_id - 1], tariffs[meter.tariff_id - 1])
        for reading in readings
        if reading.kwh is not None and (meter := meters[reading.meter_id - 1])
    ]
    failed = [meters[r.meter_id - 1] for r in readings if r.kwh is None]
    join = (
        "FROM readings r JOIN meters m ON m.id = r.meter_id "
        "JOIN buildings b ON b.id = m.building_id JOIN tariffs t ON t.id = m.tariff_id"
    )
    this_year = f"r.month >= '{now.start}'"
    return [
        Decision(
            name="insulate",
            text=rng.choice(
                (
                    "Which building should we insulate first: which has the highest specific use "
                    "this year?",
                    "In which building is the specific use highest this year?",
                )
            ),
            values=total(
                (building.name, kwh / building.floor_area)
                for reading, kwh, building, _ in read
                if reading.month >= now.start
            ),
            query=f"SELECT b.name {join} WHERE {this_year} GROUP BY b.id "
            "ORDER BY SUM(r.kwh) / b.floor_area DESC LIMIT 1",
            candidates="SELECT name FROM buildings",
        ),
        Decision(
            name="solar roof",
            text=rng.choice(
                (
                    "Which building should get a solar roof because its electricity costs the "
                    "most?",
                    "Where do we pay the most for electricity?",
                )
            ),
            values=total(
                (building.name, kwh * tariff.price)
                for _, kwh, building, tariff in read
                if tariff.kind == "electricity"
            ),
            query=f"SELECT b.name {join} WHERE t.kind = 'electricity' GROUP BY b.id "
            "ORDER BY SUM(r.kwh * t.price) DESC LIMIT 1",
            candidates="SELECT name FROM buildings",
        ),
        Decision(
            name="failing meters",
            text=rng.choice(
                (
                    "In which building should an electrician look at the meters, going by the most "
                    "failed readings?",
                    "Which building has the most failed readings?",
                )
            ),
            values=total((buildings[meter.building_id - 1].name, 1.0) for meter in failed),
            query=f"SELECT b.name {join} WHERE r.kwh IS NULL GROUP BY b.id "
            "ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT name FROM buildings",
        ),
        Decision(
            name="dirtiest kind",
            text=rng.choice(
                (
                    "Which kind of energy should we replace because it causes the most emission "
                    "this year?",
                    "Which kind of energy is responsible for most of this year's emission?",
                )
            ),
            values=total(
                (tariff.kind, kwh * tariff.co2)
                for reading, kwh, _, tariff in read
                if reading.month >= now.start
            ),
            query=f"SELECT t.kind {join} WHERE {this_year} GROUP BY t.kind "
            "ORDER BY SUM(r.kwh * t.co2) DESC LIMIT 1",
            candidates="SELECT kind FROM tariffs",
        ),
        Decision(
            name="adviser",
            text=rng.choice(
                (
                    "Which city should the energy adviser visit, the one with the highest cost "
                    "this year?",
                    "In which city is this year's energy cost highest?",
                )
            ),
            values=total(
                (building.city, kwh * tariff.price)
                for reading, kwh, building, tariff in read
                if reading.month >= now.start
            ),
            query=f"SELECT b.city {join} WHERE {this_year} GROUP BY b.city "
            "ORDER BY SUM(r.kwh * t.price) DESC LIMIT 1",
            candidates="SELECT DISTINCT city FROM buildings",
        ),
        Decision(
            name="best saver",
            text=rng.choice(
                (
                    "Which building should get the award for saving: which one used the least kwh "
                    "this year?",
                    "Which building has used the fewest kwh this year?",
                )
            ),
            values=total(
                (building.name, kwh)
                for reading, kwh, building, _ in read
                if reading.month >= now.start
            ),
            smallest=True,
            query=f"SELECT b.name {join} WHERE {this_year} GROUP BY b.id "
            "ORDER BY SUM(r.kwh) LIMIT 1",
            candidates="SELECT name FROM buildings",
        ),
    ]
