"""Staff: departments, employees, absences and reviews."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.asked import with_decisions
from planweave.simulators.shops.shop import Calendar, Shop, ShopTable

_DEPARTMENTS = (
    *("Accounting", "Design", "Development", "Export", "Legal", "Logistics", "Marketing"),
    *("Production", "Purchasing", "Quality", "Research", "Support"),
)


class Department(NamedTuple):
    """A department with what it may pay in salaries."""

    id: int
    name: str
    city: str
    salary_budget: float


class Employee(NamedTuple):
    """Who works, or worked, in a department."""

    id: int
    name: str
    department_id: int
    hired: date
    left_on: date | None
    salary: float


class Absence(NamedTuple):
    """Days on which an employee was away."""

    id: int
    employee_id: int
    first_day: date
    days: int
    reason: str


class Review(NamedTuple):
    """How an employee was judged in a year."""

    id: int
    employee_id: int
    year: int
    score: float | None


def build(rng: random.Random) -> Shop:
    """A company of six departments."""
    now = Calendar.drawn(rng)
    employees = [
        Employee(
            n,
            name,
            1 + (n - 1) % 6 if n <= 12 else rng.randint(1, 6),
            now.ago(rng.randrange(700, 4000)),
            now.recent(rng, 500) if rng.random() < 0.25 else None,
            float(rng.randrange(28, 75) * 1000),
        )
        for n, name in enumerate(words.people(36, rng), start=1)
    ]
    towns = words.cities(3, rng)
    departments = []
    for n, name in enumerate(rng.sample(_DEPARTMENTS, 6), start=1):
        paid = sum(e.salary for e in employees if e.department_id == n and e.left_on is None)
        budget = round(paid * rng.uniform(0.85, 1.2) + 1000, -3)
        departments.append(Department(n, name, towns[n % 3], budget))
    absences = [
        Absence(
            n,
            1 + (n - 1) % 36,
            now.recent(rng),
            rng.randint(1, 12),
            rng.choice(("illness", "holiday", "holiday", "training")),
        )
        for n in range(1, 181)
    ]
    reviews = [
        Review(
            36 * back + e.id,
            e.id,
            now.year - back,
            round(rng.uniform(1.5, 5), 1) if rng.random() > 0.1 else None,
        )
        for back in range(3)
        for e in employees
    ]
    tables = (
        ShopTable("departments", departments),
        ShopTable("employees", employees, {"department_id": "departments"}),
        ShopTable("absences", absences, {"employee_id": "employees"}),
        ShopTable("reviews", reviews, {"employee_id": "employees"}),
    )
    return with_decisions("staff", rng, now, tables)
