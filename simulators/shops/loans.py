"""Loans: branches, clients, loans and instalments."""

import random
from datetime import date, timedelta
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, mean, total

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
    return Shop(
        name="loans",
        rules=_rules(now),
        tables=(
            ShopTable("branches", branches),
            ShopTable("clients", clients, {"branch_id": "branches"}),
            ShopTable("loans", loans, {"client_id": "clients"}),
            ShopTable("instalments", instalments, {"loan_id": "loans"}),
        ),
        decisions=_decisions(rng, now, branches, clients, loans, instalments),
    )


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


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
The yearly interest of a loan is amount * rate / 100. Only loans with the status running earn \
interest.
An instalment is overdue if it is not paid (no date in paid) and was due before today.
An instalment was paid late if its date in paid is after due.
The default rate of a branch is its number of defaulted loans divided by its number of loans.
The burden of a client is the sum of the amounts of the client's running loans divided by \
yearly_income.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    branches: list[Branch],
    clients: list[Client],
    loans: list[Loan],
    instalments: list[Instalment],
) -> list[Decision]:
    running = [loan for loan in loans if loan.status == "running"]
    owed = total((loan.client_id, loan.amount) for loan in running)

    def branch(loan: Loan) -> str:
        return branches[clients[loan.client_id - 1].branch_id - 1].name

    lent = "FROM loans l JOIN clients c ON c.id = l.client_id JOIN branches b ON b.id = c.branch_id"
    due = f"{lent} JOIN instalments i ON i.loan_id = l.id"
    return [
        Decision(
            name="overdue client",
            text=rng.choice(
                (
                    "Which client should we contact first: who has the highest sum of overdue "
                    "instalments?",
                    "Who owes us the most in overdue instalments?",
                )
            ),
            values=total(
                (clients[loans[i.loan_id - 1].client_id - 1].name, i.amount)
                for i in instalments
                if i.paid is None and i.due < now.today
            ),
            query=f"SELECT c.name {due} WHERE i.paid IS NULL AND i.due < '{now.today}' "
            "GROUP BY c.id ORDER BY SUM(i.amount) DESC LIMIT 1",
            candidates="SELECT name FROM clients",
        ),
        Decision(
            name="risky branch",
            text=rng.choice(
                (
                    "Which branch should stop granting loans, the one with the highest default "
                    "rate?",
                    "At which branch is the default rate highest?",
                )
            ),
            values=mean((branch(loan), float(loan.status == "defaulted")) for loan in loans),
            query=f"SELECT b.name {lent} GROUP BY b.id "
            "ORDER BY AVG(l.status = 'defaulted') DESC LIMIT 1",
            candidates="SELECT name FROM branches",
        ),
        Decision(
            name="best purpose",
            text=rng.choice(
                (
                    "Loans for which purpose should we advertise, going by the most yearly "
                    "interest?",
                    "Which purpose earns us the most yearly interest?",
                )
            ),
            values=total((loan.purpose, loan.amount * loan.rate / 100) for loan in running),
            query="SELECT purpose FROM loans WHERE status = 'running' GROUP BY purpose "
            "ORDER BY SUM(amount * rate / 100) DESC LIMIT 1",
            candidates="SELECT DISTINCT purpose FROM loans",
        ),
        Decision(
            name="burdened client",
            text=rng.choice(
                (
                    "Which client should not get another loan because of the heaviest burden?",
                    "Whose burden is heaviest?",
                )
            ),
            values={
                client.name: owed[client.id] / client.yearly_income
                for client in clients
                if client.id in owed
            },
            query=f"SELECT c.name {lent} WHERE l.status = 'running' GROUP BY c.id "
            "ORDER BY SUM(l.amount) / c.yearly_income DESC LIMIT 1",
            candidates="SELECT name FROM clients",
        ),
        Decision(
            name="busy branch",
            text=rng.choice(
                (
                    "Which branch should get another adviser: which one granted the highest sum of "
                    "loans this year?",
                    "Which branch has lent the most this year, by the sum of the amounts?",
                )
            ),
            values=total(
                (branch(loan), loan.amount) for loan in loans if loan.granted >= now.start
            ),
            query=f"SELECT b.name {lent} WHERE l.granted >= '{now.start}' GROUP BY b.id "
            "ORDER BY SUM(l.amount) DESC LIMIT 1",
            candidates="SELECT name FROM branches",
        ),
        Decision(
            name="late payers",
            text=rng.choice(
                (
                    "At which branch should we send reminders earlier, because most instalments "
                    "were paid late there?",
                    "Which branch has the most instalments that were paid late?",
                )
            ),
            values=total(
                (branch(loans[i.loan_id - 1]), 1.0)
                for i in instalments
                if i.paid is not None and i.paid > i.due
            ),
            query=f"SELECT b.name {due} WHERE i.paid > i.due GROUP BY b.id "
            "ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT name FROM branches",
        ),
    ]
