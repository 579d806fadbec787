"""The check of rankings: right ones pass; missing and reversed parts are reported."""

from cases import cases
from shop import database_of

from planweave.benchmarks.suites.check.rankings import check_rankings
from planweave.tools.sql import SqlDatabase
from planweave.tools.terms import select_relevant

RULES = """Today is 2025-06-30.
The worth of a parcel is pieces * price. Parcels with the state lost do not count.
A parcel is overdue if it has not come (no date in came) and its due day is past.
A parcel was late if it came after due.
"""
SUMMED = (
    "SELECT h.name, SUM(p.pieces * p.price) AS value "
    "FROM parcels p JOIN hauliers h ON h.id = p.haulier_id"
)
MOST_WORTH = "Which haulier brings the most worth this year?"
RIGHT = (
    f"{SUMMED} WHERE p.state <> 'lost' AND p.sent >= '2025-01-01' "
    "GROUP BY h.name ORDER BY value DESC"
)


database = database_of("""
CREATE TABLE hauliers (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE parcels (id INTEGER PRIMARY KEY, haulier_id INTEGER REFERENCES hauliers (id),
  pieces INTEGER, price REAL, state TEXT, sent DATE, due DATE, came DATE);
INSERT INTO hauliers VALUES (1, 'Ost', 'Graz'), (2, 'West', 'Linz');
INSERT INTO parcels VALUES (1, 1, 3, 2.5, 'fine', '2025-02-01', '2025-02-04', '2025-02-03'),
  (2, 2, 4, 1.5, 'lost', '2025-03-01', '2025-03-04', NULL);
""")


def test_a_ranking_that_uses_all_that_is_asked_has_no_doubt(database: SqlDatabase) -> None:
    assert database.doubts(RIGHT, MOST_WORTH, RULES) == ()


@cases(
    (" AND p.sent >= '2025-01-01'", "", "The query does not use “this year”."),
    ("p.state <> 'lost' AND ", "", "The query does not use “lost”, “state”."),
    ("<> 'lost'", "= 'lost'", "It takes 'lost' the other way round."),
    (">= '2025", "<= '2025", "It compares sent the other way round."),
    ("p.pieces * p.price", "p.pieces + p.price", "The query does not use “pieces * price”."),
    ("SUM(", "MAX(", "It takes one row of parcels for all of an option's."),
    ("h.id = p.haulier_id", "h.id = p.id", "It joins h along no key."),
    (
        "SUM(p.pieces * p.price)",
        "SUM(p.pieces * p.price * p.id)",
        "The query uses “id”, of which nothing is said.",
    ),
    ("SUM(", "AVG(", "It takes a mean, of which nothing is said."),
)
def test_a_wrong_ranking_is_doubted(
    right: str, wrong: str, doubt: str, database: SqlDatabase
) -> None:
    changed = RIGHT.replace(right, wrong)
    assert changed != RIGHT
    assert doubt in database.doubts(changed, MOST_WORTH, RULES)


@cases(
    ("Do not take anybody from Graz.", "The query does not use “Graz”."),
    ("Ignore parcels below 10 euro.", "The query does not use “10”."),
    *(
        (rule, f"The query does not use “{rule}”.")
        for rule in (
            "Blocked hauliers get nothing.",
            "A haulier needs two parcels to be eligible.",
            "Parcels are ignored if nobody asked for them.",
            "A haulier is not considered if he complained.",
            "Foreign parcels have twice the worth.",
            "Skip test data.",
            "New hauliers are given priority.",
        )
    ),
)
def test_a_rule_that_the_query_does_not_follow_is_a_doubt(
    rule: str, doubt: str, database: SqlDatabase
) -> None:
    assert database.doubts(RIGHT, MOST_WORTH, f"{RULES}{rule}") == (doubt,)


@cases(
    *("We carry parcels.", "Prices are in euro.", "If two are equal, take the first by name."),
    *("A haulier can have many parcels.", "Hauliers get paid monthly.", "Each parcel counts once."),
    *("Amounts are before tax.", "A contract lasts at least a year.", "If in doubt, ask us."),
)
def test_a_rule_that_demands_nothing_is_no_doubt(rule: str, database: SqlDatabase) -> None:
    assert database.doubts(RIGHT, MOST_WORTH, f"{RULES}{rule}") == ()


MOST_OVERDUE = "Which haulier has the most overdue parcels?"
OVERDUE = (
    "SELECT h.name, COUNT(*) AS value FROM parcels p JOIN hauliers h ON h.id = p.haulier_id "
    "WHERE p.state <> 'lost' AND p.came IS {missing} AND p.due < {day} GROUP BY h.name"
)
CLOCK = "The query asks the database's clock for the day that the rules name."


@cases(
    ("NULL", "'2025-06-30'", None),
    ("NOT NULL", "'2025-06-30'", "It takes came the other way round."),
    ("NULL", "CURRENT_DATE", CLOCK),
    ("NULL", "date('now')", CLOCK),
)
def test_missing_values_and_the_present_are_those_of_the_rules(
    missing: str, day: str, doubt: str | None, database: SqlDatabase
) -> None:
    doubts = database.doubts(OVERDUE.format(missing=missing, day=day), MOST_OVERDUE, RULES)
    assert doubt in doubts if doubt else doubts == ()


def test_a_nested_or_broken_query_is_doubted(database: SqlDatabase) -> None:
    nested = "SELECT name, (SELECT SUM(pieces) FROM parcels) AS value FROM hauliers"
    assert database.doubts(nested, MOST_WORTH, RULES)
    assert database.doubts("SELECT (", MOST_WORTH, RULES) == ("The query cannot be read.",)


def test_a_rule_matters_only_if_its_term_is_mentioned() -> None:
    rules, present = select_relevant(RULES, "Who is late most often?", ("parcels", "hauliers"))
    assert present == "Today is 2025-06-30."
    assert [rule.term for rule in rules if rule.term] == [("late",)]


def test_right_rankings_of_the_shops_pass_and_few_wrong_ones() -> None:
    found = check_rankings(5, ("deliveries", "staff", "stock"))
    right = [one for one in found if one.pair.supported]
    wrong = [one for one in found if not one.pair.supported]
    assert sum(one.passed for one in right) >= 0.8 * len(right)
    assert sum(one.passed for one in wrong) <= 0.06 * len(wrong)
    assert len(wrong) > 40
