"""Tickets: customers, agents, and what they ask for help with."""

import random
from datetime import date, timedelta
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable

_WEIGHTS = {"urgent": 4, "high": 3, "normal": 2, "low": 1}
_TOPICS = ("billing", "delivery", "login", "printing", "returns", "warranty")


class Customer(NamedTuple):
    """Who asks for help."""

    id: int
    name: str
    plan: str


class Agent(NamedTuple):
    """Who helps."""

    id: int
    name: str
    team: str
    started: date


class Ticket(NamedTuple):
    """One request for help."""

    id: int
    customer_id: int
    agent_id: int
    topic: str
    priority: str
    opened: date
    closed: date | None
    rating: int | None


def build(rng: random.Random) -> Shop:
    """A help desk of three teams."""
    now = Calendar.drawn(rng)
    customers = [
        Customer(n, name, rng.choice(("basic", "plus", "premium")))
        for n, name in enumerate(words.companies(12, rng), start=1)
    ]
    agents = [
        Agent(n, name, ("Blue", "Green", "Red")[n % 3], now.ago(rng.randrange(600, 3000)))
        for n, name in enumerate(words.people(9, rng), start=1)
    ]
    tickets = [_ticket(n, rng, now) for n in range(1, 161)]
    tables = (
        ShopTable("customers", customers),
        ShopTable("agents", agents),
        ShopTable("tickets", tickets, {"customer_id": "customers", "agent_id": "agents"}),
    )
    return with_decisions("tickets", rng, now, tables)


def _ticket(n: int, rng: random.Random, now: Calendar) -> Ticket:
    opened = now.recent(rng, 240)
    closed: date | None = opened + timedelta(rng.randint(0, 40))
    if closed is None or closed >= now.today or rng.random() < 0.2:
        closed = None
    return Ticket(
        n,
        rng.randint(1, 12),
        1 + (n - 1) % 9 if n <= 45 else rng.randint(1, 9),
        rng.choice(_TOPICS),
        rng.choice((*_WEIGHTS, "normal", "low")),
        opened,
        closed,
        rng.randint(1, 5) if closed and rng.random() > 0.3 else None,
    )
