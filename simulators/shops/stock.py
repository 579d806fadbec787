"""Stock: products, where they lie, and how fast they sell."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable

_CATEGORIES = ("bath", "hall", "kitchen", "terrace")
_LOCATIONS = ("Aisle A", "Aisle B", "Aisle C", "Back room", "Cellar")


class Supplier(NamedTuple):
    """Who supplies products."""

    id: int
    name: str
    lead_days: int


class Product(NamedTuple):
    """What is kept in stock."""

    id: int
    name: str
    category: str
    supplier_id: int
    unit_cost: float
    reorder_level: int
    discontinued: int


class StockItem(NamedTuple):
    """So many of a product in one place."""

    id: int
    product_id: int
    location: str
    quantity: int
    counted: date | None


class Sale(NamedTuple):
    """So many of a product sold on one day."""

    id: int
    product_id: int
    sold: date
    quantity: int


def build(rng: random.Random) -> Shop:
    """A shop with goods in five places."""
    now = Calendar.drawn(rng)
    suppliers = [
        Supplier(n, name, rng.randint(2, 30))
        for n, name in enumerate(words.companies(4, rng), start=1)
    ]
    products = [
        Product(
            n,
            name,
            _CATEGORIES[n % 4],
            1 + n % 4,
            round(rng.uniform(2, 80), 2),
            rng.randrange(20, 120, 5),
            int(n > 11),
        )
        for n, name in enumerate(words.products(15, rng), start=1)
    ]
    items = [
        StockItem(
            n,
            1 + (n - 1) % 15,
            rng.choice(_LOCATIONS),
            rng.randint(2, 60),
            now.recent(rng, 200) if rng.random() > 0.3 else None,
        )
        for n in range(1, 36)
    ]
    sales = [
        Sale(n, 1 + (n - 1) % 15, now.recent(rng, 100), rng.randint(1, 12)) for n in range(1, 181)
    ]
    tables = (
        ShopTable("suppliers", suppliers),
        ShopTable("products", products, {"supplier_id": "suppliers"}),
        ShopTable("stock", items, {"product_id": "products"}),
        ShopTable("sales", sales, {"product_id": "products"}),
    )
    return with_decisions("stock", rng, now, tables)
