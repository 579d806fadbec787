"""Rooms: buildings, rooms, teams and their bookings."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, mean, total

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
    return Shop(
        name="rooms",
        rules=_rules(now),
        tables=(
            ShopTable("buildings", buildings),
            ShopTable("rooms", rooms, {"building_id": "buildings"}),
            ShopTable("teams", teams),
            ShopTable("bookings", bookings, {"room_id": "rooms", "team_id": "teams"}),
        ),
        decisions=_decisions(rng, now, buildings, rooms, teams, bookings),
    )


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
Bookings with the status cancelled do not count, unless the question is about cancellations.
The rent of a booking is hours * hourly_rate of its room.
The fill rate of a booking is people / seats of its room. A booking without a number of people has \
no fill rate.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    buildings: list[Building],
    rooms: list[Room],
    teams: list[Team],
    bookings: list[Booking],
) -> list[Decision]:
    held = [(b, rooms[b.room_id - 1]) for b in bookings if b.status == "held"]
    join = (
        "FROM bookings b JOIN rooms r ON r.id = b.room_id JOIN teams t ON t.id = b.team_id "
        "JOIN buildings h ON h.id = r.building_id"
    )
    month = now.ago(60)
    return [
        Decision(
            name="close room",
            text=rng.choice(
                (
                    "Which room should we close because it was booked for the fewest hours this "
                    "year?",
                    "One room has to close: the one with the fewest booked hours this year. Which?",
                )
            ),
            values=total((room.name, float(b.hours)) for b, room in held if b.day >= now.start),
            smallest=True,
            query=f"SELECT r.name {join} WHERE b.status = 'held' AND b.day >= '{now.start}' "
            "GROUP BY r.id ORDER BY SUM(b.hours) LIMIT 1",
            candidates="SELECT name FROM rooms",
        ),
        Decision(
            name="own room",
            text=rng.choice(
                (
                    "Which team should be offered a room of its own because it pays the most rent?",
                    "Which team is our best tenant by rent?",
                )
            ),
            values=total(
                (teams[b.team_id - 1].name, b.hours * room.hourly_rate) for b, room in held
            ),
            query=f"SELECT t.name {join} WHERE b.status = 'held' GROUP BY t.id "
            "ORDER BY SUM(b.hours * r.hourly_rate) DESC LIMIT 1",
            candidates="SELECT name FROM teams",
        ),
        Decision(
            name="best building",
            text=rng.choice(
                (
                    "Which building should we renovate first, the one that brings in the most rent "
                    "this year?",
                    "In which building is this year's rent highest?",
                )
            ),
            values=total(
                (buildings[room.building_id - 1].name, b.hours * room.hourly_rate)
                for b, room in held
                if b.day >= now.start
            ),
            query=f"SELECT h.name {join} WHERE b.status = 'held' AND b.day >= '{now.start}' "
            "GROUP BY h.id ORDER BY SUM(b.hours * r.hourly_rate) DESC LIMIT 1",
            candidates="SELECT name FROM buildings",
        ),
        Decision(
            name="too large",
            text=rng.choice(
                (
                    "Which room is too large for its use: which has the lowest average fill rate?",
                    "Which room should be divided in two, going by the lowest average fill rate?",
                )
            ),
            values=mean(
                (room.name, b.people / room.seats) for b, room in held if b.people is not None
            ),
            smallest=True,
            query=f"SELECT r.name {join} WHERE b.status = 'held' AND b.people IS NOT NULL "
            "GROUP BY r.id ORDER BY AVG(1.0 * b.people / r.seats) LIMIT 1",
            candidates="SELECT name FROM rooms",
        ),
        Decision(
            name="cancelling team",
            text=rng.choice(
                (
                    "Which team should pay a deposit because it has cancelled the most bookings?",
                    "Which team cancels most often?",
                )
            ),
            values=total(
                (teams[b.team_id - 1].name, 1.0) for b in bookings if b.status == "cancelled"
            ),
            query=f"SELECT t.name {join} WHERE b.status = 'cancelled' GROUP BY t.id "
            "ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT name FROM teams",
        ),
        Decision(
            name="projector",
            text=rng.choice(
                (
                    f"Which room should get the new projector, the one with the most people in "
                    f"bookings since {month}?",
                    f"Through which room did the most people pass since {month}?",
                )
            ),
            values=total(
                (room.name, float(b.people))
                for b, room in held
                if b.day >= month and b.people is not None
            ),
            query=f"SELECT r.name {join} WHERE b.status = 'held' AND b.day >= '{month}' "
            "GROUP BY r.id ORDER BY SUM(b.people) DESC LIMIT 1",
            candidates="SELECT name FROM rooms",
        ),
    ]
