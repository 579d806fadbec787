"""A query as a ranking: one row for each option, the best first."""

from cases import cases
from shop import database_of

from planweave.tools.database import Option
from planweave.tools.sql import SqlDatabase

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
