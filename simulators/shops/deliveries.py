"""Deliveries: suppliers, warehouses, and what arrived when."""

import random
from datetime import date, timedelta
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, mean, total

PER_DAY, PER_UNIT = 20.0, 0.5


class Supplier(NamedTuple):
    """Who delivers."""

    id: int
    name: str
    country: str
    since: date
    phone: str | None


class Warehouse(NamedTuple):
    """Where goods arrive."""

    id: int
    name: str
    city: str


class Product(NamedTuple):
    """What is bought."""

    id: int
    name: str


class Delivery(NamedTuple):
    """What was ordered from a supplier, and when it arrived."""

    id: int
    supplier_id: int
    warehouse_id: int
    product_id: int
    ordered: date
    promised: date
    delivered: date | None
    units: int
    unit_price: float
    damaged: int


def build(rng: random.Random) -> Shop:
    """A company that buys from several suppliers."""
    now = Calendar.drawn(rng)
    suppliers = [
        Supplier(
            n,
            name,
            rng.choice(("DE", "DK", "FR", "IT", "PL")),
            now.ago(rng.randrange(900, 4000)),
            rng.choice((f"+49 30 {rng.randrange(10**6):06}", None)),
        )
        for n, name in enumerate(words.companies(8, rng), start=1)
    ]
    towns = words.cities(4, rng)
    warehouses = [
        Warehouse(n, f"{side} {town}", town)
        for n, (side, town) in enumerate(
            zip(("North", "Harbour", "East", "Central"), towns, strict=True), start=1
        )
    ]
    products = [Product(n, name) for n, name in enumerate(words.products(9, rng), start=1)]
    lateness = [rng.uniform(-3, 4) for _ in suppliers]
    prices = [rng.uniform(4, 60) for _ in products]
    deliveries = [_delivery(n, rng, now, lateness, prices) for n in range(1, 141)]
    return Shop(
        name="deliveries",
        rules=_rules(now),
        tables=(
            ShopTable("suppliers", suppliers),
            ShopTable("warehouses", warehouses),
            ShopTable("products", products),
            ShopTable(
                "deliveries",
                deliveries,
                {
                    "supplier_id": "suppliers",
                    "warehouse_id": "warehouses",
                    "product_id": "products",
                },
            ),
        ),
        decisions=_decisions(rng, now, suppliers, warehouses, products, deliveries),
    )


