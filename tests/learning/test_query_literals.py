"""Slots for the values that a query shares with its question."""

from collections.abc import Sequence

from cases import cases

from planweave import BadInput
from planweave.learning.paths import TaskPath
from planweave.learning.queries.literals import add_slots, fill_for_question

ASKED = 'Which node suits "Brunswick" best, and is "O\'Hara" there?'


def one(instruction: str, question: str = ASKED) -> str:
    return add_slots(TaskPath("", question, (instruction,))).instructions[0]


@cases(
    ("sql[SELECT home FROM country WHERE name = 'Brunswick']", "name = {{country.name}}"),
    ("sql[SELECT 1 FROM country c WHERE 'Brunswick' = c.name]", "{{country.name}} = c.name"),
    ("sql[SELECT 1 FROM country WHERE name IN ('Brunswick')]", "IN ({{country.name}})"),
    ("sql[SELECT 1 FROM country WHERE name = 'O''Hara']", "name = {{country.name}}"),
    ("sql[SELECT 1 FROM a JOIN country c ON a.x = c.x WHERE c.n = 'Brunswick']", "{{country.n}}"),
    (
        "sql[SELECT 1 FROM country c WHERE EXISTS (SELECT 1 FROM a WHERE c.x = 'Brunswick')]",
        "c.x = {{country.x}}",
    ),
    ("cypher[MATCH (c:Country {name: 'Brunswick'}) RETURN c]", "{name: {{Country.name}}}"),
    ('cypher[MATCH (c:Country) WHERE c.name = "Brunswick" RETURN c]', "c.name = {{Country.name}}"),
    (r"cypher[MATCH (c:Country) WHERE c.name = 'O\'Hara' RETURN c]", "c.name = {{Country.name}}"),
)
def test_a_value_that_the_question_names_becomes_a_slot(instruction: str, kept: str) -> None:
    found = one(instruction)
    assert kept in found
    assert one(found) == found  # slots are not slotted again
    assert one(instruction[0].upper() + instruction[1:]) == found  # SQL is sql


@cases(
    "sql[SELECT 1 FROM country WHERE name = 'Gascony']",  # not asked about
    "sql[SELECT 1 FROM country WHERE name LIKE 'Brunswick']",
    "sql[SELECT 1 FROM country WHERE name IN ('Brunswick', 'Gascony')]",
    "sql[SELECT 1 FROM a JOIN b ON a.x = b.x WHERE name = 'Brunswick']",  # of a or of b?
    "sql[SELECT 1 FROM (SELECT 1 AS name) t WHERE t.name = 'Brunswick']",  # no table
    "sql[SELECT 'Brunswick' FROM country WHERE name = 'Brunswick']",  # also no comparison
    "sql[SELECT 1 FROM country WHERE name = 'Brunswick' OR home = 'Brunswick']",  # two columns
    "sql[SELECT FROM WHERE 'Brunswick]",
    "sql[SELECT 1 FROM \"home country\" WHERE name = 'Brunswick']",  # a slot has no blanks
    "cypher[MATCH (c:Country) WHERE c.name = 'Gascony' RETURN c]",
    "cypher[MATCH (c) WHERE c.name = 'Brunswick' RETURN c]",
    "cypher[MATCH (c:Country {name: 'Brunswick'}) RETURN 'Brunswick']",
    "sql[SELECT 1 FROM country WHERE name = 'Brunswick' OR name = 'O''Hara']",  # which is which?
    "Search[Brunswick]",
    "finish[decision]",
    "sql[SELECT {{country.name}}]",
)
def test_what_is_in_doubt_or_no_query_stays(instruction: str) -> None:
    assert one(instruction) == instruction


def test_another_question_fills_the_slots() -> None:
    asked: list[tuple[str, str]] = []

    def look_up(tool: str, query: str) -> Sequence[str]:
        asked.append((tool, query))
        return ["O'Hara"] if "airport" in query.lower() else ["Gascony"]

    path = [
        "sql[SELECT x FROM airport WHERE a = {{airport.name}} AND b = {{country.name}}]",
        "cypher[MATCH (a:Airport {name: {{Airport.name}}}) RETURN a]",
        "finish[decision]",
    ]
    question = 'What of "Gascony" lies at "O\'Hara"?'
    assert fill_for_question(path, question, look_up) == (
        "sql[SELECT x FROM airport WHERE a = 'O''Hara' AND b = 'Gascony']",
        r"cypher[MATCH (a:Airport {name: 'O\'Hara'}) RETURN a]",
        "finish[decision]",
    )
    assert [tool for tool, _ in asked] == ["sql", "sql", "cypher"]
    assert asked[0][1].startswith("SELECT DISTINCT name FROM airport WHERE name IN ('Gascony', ")
    assert asked[2][1].endswith("RETURN DISTINCT n.name")
    assert fill_for_question(path[2:], question, look_up) == ("finish[decision]",)


@cases([], ["Gascony", "Brunswick"], ["Burgundy"], None)
def test_a_slot_that_the_question_does_not_tell_stays_empty(found: list[str] | None) -> None:
    def look_up(_tool: str, _query: str) -> Sequence[str]:
        if found is None:
            raise BadInput("There is no such table.")
        return found

    path = ["sql[SELECT {{country.name}}]"]
    assert fill_for_question(path, "Is Gascony or Brunswick nearer?", look_up) is None
