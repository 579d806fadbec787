"""Loans: branches, clients, loans and instalments."""

import random
from datetime import date, timedelta
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable

_PURPOSES = ("car", "furniture", "house", "studies", "travel")
_STATUS = ("running", "running", "running", "repaid", "defaulted")


class Branch(NamedTuple):
    """A branch of the bank."""

    id: int
    name: str
    manager: str


class Client(NamedTuple):
    """Who borrows."""

    id: int
    name: str
    branch_id: int
    yearly_income: float
    phone: str | None


class Loan(NamedTuple):
    """What a client borrowed."""

    id: int
    client_id: int
    granted: date
    amount: float
    rate: float
    purpose: str
    status: str


class Instalment(NamedTuple):
    """What is to be paid back on one day."""

    id: int
    loan_id: int
    due: date
    paid: date | None
    amount: float


def build(rng: random.Random) -> Shop:
    """A small savings bank."""
    now = Calendar.drawn(rng)
    managers = words.people(5, rng)
    branches = [
        Branch(n, town, managers[n - 1]) for n, town in enumerate(words.cities(5, rng), start=1)
    ]
    clients = [
        Client(
            n,
            name,
            1 + n % 5,
            float(rng.randrange(18, 90) * 1000),
            rng.choice((f"0170 {rng.randrange(10**6):06}", None)),
        )
        for n, name in enumerate(words.people(22, rng), start=1)
    ]
    loans = [
        Loan(
            n,
            1 + (n - 1) % 22,
            now.recent(rng, 1000),
            float(rng.randrange(10, 400) * 100),
            round(rng.uniform(2, 11), 2),
            rng.choice(_PURPOSES),
            rng.choice(_STATUS),
        )
        for n in range(1, 61)
    ]
    instalments = [_instalment(n, rng, now, loans) for n in range(1, 181)]
    tables = (
        ShopTable("branches", branches),
        ShopTable("clients", clients, {"branch_id": "branches"}),
        ShopTable("loans", loans, {"client_id": "clients"}),
        ShopTable("instalments", instalments, {"loan_id": "loans"}),
    )
    return with_decisions("loans", rng, now, tables)


def _instalment(n: int, rng: random.Random, now: Calendar, loans: list[Loan]) -> Instalment:
    loan = loans[(n - 1) % 60]
    due = now.today + timedelta(rng.randint(-300, 60))
    paid = due + timedelta(rng.randint(-5, 20))
    return Instalment(
        n,
        loan.id,
        due,
        paid if paid < now.today and rng.random() > 0.2 else None,
        round(loan.amount / rng.choice((12, 24, 36)), 2),
    )
