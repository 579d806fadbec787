"""Sales: customers, products, orders and their lines."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, total

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
    return Shop(
        name="sales",
        rules=_rules(now),
        tables=(
            ShopTable("customers", customers),
            ShopTable("products", products),
            ShopTable("orders", orders, {"customer_id": "customers"}),
            ShopTable("order_lines", lines, {"order_id": "orders", "product_id": "products"}),
        ),
        decisions=_decisions(rng, now, customers, products, orders, lines),
    )


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
The revenue of an order line is quantity * unit_price * (1 - discount). A missing discount is 0.
The profit of an order line is its revenue minus quantity * unit_cost.
Orders with the status cancelled do not count for revenue, profit or units sold.
The loyalty bonus goes to the customer with the highest revenue this year.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    customers: list[Customer],
    products: list[Product],
    orders: list[Order],
    lines: list[OrderLine],
) -> list[Decision]:
    def revenue(line: OrderLine) -> float:
        price = products[line.product_id - 1].unit_price
        return line.quantity * price * (1 - (line.discount or 0))

    sold = [
        (line, products[line.product_id - 1], order)
        for line in lines
        if (order := orders[line.order_id - 1]).status != "cancelled"
    ]
    join = (
        "FROM order_lines l JOIN orders o ON o.id = l.order_id "
        "JOIN products p ON p.id = l.product_id JOIN customers c ON c.id = o.customer_id"
    )
    worth = "l.quantity * p.unit_price * (1 - COALESCE(l.discount, 0))"
    return [
        Decision(
            name="best product",
            text=rng.choice(
                (
                    "Which product should we advertise, the one that brings in the most revenue?",
                    "We want to put our best seller by revenue in the window. Which product is it?",
                )
            ),
            values=total((product.name, revenue(line)) for line, product, _ in sold),
            query=f"SELECT p.name {join} WHERE o.status <> 'cancelled' "
            f"GROUP BY p.id ORDER BY SUM({worth}) DESC LIMIT 1",
            candidates="SELECT name FROM products",
        ),
        Decision(
            name="loyalty bonus",
            text=rng.choice(
                (
                    "Which customer should get the loyalty bonus?",
                    "Who gets this year's loyalty bonus?",
                )
            ),
            values=total(
                (customers[order.customer_id - 1].name, revenue(line))
                for line, _, order in sold
                if order.ordered >= now.start
            ),
            query=f"SELECT c.name {join} WHERE o.status <> 'cancelled' "
            f"AND o.ordered >= '{now.start}' GROUP BY c.id ORDER BY SUM({worth}) DESC LIMIT 1",
            candidates="SELECT name FROM customers",
        ),
        Decision(
            name="weakest category",
            text=rng.choice(
                (
                    "Which product category earns the least profit and should be reviewed?",
                    "One category is to be given up: the one with the lowest profit. Which one?",
                )
            ),
            values=total(
                (product.category, revenue(line) - line.quantity * product.unit_cost)
                for line, product, _ in sold
            ),
            smallest=True,
            query=f"SELECT p.category {join} WHERE o.status <> 'cancelled' "
            f"GROUP BY p.category ORDER BY SUM({worth} - l.quantity * p.unit_cost) LIMIT 1",
            candidates="SELECT DISTINCT category FROM products",
        ),
        Decision(
            name="city with open orders",
            text=rng.choice(
                (
                    "In which city should our van start: where do most open orders come from?",
                    "Which city has the most orders that are still open?",
                )
            ),
            values=total(
                (customers[order.customer_id - 1].city, 1.0)
                for order in orders
                if order.status == "open"
            ),
            query="SELECT c.city FROM orders o JOIN customers c ON c.id = o.customer_id "
            "WHERE o.status = 'open' GROUP BY c.city ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT DISTINCT city FROM customers",
        ),
        Decision(
            name="slow seller",
            text=rng.choice(
                (
                    "Which product should we take out of the range because we sold the fewest "
                    "units of it?",
                    "The product with the fewest units sold has to go. Which is it?",
                )
            ),
            values=total((product.name, float(line.quantity)) for line, product, _ in sold),
            smallest=True,
            query=f"SELECT p.name {join} WHERE o.status <> 'cancelled' "
            "GROUP BY p.id ORDER BY SUM(l.quantity) LIMIT 1",
            candidates="SELECT name FROM products",
        ),
        Decision(
            name="cancellations",
            text=rng.choice(
                (
                    "Which customer should we call because they cancelled the most orders?",
                    "Who cancels most often and should be asked why?",
                )
            ),
            values=total(
                (customers[order.customer_id - 1].name, 1.0)
                for order in orders
                if order.status == "cancelled"
            ),
            query="SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id "
            "WHERE o.status = 'cancelled' GROUP BY c.id ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT name FROM customers",
        ),
    ]