def _delivery(
    n: int, rng: random.Random, now: Calendar, lateness: list[float], prices: list[float]
) -> Delivery:
    supplier, product = rng.randrange(8), rng.randrange(9)
    ordered = now.recent(rng, 300)
    promised = ordered + timedelta(rng.randint(7, 21))
    arrived = promised + timedelta(round(rng.gauss(lateness[supplier], 3)))
    units = rng.randint(10, 120)
    return Delivery(
        n,
        supplier + 1,
        rng.randint(1, 4),
        product + 1,
        ordered,
        promised,
        arrived if arrived < now.today and rng.random() > 0.12 else None,
        units,
        round(prices[product] * rng.uniform(0.9, 1.1), 2),
        max(0, round(units * rng.gauss(0, 0.05))),
    )


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
A delivery has arrived if it has a date in delivered; the others are still to come.
A delivery is late if it arrived after the promised day. Each day late costs \
{PER_DAY:g} + {PER_UNIT:g} * units.
A delivery is on time if it arrived on the promised day or before. Only deliveries that have \
arrived count for the share on time.
A delivery is overdue if it has not arrived and its promised day is past.
The value of a delivery is units * unit_price.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    suppliers: list[Supplier],
    warehouses: list[Warehouse],
    products: list[Product],
    deliveries: list[Delivery],
) -> list[Decision]:
    arrived = [(d, d.delivered) for d in deliveries if d.delivered]
    to_come = [d for d in deliveries if d.delivered is None]
    by_supplier = "FROM deliveries d JOIN suppliers s ON s.id = d.supplier_id"
    late = "julianday(d.delivered) - julianday(d.promised)"
    return [
        Decision(
            name="drop supplier",
            text=rng.choice(
                (
                    "Which supplier should we drop? The one whose lateness costs us the most.",
                    "We will part with the supplier whose late deliveries cost most. Which one?",
                )
            ),
            values=total(
                (
                    suppliers[d.supplier_id - 1].name,
                    max(0, (day - d.promised).days) * (PER_DAY + PER_UNIT * d.units),
                )
                for d, day in arrived
            ),
            query=f"SELECT s.name {by_supplier} WHERE d.delivered > d.promised GROUP BY s.id "
            f"ORDER BY SUM(({late}) * ({PER_DAY:g} + {PER_UNIT:g} * d.units)) DESC LIMIT 1",
            candidates="SELECT name FROM suppliers",
        ),
        Decision(
            name="punctual supplier",
            text=rng.choice(
                (
                    "Which supplier should get the next contract, going by the share of deliveries "
                    "on time?",
                    "Who is our most punctual supplier, by the share of deliveries on time?",
                )
            ),
            values=mean(
                (suppliers[d.supplier_id - 1].name, float(day <= d.promised)) for d, day in arrived
            ),
            query=f"SELECT s.name {by_supplier} WHERE d.delivered IS NOT NULL GROUP BY s.id "
            "ORDER BY AVG(d.delivered <= d.promised) DESC LIMIT 1",
            candidates="SELECT name FROM suppliers",
        ),
        Decision(
            name="busy warehouse",
            text=rng.choice(
                (
                    "Which warehouse needs more people because most units are still to come there?",
                    "At which warehouse are the most units still to arrive?",
                )
            ),
            values=total((warehouses[d.warehouse_id - 1].name, float(d.units)) for d in to_come),
            query="SELECT w.name FROM deliveries d JOIN warehouses w ON w.id = d.warehouse_id "
            "WHERE d.delivered IS NULL GROUP BY w.id ORDER BY SUM(d.units) DESC LIMIT 1",
            candidates="SELECT name FROM warehouses",
        ),
        Decision(
            name="damage",
            text=rng.choice(
                (
                    "Which supplier should we complain to: which one delivered the most damaged "
                    "units?",
                    "Whose goods arrive damaged most, counted in damaged units?",
                )
            ),
            values=total((suppliers[d.supplier_id - 1].name, float(d.damaged)) for d in deliveries),
            query=f"SELECT s.name {by_supplier} GROUP BY s.id ORDER BY SUM(d.damaged) DESC LIMIT 1",
            candidates="SELECT name FROM suppliers",
        ),
        Decision(
            name="second source",
            text=rng.choice(
                (
                    "For which product should we look for a second source? Take the one with the "
                    "highest value of deliveries ordered this year.",
                    "On which product did we spend most, by the value of what we ordered this "
                    "year?",
                )
            ),
            values=total(
                (products[d.product_id - 1].name, d.units * d.unit_price)
                for d in deliveries
                if d.ordered >= now.start
            ),
            query="SELECT p.name FROM deliveries d JOIN products p ON p.id = d.product_id "
            f"WHERE d.ordered >= '{now.start}' GROUP BY p.id "
            "ORDER BY SUM(d.units * d.unit_price) DESC LIMIT 1",
            candidates="SELECT name FROM products",
        ),
        Decision(
            name="overdue delivery",
            text=rng.choice(
                (
                    "Which overdue delivery should we chase first? Take the one of the highest "
                    "value and answer with its id.",
                    "What is the id of the most valuable overdue delivery?",
                )
            ),
            values={str(d.id): d.units * d.unit_price for d in to_come if d.promised < now.today},
            query="SELECT id FROM deliveries WHERE delivered IS NULL "
            f"AND promised < '{now.today}' ORDER BY units * unit_price DESC LIMIT 1",
        ),
    ]
