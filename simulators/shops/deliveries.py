"""Deliveries: suppliers, warehouses, and what arrived when."""

import random
from datetime import date, timedelta
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable


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
    tables = (
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
    )
    return with_decisions("deliveries", rng, now, tables)


def _delivery(
    n: int, rng: random.Random, now: Calendar, lateness: list[float], prices: list[float]
) -> Delivery:
    supplier, product = rng.randrange(8), rng.randrange(9)
    ordered = now.recent(rng, 300)
    promised = ordered + timedelta(rng.randint(7, 21))
    arrived = promised + timedelta(round(rng.gauss(lateness[supplier], 3)))
    units, warehouse = rng.randint(10, 120), rng.randint(1, 4)
    delivered = arrived if arrived < now.today and rng.random() > 0.12 else None
    price = round(prices[product] * rng.uniform(0.9, 1.1), 2)
    damaged = max(0, round(units * rng.gauss(0, 0.05)))
    return Delivery(
        n,
        supplier + 1,
        warehouse,
        product + 1,
        ordered,
        promised,
        delivered,
        units,
        price,
        damaged if delivered else 0,
    )
