"""Draws the rows of each shop, table by table, with the columns of ``shops.yaml``."""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple, TypeAlias

from planweave.simulators.shops.words import (
    BUILDINGS,
    CITIES,
    DEPARTMENTS,
    PEOPLE,
    PRODUCTS,
    ROOMS,
    TEAMS,
    companies,
)

Row: TypeAlias = tuple[str | float | date | None, ...]
Tables: TypeAlias = Sequence[Sequence[Row]]


class Calendar(NamedTuple):
    """The present of a shop."""

    today: date

    @classmethod
    def drawn(cls, rng: random.Random) -> "Calendar":
        """Draw a day in the second half of a recent year."""
        return cls(date(rng.choice((2023, 2024, 2025)), 7, 1) + timedelta(rng.randrange(180)))

    @property
    def start(self) -> date:
        """The first day of the year."""
        return date(self.today.year, 1, 1)

    def ago(self, days: int) -> date:
        """The day ``days`` before today."""
        return self.today - timedelta(days)

    def this_year(self, rng: random.Random) -> date:
        """Draw a day of the current year, up to yesterday."""
        return self.recent(rng, (self.today - self.start).days)

    def recent(self, rng: random.Random, days: int = 540) -> date:
        """Draw one of the last ``days`` days, up to yesterday."""
        return self.ago(1 + rng.randrange(days))


def _numbered(row: Callable[[int, str], Row], names: Sequence[str]) -> list[Row]:
    return [row(n, name) for n, name in enumerate(names, 1)]


def _sales(rng: random.Random, now: Calendar) -> Tables:
    """A shop for furniture and household goods."""
    towns = rng.sample(CITIES, 5)

    def customer(n: int, name: str) -> Row:
        town, since = rng.choice(towns), now.ago(rng.randrange(600, 2500))
        address = f"{name.partition(' ')[0].lower()}{n}@example.org"
        return n, name, town, since, rng.choice((address, None))

    customers = _numbered(customer, rng.sample(PEOPLE, 12))
    categories = ("kitchen", "living", "office", "garden")
    products = []
    for n, name in enumerate(rng.sample(PRODUCTS, 10), 1):
        price = round(rng.uniform(8, 120), 2)
        cost = round(price * rng.uniform(0.4, 0.9), 2)
        products.append((n, name, categories[n % 4], price, cost))
    status = ("paid", "paid", "paid", "paid", "open", "cancelled")
    orders = [(n, rng.randint(1, 12), now.recent(rng), rng.choice(status)) for n in range(1, 91)]
    discounts = (None, None, 0.05, 0.1, 0.2)
    lines = [
        (n, 1 + (n - 1) % 90, rng.randint(1, 10), rng.randint(1, 9), rng.choice(discounts))
        for n in range(1, 191)
    ]
    return customers, products, orders, lines


def _deliveries(rng: random.Random, now: Calendar) -> Tables:
    """A company that buys from several suppliers."""

    def supplier(n: int, name: str) -> Row:
        country, since = (
            rng.choice(("DE", "DK", "FR", "IT", "PL")),
            now.ago(rng.randrange(900, 4000)),
        )
        return n, name, country, since, rng.choice((f"+49 30 {rng.randrange(10**6):06}", None))

    suppliers = _numbered(supplier, companies(8, rng))
    sides = zip(("North", "Harbour", "East", "Central"), rng.sample(CITIES, 4), strict=True)
    warehouses = [(n, f"{side} {town}", town) for n, (side, town) in enumerate(sides, 1)]
    products = [*enumerate(rng.sample(PRODUCTS, 9), 1)]
    lateness = [rng.uniform(-3, 4) for _ in suppliers]
    prices = [rng.uniform(4, 60) for _ in products]

    def delivery(n: int) -> Row:
        supplier, product = rng.randrange(8), rng.randrange(9)
        ordered = now.recent(rng, 300)
        promised = ordered + timedelta(rng.randint(7, 21))
        arrived = promised + timedelta(round(rng.gauss(lateness[supplier], 3)))
        units, warehouse = rng.randint(10, 120), rng.randint(1, 4)
        delivered = arrived if arrived < now.today and rng.random() > 0.12 else None
        price = round(prices[product] * rng.uniform(0.9, 1.1), 2)
        damaged = max(0, round(units * rng.gauss(0, 0.05)))
        ids, dates = (supplier + 1, warehouse, product + 1), (ordered, promised, delivered)
        return (n, *ids, *dates, units, price, damaged if delivered else 0)

    return suppliers, warehouses, products, [delivery(n) for n in range(1, 141)]


