"""The form of a pattern in the prompt for a graph query."""

import pytest
from shop import database_of

from planweave.nodes.support.pattern_form import pattern_form
from planweave.tools import Database

SERVICES = """
CREATE (:Service {name: "web"});
CREATE (:Team {name: "Otter"});
MATCH (a:Service), (b:Service) CREATE (a)-[:DEPENDS_ON {}]->(b);
MATCH (a:Team), (b:Service) CREATE (a)-[:OWNS {}]->(b);
"""


services = database_of(SERVICES, "cql")


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which services are not owned by any team?", "WHERE NOT (x)-"),
        ("Which teams don't own a service?", "WHERE NOT (x)-"),
        ("Who has never broken a service?", "WHERE NOT (x)-"),
        ("Which services are not written in Rust and are old?", "WHERE NOT (x)-"),
        ("Which services are not discontinued?", ""),
        ("Which service is called 'has no name'?", ""),
        ("On what does web depend, directly or transitively?", "[:DEPENDS_ON*1..]"),
        ("What can be reached from web in at most three steps?", "[:DEPENDS_ON*1..3]"),
        ("What can be reached from web over 2 to 4 DEPENDS_ON links?", "[:DEPENDS_ON*2..4]"),
        ("Which services does Otter own?", ""),
    ],
)
def test_what_is_often_wrong_has_a_form(services: Database, question: str, form: str) -> None:
    said = pattern_form(question, services)
    assert form in said
    assert bool(form) is bool(said)
