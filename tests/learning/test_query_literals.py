"""Slots for the values that a query shares with its question."""

import pytest

from learning.paths import Path
from learning.queries.literals import slotted

ASKED = 'Which node suits "Brunswick" best, and is "O\'Hara" there?'


def one(instruction: str, question: str = ASKED) -> str:
    return slotted(Path("", question, (instruction,))).instructions[0]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("SELECT home FROM country WHERE name = 'Brunswick'", "name = {{country.name}}"),
        ("SELECT 1 FROM country c WHERE 'Brunswick' = c.name", "{{country.name}} = c.name"),
        ("SELECT 1 FROM country WHERE name IN ('Brunswick')", "IN ({{country.name}})"),
        ("SELECT 1 FROM country WHERE name = 'O''Hara'", "name = {{country.name}}"),
        (
            "SELECT 1 FROM a JOIN country c ON a.x = c.x WHERE c.name = 'Brunswick'",
            "c.name = {{country.name}}",
        ),
        (
            "SELECT 1 FROM country c WHERE EXISTS (SELECT 1 FROM a WHERE c.name = 'Brunswick')",
            "c.name = {{country.name}}",
        ),
    ],
)
def test_a_value_that_the_question_names_becomes_a_slot(query: str, kept: str) -> None:
    assert kept in one(f"sql[{query}]")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 FROM country WHERE name = 'Gascony'",  # not asked about
        "SELECT 1 FROM country WHERE name LIKE 'Brunswick'",
        "SELECT 1 FROM country WHERE name IN ('Brunswick', 'Gascony')",
        "SELECT 1 FROM a JOIN b ON a.x = b.x WHERE name = 'Brunswick'",  # of a or of b?
        "SELECT 1 FROM (SELECT 1 AS name) t WHERE t.name = 'Brunswick'",  # no table
        "SELECT 'Brunswick' FROM country WHERE name = 'Brunswick'",  # also no comparison
        "SELECT 1 FROM country WHERE name = 'Brunswick' OR home = 'Brunswick'",  # two columns
        "SELECT FROM WHERE 'Brunswick",
    ],
)
def test_what_is_in_doubt_stays(query: str) -> None:
    assert one(f"sql[{query}]") == f"sql[{query}]"


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("MATCH (c:Country {name: 'Brunswick'}) RETURN c", "{name: {{Country.name}}}"),
        ('MATCH (c:Country) WHERE c.name = "Brunswick" RETURN c', "c.name = {{Country.name}} "),
        (r"MATCH (c:Country) WHERE c.name = 'O\'Hara' RETURN c", "c.name = {{Country.name}} "),
    ],
)
def test_cypher_too(query: str, kept: str) -> None:
    assert kept in one(f"cypher[{query}]")


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (c:Country) WHERE c.name = 'Gascony' RETURN c",
        "MATCH (c) WHERE c.name = 'Brunswick' RETURN c",
        "MATCH (c:Country {name: 'Brunswick'}) RETURN 'Brunswick'",
    ],
)
def test_what_is_in_doubt_stays_in_cypher_too(query: str) -> None:
    assert one(f"cypher[{query}]") == f"cypher[{query}]"


def test_other_instructions_stay_and_slots_are_not_slotted_again() -> None:
    for text in ("Search[Brunswick]", "finish[decision]", "sql[SELECT {{country.name}}]"):
        assert one(text) == text
    once = one("sql[SELECT home FROM country WHERE name = 'Brunswick']")
    assert one(once) == once
