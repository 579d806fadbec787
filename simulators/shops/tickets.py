"""Tickets: customers, agents, and what they ask for help with."""

import random
from datetime import date, timedelta
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, mean, total

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
    return Shop(
        name="tickets",
        rules=_rules(now),
        tables=(
            ShopTable("customers", customers),
            ShopTable("agents", agents),
            ShopTable("tickets", tickets, {"customer_id": "customers", "agent_id": "agents"}),
        ),
        decisions=_decisions(rng, now, customers, agents, tickets),
    )


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


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
A ticket without a date in closed is open.
The weight of a ticket is 4 if its priority is urgent, 3 if high, 2 if normal, 1 if low.
The backlog of an agent is the sum of the weights of the agent's open tickets.
The time to close a ticket is the number of days from opened to closed; open tickets have none.
Tickets without a rating do not count for the average rating.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    customers: list[Customer],
    agents: list[Agent],
    tickets: list[Ticket],
) -> list[Decision]:
    still_open = [t for t in tickets if t.closed is None]
    since = now.ago(60)
    join = (
        "FROM tickets t JOIN agents a ON a.id = t.agent_id JOIN customers c ON c.id = t.customer_id"
    )
    weight = (
        "CASE t.priority WHEN 'urgent' THEN 4 WHEN 'high' THEN 3 WHEN 'normal' THEN 2 ELSE 1 END"
    )
    return [
        Decision(
            name="relief",
            text=rng.choice(
                (
                    "Which agent needs relief because of the largest backlog?",
                    "Whose backlog is largest?",
                )
            ),
            values=total(
                (agents[t.agent_id - 1].name, float(_WEIGHTS[t.priority])) for t in still_open
            ),
            query=f"SELECT a.name {join} WHERE t.closed IS NULL GROUP BY a.id "
            f"ORDER BY SUM({weight}) DESC LIMIT 1",
            candidates="SELECT name FROM agents",
        ),
        Decision(
            name="help page",
            text=rng.choice(
                (
                    f"For which topic should we write a help page first: which had the most "
                    f"tickets opened since {since}?",
                    f"What do people ask about most since {since}?",
                )
            ),
            values=total((t.topic, 1.0) for t in tickets if t.opened >= since),
            query=f"SELECT topic FROM tickets WHERE opened >= '{since}' GROUP BY topic "
            "ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT DISTINCT topic FROM tickets",
        ),
        Decision(
            name="call customer",
            text=rng.choice(
                (
                    "Which customer should the manager call: whose open tickets have waited the "
                    "most days in all, counted from opened to today?",
                    "Add up the days that the open tickets of each customer have waited until "
                    "today. Which customer comes first?",
                )
            ),
            values=total(
                (customers[t.customer_id - 1].name, float((now.today - t.opened).days))
                for t in still_open
            ),
            query=f"SELECT c.name {join} WHERE t.closed IS NULL GROUP BY c.id "
            f"ORDER BY SUM(julianday('{now.today}') - julianday(t.opened)) DESC LIMIT 1",
            candidates="SELECT name FROM customers",
        ),
        Decision(
            name="trainer",
            text=rng.choice(
                (
                    "Which agent should train the others, going by the best average rating?",
                    "Whose tickets are rated best on average?",
                )
            ),
            values=mean(
                (agents[t.agent_id - 1].name, float(t.rating))
                for t in tickets
                if t.rating is not None
            ),
            query=f"SELECT a.name {join} WHERE t.rating IS NOT NULL GROUP BY a.id "
            "ORDER BY AVG(t.rating) DESC LIMIT 1",
            candidates="SELECT name FROM agents",
        ),
        Decision(
            name="slow team",
            text=rng.choice(
                (
                    "Which team needs another agent because it takes the longest to close a ticket "
                    "on average?",
                    "Which team is slowest, by the average time to close?",
                )
            ),
            values=mean(
                (agents[t.agent_id - 1].team, float((t.closed - t.opened).days))
                for t in tickets
                if t.closed is not None
            ),
            query=f"SELECT a.team {join} WHERE t.closed IS NOT NULL GROUP BY a.team "
            "ORDER BY AVG(julianday(t.closed) - julianday(t.opened)) DESC LIMIT 1",
            candidates="SELECT DISTINCT team FROM agents",
        ),
        Decision(
            name="premium customer",
            text=rng.choice(
                (
                    "Which premium customer had the most tickets and should get a visit?",
                    "Of the customers with the plan premium, who opened the most tickets?",
                )
            ),
            values=total(
                (customer.name, 1.0)
                for t in tickets
                if (customer := customers[t.customer_id - 1]).plan == "premium"
            ),
            query=f"SELECT c.name {join} WHERE c.plan = 'premium' GROUP BY c.id "
            "ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT name FROM customers WHERE plan = 'premium'",
        ),
    ]
