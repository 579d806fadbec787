"""Stock: products, where they lie, and how fast they sell."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, total

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
    return Shop(
        name="stock",
        rules=_rules(now),
        tables=(
            ShopTable("suppliers", suppliers),
            ShopTable("products", products, {"supplier_id": "suppliers"}),
            ShopTable("stock", items, {"product_id": "products"}),
            ShopTable("sales", sales, {"product_id": "products"}),
        ),
        decisions=_decisions(rng, now, suppliers, products, items, sales),
    )


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
The stock of a product is the sum of its quantities in all locations.
A product with discontinued = 1 is never reordered.
The gap of a product is its reorder_level minus its stock. The product with the largest gap is \
reordered first.
The value of stock is quantity * unit_cost.
Stock without a date in counted was never counted.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    suppliers: list[Supplier],
    products: list[Product],
    items: list[StockItem],
    sales: list[Sale],
) -> list[Decision]:
    on_hand = total((i.product_id, float(i.quantity)) for i in items)
    month = now.ago(30)
    stocked = "FROM stock s JOIN products p ON p.id = s.product_id"
    return [
        Decision(
            name="reorder",
            text=rng.choice(
                ("Which product should be reordered first?", "What do we have to reorder first?")
            ),
            values={
                p.name: p.reorder_level - on_hand[p.id] for p in products if not p.discontinued
            },
            query=f"SELECT p.name {stocked} WHERE p.discontinued = 0 GROUP BY p.id "
            "ORDER BY p.reorder_level - SUM(s.quantity) DESC LIMIT 1",
            candidates="SELECT name FROM products",
        ),
        Decision(
            name="tied-up money",
            text=rng.choice(
                (
                    "Which product ties up the most money, by the value of its stock?",
                    "We want to free cash. In which product is the most stock value?",
                )
            ),
            values={p.name: on_hand[p.id] * p.unit_cost for p in products},
            query=f"SELECT p.name {stocked} GROUP BY p.id "
            "ORDER BY SUM(s.quantity * p.unit_cost) DESC LIMIT 1",
            candidates="SELECT name FROM products",
        ),
        Decision(
            name="count next",
            text=rng.choice(
                (
                    "Which location should we count next? Take the one with the most stock value "
                    "that was never counted.",
                    "In which location lies the most stock value that nobody has ever counted?",
                )
            ),
            values=total(
                (i.location, i.quantity * products[i.product_id - 1].unit_cost)
                for i in items
                if i.counted is None
            ),
            query=f"SELECT s.location {stocked} WHERE s.counted IS NULL GROUP BY s.location "
            "ORDER BY SUM(s.quantity * p.unit_cost) DESC LIMIT 1",
            candidates="SELECT DISTINCT location FROM stock",
        ),
        Decision(
            name="supplier talks",
            text=rng.choice(
                (
                    "With which supplier should we negotiate: whose products did we sell the most "
                    "units of?",
                    "Which supplier's products sell best, in units?",
                )
            ),
            values=total(
                (
                    suppliers[products[s.product_id - 1].supplier_id - 1].name,
                    float(s.quantity),
                )
                for s in sales
            ),
            query="SELECT u.name FROM sales s JOIN products p ON p.id = s.product_id "
            "JOIN suppliers u ON u.id = p.supplier_id GROUP BY u.id "
            "ORDER BY SUM(s.quantity) DESC LIMIT 1",
            candidates="SELECT name FROM suppliers",
        ),
        Decision(
            name="selling category",
            text=rng.choice(
                (
                    f"Which category sold the most units since {month} and should get more space?",
                    f"Which category deserves more room, by units sold since {month}?",
                )
            ),
            values=total(
                (products[s.product_id - 1].category, float(s.quantity))
                for s in sales
                if s.sold >= month
            ),
            query="SELECT p.category FROM sales s JOIN products p ON p.id = s.product_id "
            f"WHERE s.sold >= '{month}' GROUP BY p.category ORDER BY SUM(s.quantity) DESC LIMIT 1",
            candidates="SELECT DISTINCT category FROM products",
        ),
        Decision(
            name="clearance",
            text=rng.choice(
                (
                    "Which discontinued product should go on sale first, the one with the largest "
                    "stock?",
                    "Of which discontinued product do we have the most left?",
                )
            ),
            values={p.name: on_hand[p.id] for p in products if p.discontinued},
            query=f"SELECT p.name {stocked} WHERE p.discontinued = 1 GROUP BY p.id "
            "ORDER BY SUM(s.quantity) DESC LIMIT 1",
            candidates="SELECT name FROM products WHERE discontinued = 1",
        ),
    ]