def _staff(rng: random.Random, now: Calendar) -> Tables:
    """A company of six departments."""

    def employee(n: int, name: str) -> tuple[int, str, int, date, date | None, float]:
        department = 1 + (n - 1) % 6 if n <= 12 else rng.randint(1, 6)
        hired = now.ago(rng.randrange(700, 4000))
        left = now.recent(rng, 500) if rng.random() < 0.25 else None
        return n, name, department, hired, left, float(rng.randrange(28, 75) * 1000)

    employees = [employee(n, name) for n, name in enumerate(rng.sample(PEOPLE, 36), 1)]
    towns = rng.sample(CITIES, 3)
    departments = []
    for n, name in enumerate(rng.sample(DEPARTMENTS, 6), 1):
        paid = sum(pay for *_, own, _, left, pay in employees if own == n and left is None)
        budget = round(paid * rng.uniform(0.85, 1.2) + 1000, -3)
        departments.append((n, name, towns[n % 3], budget))
    reasons = ("illness", "holiday", "holiday", "training")
    absences = [
        (n, 1 + (n - 1) % 36, now.recent(rng), rng.randint(1, 12), rng.choice(reasons))
        for n in range(1, 181)
    ]

    def review(back: int, n: int) -> Row:
        grade = round(rng.uniform(1.5, 5), 1) if rng.random() > 0.1 else None
        return 36 * back + n, n, now.today.year - back, grade

    reviews = [review(back, n) for back in range(3) for n in range(1, 37)]
    return departments, employees, absences, reviews


def _stock(rng: random.Random, now: Calendar) -> Tables:
    """A shop with goods in five places."""
    suppliers = [(n, name, rng.randint(2, 30)) for n, name in enumerate(companies(4, rng), 1)]
    categories = ("bath", "hall", "kitchen", "terrace")

    def product(n: int, name: str) -> Row:
        price, least = round(rng.uniform(2, 80), 2), rng.randrange(20, 120, 5)
        return n, name, categories[n % 4], 1 + n % 4, price, least, int(n > 11)

    products = _numbered(product, rng.sample(PRODUCTS, 15))
    places = ("Aisle A", "Aisle B", "Aisle C", "Back room", "Cellar")

    def lot(n: int) -> Row:
        place, units = rng.choice(places), rng.randint(2, 60)
        counted = now.recent(rng, 200) if rng.random() > 0.3 else None
        return n, 1 + (n - 1) % 15, place, units, counted

    stock = [lot(n) for n in range(1, 36)]
    sales = [(n, 1 + (n - 1) % 15, now.recent(rng, 100), rng.randint(1, 12)) for n in range(1, 181)]
    return suppliers, products, stock, sales


def _rooms(rng: random.Random, now: Calendar) -> Tables:
    """A house of meeting rooms for rent."""
    towns = rng.sample(CITIES, 2)
    buildings = [
        (n, name, towns[n % 2], rng.randint(1950, 2015))
        for n, name in enumerate(rng.sample(BUILDINGS, 4), 1)
    ]
    rooms = [
        (n, name, 1 + n % 4, rng.randrange(6, 60, 2), float(rng.randrange(8, 60)))
        for n, name in enumerate(rng.sample(ROOMS, 10), 1)
    ]
    contacts = rng.sample(PEOPLE, 8)
    teams = [
        (n, name, rng.choice((contacts[n - 1], None)))
        for n, name in enumerate(rng.sample(TEAMS, 8), 1)
    ]
    bookings = []
    for n in range(1, 161):
        room, *_, seats, _ = rooms[(n - 1) % 10] if n <= 30 else rng.choice(rooms)
        people = rng.randint(1, seats) if rng.random() > 0.1 else None
        day = now.this_year(rng) if n <= 30 else now.recent(rng, 400)
        status = "held" if n <= 30 else rng.choice(("held", "held", "held", "cancelled"))
        bookings.append((n, room, rng.randint(1, 8), day, rng.randint(1, 8), people, status))
    return buildings, rooms, teams, bookings


