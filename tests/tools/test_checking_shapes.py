"""Rows of another shape than the question asks for are not shown in green."""

from collections.abc import Sequence

import pytest
from cases import cases

from planweave.benchmarks.suites.check.pairs import query_fact
from planweave.memory import Value
from planweave.tools.checking import check_rows
from planweave.tools.checking.queries import read_query
from planweave.tools.sql import SqlDatabase

ONE: list[list[Value]] = [["Ann", 3]]
SOME: list[list[Value]] = [["Ann", 3], ["Bob", 2]]
SALES = "SELECT name, SUM(amount) AS total FROM sale"
DAYS = "SELECT name, julianday(paid) - julianday(due) AS days FROM bill"
BEST = "SELECT name, amount FROM sale ORDER BY amount DESC LIMIT 1"
TOP = "SELECT amount FROM sale ORDER BY amount DESC LIMIT 1"
AVERAGE = "SELECT name, AVG(amount) FROM sale GROUP BY name"
SMALL = "SELECT name, AVG(amount) FROM sale WHERE amount > 4 GROUP BY name"
CREW = "SELECT COUNT(*), AVG(crew_no) FROM ship"
MEAN = "SELECT AVG(amount) FROM sale WHERE name IN ('Ann', 'Bob')"
NEVER = "SELECT name FROM client WHERE id NOT IN (SELECT client FROM payment)"
PER_SHIP = "SELECT AVG(n) FROM (SELECT ship, COUNT(*) AS n FROM crew GROUP BY ship)"


def reason(question: str, rows: Sequence[Sequence[Value]], query: str, *, trusted: bool) -> str:
    named = [*read_query(query).expressions]
    columns = named if len(named) == len(rows[0]) else [f"c{n}" for n in range(len(rows[0]))]
    fact = query_fact(1, columns, rows, query)
    fact["agreement"] = 1.0
    return check_rows(fact, question, trusted=trusted).reason


@cases(
    ("Amounts by name, highest first", ONE, f"{SALES} ORDER BY 2 DESC LIMIT 1", "Nothing says why"),
    ("For each name, the highest amount?", ONE, BEST, "The question asks about several"),
    ("How many days was each bill late?", [["Ann", -3]], DAYS, "A length of time is negative"),
    ("Who has the highest amount?", [["Ann", None]], TOP, "A value is missing"),
    ("Total of each name?", [["Ann", 3], ["Bob", None]], f"{SALES} GROUP BY 1", "A value is miss"),
    ("Who wrote?", [["{name: Bob}"]], "MATCH (p)-[:WROTE]->() RETURN p", "The query shows whole"),
    ("What is the average number of crew per ship?", [[1]], PER_SHIP, "The average is 1"),
    ("Who sold the most?", [[3]], TOP, "The question asks who"),
    (
        "Count the names.",
        [["Ann"]],
        "SELECT DISTINCT name FROM sale",
        "The question asks for",
    ),
    ("What is the average sale?", SOME, AVERAGE, "The question asks for one number"),
    (
        "What is the oldest boat?",
        [[1975]],
        "SELECT MIN(built) FROM boat",
        "The question asks for",
    ),
    ("Who has an average sale above 4?", SOME, SMALL, "The query compares single rows with 4"),
    ("Average number of crew per ship?", [[3, 2]], CREW, "The query counts nothing for each"),
    (
        "For each name, the latest sale?",
        SOME,
        "SELECT name, sale FROM sale",
        "The query does not",
    ),
    (
        "Show unit_price and name.",
        SOME,
        "SELECT name, price FROM sale",
        "The query leaves out",
    ),
    (
        "Total per month?",
        SOME,
        f"{SALES} JOIN monthly GROUP BY 1",
        "The query does not",
    ),
    ("Total per town?", SOME, f"{SALES} GROUP BY 1", "The query does not group by town"),
    ("Who bids but never pays?", [["Ann"]], NEVER, "The question has two conditions"),
    (
        "How many films has Ann?",
        [[1]],
        "MATCH ({name: 'Ann'}) RETURN count(*) AS films",
        "The query does not co",
    ),
    ("The average for Ann and for Bob?", [[3]], MEAN, "The question asks about several groups"),
    ("Who swam 100 m?", [["Ann"]], "SELECT name FROM swim WHERE m > 1", "No cited fact takes"),
)
def test_another_shape_is_not_green(
    question: str, rows: list[list[Value]], query: str, why: str
) -> None:
    assert reason(question, rows, query, trusted=False).startswith(why)


