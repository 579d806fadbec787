"""A query as a ranking, one row for each option, the best first; and what of it is doubted."""

from cases import cases
from shop import database_of

from planweave.benchmarks.suites.check.rankings import check_rankings
from planweave.tools.database import Option
from planweave.tools.sql import SqlDatabase
from planweave.tools.terms import select_relevant

WARDS = """
CREATE TABLE ward (id INTEGER PRIMARY KEY, name TEXT, beds INTEGER);
CREATE TABLE visit (id INTEGER PRIMARY KEY, ward_id INTEGER REFERENCES ward (id), hours REAL,
    rate REAL, began DATE);
CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ward VALUES (1, 'Eye', 10), (2, 'Ear', 5), (3, 'Skin', 1);
INSERT INTO visit VALUES (1, 1, 2, 10, '2024-01-01'), (2, 1, 3, NULL, '2024-01-05'),
    (3, 2, 4, 10, '2024-02-01'), (4, 3, 1, 10, '2024-02-02');
INSERT INTO town VALUES (1, 'Eye'), (2, 'Ear'), (3, 'Skin'), (4, 'Rye');
"""
WARD = Option("ward", "name")


wards = database_of(WARDS)


def ranked(
    wards: SqlDatabase, query: str, *, highest: bool = True, missing: dict[str, float] | None = None
) -> list[tuple[object, ...]]:
    made = wards.ranking(query, WARD, highest=highest, missing=missing or {})
    return list(wards.run(wards.corrected(made).query).rows)


@cases(
    "SELECT w.name, SUM(v.hours) AS value FROM ward w JOIN visit v ON w.id = v.ward_id "
    "GROUP BY w.name ORDER BY value ASC LIMIT 1",
    "SELECT SUM(hours) FROM visit",
    "SELECT v.id, v.hours FROM visit v ORDER BY v.hours LIMIT 1",
    "SELECT ward.name, SUM(visit.hours) AS value FROM visit AS v ORDER BY 2",
)
def test_each_option_has_its_sum_and_the_best_is_first(query: str, wards: SqlDatabase) -> None:
    assert ranked(wards, query) == [("Eye", 5.0), ("Ear", 4.0), ("Skin", 1.0)]


def test_the_lowest_may_be_best(wards: SqlDatabase) -> None:
    assert ranked(wards, "SELECT SUM(hours) FROM visit", highest=False)[0] == ("Skin", 1.0)


def test_a_value_of_the_option_itself_is_taken_once(wards: SqlDatabase) -> None:
    query = "SELECT w.beds - v.hours AS value FROM ward w JOIN visit v ON w.id = v.ward_id"
    assert ranked(wards, query)[0] == ("Eye", 5.0)


def test_null_counts_as_the_rules_say(wards: SqlDatabase) -> None:
    query = "SELECT SUM(hours * rate) FROM visit"
    assert ranked(wards, query)[0] == ("Ear", 40.0)
    assert ranked(wards, query, missing={"rate": 10.0})[0] == ("Eye", 50.0)


def test_a_query_without_a_value_is_unchanged(wards: SqlDatabase) -> None:
    query = "SELECT name FROM ward"
    assert wards.ranking(query, WARD, highest=True, missing={}) == query


def test_options_are_found_in_the_column_that_the_question_names(wards: SqlDatabase) -> None:
    options = ("Eye", "Ear", "Skin")
    assert wards.option(options, "Which ward is best?") == Option("ward", "name")
    assert wards.option(options, "Which town is best?") == Option("town", "name")
    assert wards.option(("Eye", "Elsewhere"), "Which ward is best?") is None
    assert wards.option((), "What is the id of the longest visit?") == Option("visit", "id", True)
    assert wards.option((), "Is it worth it?") is None


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


parcels = database_of("""
CREATE TABLE hauliers (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE parcels (id INTEGER PRIMARY KEY, haulier_id INTEGER REFERENCES hauliers (id),
  pieces INTEGER, price REAL, state TEXT, sent DATE, due DATE, came DATE);
INSERT INTO hauliers VALUES (1, 'Ost', 'Graz'), (2, 'West', 'Linz');
INSERT INTO parcels VALUES (1, 1, 3, 2.5, 'fine', '2025-02-01', '2025-02-04', '2025-02-03'),
  (2, 2, 4, 1.5, 'lost', '2025-03-01', '2025-03-04', NULL);
""")


def test_a_ranking_that_uses_all_that_is_asked_has_no_doubt(parcels: SqlDatabase) -> None:
    assert parcels.doubts(RIGHT, MOST_WORTH, RULES) == ()


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
    right: str, wrong: str, doubt: str, parcels: SqlDatabase
) -> None:
    changed = RIGHT.replace(right, wrong)
    assert changed != RIGHT
    assert doubt in parcels.doubts(changed, MOST_WORTH, RULES)


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
    rule: str, doubt: str, parcels: SqlDatabase
) -> None:
    assert parcels.doubts(RIGHT, MOST_WORTH, f"{RULES}{rule}") == (doubt,)


@cases(
    *("We carry parcels.", "Prices are in euro.", "If two are equal, take the first by name."),
    *("A haulier can have many parcels.", "Hauliers get paid monthly.", "Each parcel counts once."),
    *("Amounts are before tax.", "A contract lasts at least a year.", "If in doubt, ask us."),
)
def test_a_rule_that_demands_nothing_is_no_doubt(rule: str, parcels: SqlDatabase) -> None:
    assert parcels.doubts(RIGHT, MOST_WORTH, f"{RULES}{rule}") == ()


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
    missing: str, day: str, doubt: str | None, parcels: SqlDatabase
) -> None:
    doubts = parcels.doubts(OVERDUE.format(missing=missing, day=day), MOST_OVERDUE, RULES)
    assert doubt in doubts if doubt else doubts == ()


def test_a_nested_or_broken_query_is_doubted(parcels: SqlDatabase) -> None:
    nested = "SELECT name, (SELECT SUM(pieces) FROM parcels) AS value FROM hauliers"
    assert parcels.doubts(nested, MOST_WORTH, RULES)
    assert parcels.doubts("SELECT (", MOST_WORTH, RULES) == ("The query cannot be read.",)


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
