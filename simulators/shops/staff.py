"""Staff: departments, employees, absences and reviews."""

import random
from datetime import date
from typing import NamedTuple

from planweave.simulators.shops import words
from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable, mean, total

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
    return Shop(
        name="staff",
        rules=_rules(now),
        tables=(
            ShopTable("departments", departments),
            ShopTable("employees", employees, {"department_id": "departments"}),
            ShopTable("absences", absences, {"employee_id": "employees"}),
            ShopTable("reviews", reviews, {"employee_id": "employees"}),
        ),
        decisions=_decisions(rng, now, departments, employees, absences, reviews),
    )


def _rules(now: Calendar) -> str:
    return f"""\
Today is {now.today}.
An employee with a date in left_on no longer works here. Former employees do not count, unless the \
question is about those who left.
The payroll of a department is the sum of the salaries of its current employees.
A department is over budget by its payroll minus its salary_budget.
Promotion goes to the current employee with the highest average review score. A review without a \
score does not count.
An absence belongs to the year of its first_day.
"""


def _decisions(
    rng: random.Random,
    now: Calendar,
    departments: list[Department],
    employees: list[Employee],
    absences: list[Absence],
    reviews: list[Review],
) -> list[Decision]:
    current = [e for e in employees if e.left_on is None]
    here = {e.id for e in current}
    payroll = total((e.department_id, e.salary) for e in current)

    def department(employee_id: int) -> Department:
        return departments[employees[employee_id - 1].department_id - 1]

    staff = "FROM employees e JOIN departments d ON d.id = e.department_id"
    return [
        Decision(
            name="illness",
            text=rng.choice(
                (
                    "Which department needs help first: where were current employees ill for the "
                    "most days this year?",
                    "In which department do we have the most days of illness this year?",
                )
            ),
            values=total(
                (department(a.employee_id).name, float(a.days))
                for a in absences
                if a.reason == "illness" and a.first_day >= now.start and a.employee_id in here
            ),
            query=f"SELECT d.name {staff} JOIN absences a ON a.employee_id = e.id "
            f"WHERE a.reason = 'illness' AND a.first_day >= '{now.start}' AND e.left_on IS NULL "
            "GROUP BY d.id ORDER BY SUM(a.days) DESC LIMIT 1",
            candidates="SELECT name FROM departments",
        ),
        Decision(
            name="promotion",
            text=rng.choice(
                ("Who should be promoted?", "Which employee has earned the next promotion?")
            ),
            values=mean(
                (employees[r.employee_id - 1].name, r.score)
                for r in reviews
                if r.score is not None and r.employee_id in here
            ),
            query="SELECT e.name FROM employees e JOIN reviews r ON r.employee_id = e.id "
            "WHERE e.left_on IS NULL GROUP BY e.id ORDER BY AVG(r.score) DESC LIMIT 1",
            candidates="SELECT name FROM employees WHERE left_on IS NULL",
        ),
        Decision(
            name="over budget",
            text=rng.choice(
                (
                    "Which department should stop hiring because it is over budget by the most?",
                    "Which department exceeds its salary budget most?",
                )
            ),
            values={
                d.name: payroll[d.id] - d.salary_budget for d in departments if d.id in payroll
            },
            query=f"SELECT d.name {staff} WHERE e.left_on IS NULL GROUP BY d.id "
            "ORDER BY SUM(e.salary) - d.salary_budget DESC LIMIT 1",
            candidates="SELECT name FROM departments",
        ),
        Decision(
            name="leavers",
            text=rng.choice(
                (
                    "Which department should be asked why so many leave: which one lost the most "
                    "employees?",
                    "From which department have the most people left?",
                )
            ),
            values=total((department(e.id).name, 1.0) for e in employees if e.left_on is not None),
            query=f"SELECT d.name {staff} WHERE e.left_on IS NOT NULL GROUP BY d.id "
            "ORDER BY COUNT(*) DESC LIMIT 1",
            candidates="SELECT name FROM departments",
        ),
        Decision(
            name="holidays taken",
            text=rng.choice(
                (
                    "Which current employee took the most days of holiday this year and should "
                    "cover for the others now?",
                    "Who of the current employees has had the most holiday this year?",
                )
            ),
            values=total(
                (employees[a.employee_id - 1].name, float(a.days))
                for a in absences
                if a.reason == "holiday" and a.first_day >= now.start and a.employee_id in here
            ),
            query="SELECT e.name FROM employees e JOIN absences a ON a.employee_id = e.id "
            f"WHERE a.reason = 'holiday' AND a.first_day >= '{now.start}' AND e.left_on IS NULL "
            "GROUP BY e.id ORDER BY SUM(a.days) DESC LIMIT 1",
            candidates="SELECT name FROM employees WHERE left_on IS NULL",
        ),
        Decision(
            name="best paid",
            text=rng.choice(
                (
                    "Which department pays its current employees best on average?",
                    "Where is the average salary highest?",
                )
            ),
            values=mean((department(e.id).name, e.salary) for e in current),
            query=f"SELECT d.name {staff} WHERE e.left_on IS NULL GROUP BY d.id "
            "ORDER BY AVG(e.salary) DESC LIMIT 1",
            candidates="SELECT name FROM departments",
        ),
    ]