@cases(
    ("Amounts by name, highest first", SOME, f"{SALES} GROUP BY name ORDER BY 2 DESC"),
    ("How many days was each bill late?", [["Ann", 3]], DAYS),
    ("What is the average number of crew per ship?", [[2.5]], PER_SHIP),
    ("What is the average amount of each name?", SOME, AVERAGE),
    ("What is the oldest boat?", [["Ann"]], "SELECT name FROM boat ORDER BY built LIMIT 1"),
    ("Who has an average sale above 4?", SOME, f"{AVERAGE} HAVING AVG(amount) > 4"),
    ("Total amount per month?", SOME, "SELECT month, SUM(amount) FROM sale GROUP BY month"),
    (
        "Total hours per veh_cd?",
        SOME,
        "SELECT t.veh_cd, SUM(hours) FROM tour AS t GROUP BY t.veh_cd",
    ),
    ("What is Ann's monthly rent?", [[9]], "SELECT monthly_rent FROM flat WHERE name = 'Ann'"),
    ("Ann's name and mail?", [["Ann", None]], "SELECT name, mail FROM who WHERE name = 'Ann'"),
    ("Which quarter sold most?", [[3]], "SELECT quarter FROM sale ORDER BY sold DESC LIMIT 1"),
    ("What is the highest order total?", [[9]], "SELECT MAX(total) FROM orders"),
    ("The total of sales over 4?", [[9]], "SELECT SUM(amount) AS total FROM sale WHERE amount > 4"),
    (
        "What did we sell outside Rome?",
        SOME,
        "SELECT name, n FROM a EXCEPT SELECT name, n FROM rome",
    ),
    ("For each name, the first name?", SOME, "SELECT name, first_name FROM sale"),
    ("Count the names of sales.", [[2]], "SELECT COUNT(name) FROM sale"),
    ("How many films has Ann?", [[1]], "MATCH (:P {name: 'Ann'})-->(f:Film) RETURN count(f)"),
)
def test_the_shape_that_is_asked_for_is_green(
    question: str, rows: list[list[Value]], query: str
) -> None:
    assert reason(question, rows, query, trusted=True) == "The rows of fact [1]."


SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer (id), amount REAL);
CREATE TABLE person (id INTEGER PRIMARY KEY);
CREATE TABLE visit (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer (id));
"""
SOLD = "SELECT c.name, SUM(s.amount) FROM customer AS c JOIN sale AS s ON s.customer = c.id"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> SqlDatabase:
    from planweave.tools.sql import open_sql

    file = tmp_path_factory.mktemp("shop") / "shop.sql"
    file.write_text(SHOP, encoding="utf-8")
    return open_sql(file)


@cases(
    (SOLD, ""),
    (f"{SOLD} JOIN visit AS v ON v.customer = c.id", "The query joins visit, of which"),
    (f"{SOLD} JOIN sale AS t ON t.amount = s.amount", "The query joins the rows of sale with"),
    (f"{SOLD} AND s.customer <> c.id", ""),
    ("SELECT COUNT(*) FROM customer AS c JOIN visit AS v ON v.customer = c.id", ""),
    ("SELECT SUM(s.amount) FROM sale AS s JOIN person AS p ON s.customer = p.id", ""),  # its key
    (f"{SOLD} JOIN sale AS t ON t.amount = s.amount AND t.id < s.id", ""),
    ("SELECT a.n FROM (SELECT 1 AS n) AS a JOIN (SELECT 1 AS n) AS b ON a.n = b.n", ""),
    ("no query", ""),
)
def test_odd_joins_are_doubts(query: str, doubt: str, shop: SqlDatabase) -> None:
    found = shop.odd_joins(query, "What is the amount of sales of each name?")
    assert " ".join(found).startswith(doubt)
    assert bool(found) == bool(doubt)
