"""Sales: customers, products, orders and their lines."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable

_STATUS = ("paid", "paid", "paid", "paid", "open", "cancelled")
_CATEGORIES = ("kitchen", "living", "office", "garden")


class Customer(NamedTuple):
    """Who buys."""

    id: int
    name: str
    city: str
    joined: date
    email: str | None


class Product(NamedTuple):
    """What is sold."""

    id: int
    name: str
    category: str
    unit_price: float
    unit_cost: float


class Order(NamedTuple):
    """What a customer ordered on one day."""

    id: int
    customer_id: int
    ordered: date
    status: str


class OrderLine(NamedTuple):
    """One product of an order."""

    id: int
    order_id: int
    product_id: int
    quantity: int
    discount: float | None


def build(rng: random.Random) -> Shop:
    """A shop for furniture and household goods."""
    now = Calendar.drawn(rng)
    towns = words.cities(5, rng)
    customers = [
        Customer(
            n,
            name,
            rng.choice(towns),
            now.ago(rng.randrange(600, 2500)),
            rng.choice((f"{name.split()[0].lower()}{n}@example.org", None)),
        )
        for n, name in enumerate(words.people(12, rng), start=1)
    ]
    products = []
    for n, name in enumerate(words.products(10, rng), start=1):
        price = round(rng.uniform(8, 120), 2)
        cost = round(price * rng.uniform(0.4, 0.9), 2)
        products.append(Product(n, name, _CATEGORIES[n % 4], price, cost))
    orders = [
        Order(n, rng.randint(1, 12), now.recent(rng), rng.choice(_STATUS)) for n in range(1, 91)
    ]
    lines = [
        OrderLine(
            n,
            1 + (n - 1) % 90,
            rng.randint(1, 10),
            rng.randint(1, 9),
            rng.choice((None, None, 0.05, 0.1, 0.2)),
        )
        for n in range(1, 191)
    ]
    tables = (
        ShopTable("customers", customers),
        ShopTable("products", products),
        ShopTable("orders", orders, {"customer_id": "customers"}),
        ShopTable("order_lines", lines, {"order_id": "orders", "product_id": "products"}),
    )
    return with_decisions("sales", rng, now, tables)