def _tickets(rng: random.Random, now: Calendar) -> Tables:
    """A help desk of three teams."""
    plans = ("basic", "plus", "premium")
    topics = ("billing", "delivery", "login", "printing", "returns", "warranty")
    customers = [(n, name, rng.choice(plans)) for n, name in enumerate(companies(12, rng), 1)]
    agents = [
        (n, name, ("Blue", "Green", "Red")[n % 3], now.ago(rng.randrange(600, 3000)))
        for n, name in enumerate(rng.sample(PEOPLE, 9), 1)
    ]

    def ticket(n: int) -> Row:
        opened = now.recent(rng, 240)
        ended = opened + timedelta(rng.randint(0, 40))
        closed = None if ended >= now.today or rng.random() < 0.2 else ended
        customer = rng.randint(1, 12)
        agent = 1 + (n - 1) % 9 if n <= 45 else rng.randint(1, 9)
        topic = rng.choice(topics)
        priority = rng.choice(("urgent", "high", "normal", "low", "normal", "low"))
        grade = rng.randint(1, 5) if closed and rng.random() > 0.3 else None
        return n, customer, agent, topic, priority, opened, closed, grade

    return customers, agents, [ticket(n) for n in range(1, 161)]


def _loans(rng: random.Random, now: Calendar) -> Tables:
    """A small savings bank."""
    managers = rng.sample(PEOPLE, 5)
    branches = [(n, town, managers[n - 1]) for n, town in enumerate(rng.sample(CITIES, 5), 1)]

    def client(n: int, name: str) -> Row:
        income = float(rng.randrange(18, 90) * 1000)
        return n, name, 1 + n % 5, income, rng.choice((f"0170 {rng.randrange(10**6):06}", None))

    clients = _numbered(client, rng.sample(PEOPLE, 22))
    amounts: list[float] = []

    def loan(n: int) -> Row:
        begun = now.recent(rng, 1000)
        amounts.append(float(rng.randrange(10, 400) * 100))
        rate = round(rng.uniform(2, 11), 2)
        purpose = rng.choice(("car", "furniture", "house", "studies", "travel"))
        status = rng.choice(("running", "running", "running", "repaid", "defaulted"))
        return n, 1 + (n - 1) % 22, begun, amounts[-1], rate, purpose, status

    loans = [loan(n) for n in range(1, 61)]

    def instalment(n: int) -> Row:
        number = (n - 1) % 60
        due = now.today + timedelta(rng.randint(-300, 60))
        paid = due + timedelta(rng.randint(-5, 20))
        paid_on = paid if paid < now.today and rng.random() > 0.2 else None
        return n, number + 1, due, paid_on, round(amounts[number] / rng.choice((12, 24, 36)), 2)

    return branches, clients, loans, [instalment(n) for n in range(1, 181)]


def _energy(rng: random.Random, now: Calendar) -> Tables:
    """The buildings of a town and what they use."""
    towns = rng.sample(CITIES, 3)
    uses = "School", "Library", "Town hall", "Pool", "Museum", "Depot", "Kindergarten", "Clinic"
    named = zip(rng.sample(ROOMS, len(uses)), uses, strict=True)
    areas: list[float] = []

    def building(n: int, name: str) -> Row:
        areas.append(float(rng.randrange(300, 4000, 50)))
        return n, name, towns[n % 3], areas[-1], rng.choice((None, rng.randint(1900, 2015)))

    buildings = _numbered(building, [f"{name} {use}" for name, use in named])
    tariffs = [
        (n, kind, round(rng.uniform(0.08, 0.4), 3), round(rng.uniform(0.1, 0.5), 3))
        for n, kind in enumerate(("electricity", "gas", "heat"), 1)
    ]
    meters = [
        (n, 1 + (n - 1) % 8, 1 + (n - 1) // 8, now.ago(rng.randrange(1000, 6000)))
        for n in range(1, 25)
    ]
    usual = [rng.uniform(0.5, 9) * areas[building - 1] / 3 for _, building, *_ in meters]
    year = now.today.year
    months = [date(one, month, 1) for one in (year - 1, year) for month in range(1, 7)]
    asked = [(meter, month) for meter in range(1, 25) for month in months]

    def amount(meter: int) -> float | None:
        return None if rng.random() < 0.06 else round(usual[meter - 1] * rng.uniform(0.6, 1.4), 1)

    readings = [(n, meter, month, amount(meter)) for n, (meter, month) in enumerate(asked, 1)]
    return buildings, tariffs, meters, readings


ROWS: Mapping[str, Callable[[random.Random, Calendar], Tables]] = {
    "sales": _sales,
    "deliveries": _deliveries,
    "staff": _staff,
    "stock": _stock,
    "rooms": _rooms,
    "tickets": _tickets,
    "loans": _loans,
    "energy": _energy,
}
"""The function that draws the tables of each shop, in their order."""
