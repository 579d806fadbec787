"""Rooms: buildings, rooms, teams and their bookings."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable

_TEAMS = (
    *("Audit", "Board", "Choir", "Design", "Drama", "Events", "Finance", "Legal", "Museum"),
    *("Press", "Research", "Sales", "Sports", "Theatre", "Training", "Youth"),
)
_SIDES = ("Bakery", "Gate House", "Harbour Hall", "New Wing", "North House", "Old Mill", "Station")
_STATUS = ("held", "held", "held", "cancelled")


class Building(NamedTuple):
    """A house with rooms."""

    id: int
    name: str
    city: str
    opened: int


class Room(NamedTuple):
    """A room for rent."""

    id: int
    name: str
    building_id: int
    seats: int
    hourly_rate: float


class Team(NamedTuple):
    """Who books rooms."""

    id: int
    name: str
    contact: str | None


class Booking(NamedTuple):
    """A room for a team on one day."""

    id: int
    room_id: int
    team_id: int
    day: date
    hours: int
    people: int | None
    status: str


def build(rng: random.Random) -> Shop:
    """A house of meeting rooms for rent."""
    now = Calendar.drawn(rng)
    towns = words.cities(2, rng)
    buildings = [
        Building(n, name, towns[n % 2], rng.randint(1950, 2015))
        for n, name in enumerate(rng.sample(_SIDES, 4), start=1)
    ]
    rooms = [
        Room(n, name, 1 + n % 4, rng.randrange(6, 60, 2), float(rng.randrange(8, 60)))
        for n, name in enumerate(words.rooms(10, rng), start=1)
    ]
    contacts = words.people(8, rng)
    teams = [
        Team(n, name, rng.choice((contacts[n - 1], None)))
        for n, name in enumerate(rng.sample(_TEAMS, 8), start=1)
    ]
    bookings = []
    for n in range(1, 161):
        room = rooms[(n - 1) % 10] if n <= 30 else rng.choice(rooms)
        people = rng.randint(1, room.seats) if rng.random() > 0.1 else None
        day = now.this_year(rng) if n <= 30 else now.recent(rng, 400)
        status = "held" if n <= 30 else rng.choice(_STATUS)
        bookings.append(
            Booking(n, room.id, rng.randint(1, 8), day, rng.randint(1, 8), people, status)
        )
    tables = (
        ShopTable("buildings", buildings),
        ShopTable("rooms", rooms, {"building_id": "buildings"}),
        ShopTable("teams", teams),
        ShopTable("bookings", bookings, {"room_id": "rooms", "team_id": "teams"}),
    )
    return with_decisions("rooms", rng, now, tables)
