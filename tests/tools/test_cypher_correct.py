"""What the schema alone corrects in a Cypher query."""

from collections.abc import Iterator

import pytest

from planweave.tools.connect import open_database
from planweave.tools.database import Database

FILMS = """
CREATE (:Person {name: "Ada", born: 1970});
CREATE (:Movie {title: "Sea", released: 1999});
MATCH (a:Person {name: "Ada"}), (b:Movie {title: "Sea"}) CREATE (a)-[:REVIEWED {rating: 9}]->(b);
MATCH (a:Person {name: "Ada"}), (b:Movie {title: "Sea"}) CREATE (a)-[:DIRECTED {}]->(b);
"""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("films") / "films.cql"
    path.write_text(FILMS)
    database = open_database(str(path))
    yield database
    database.close()


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("MATCH (m:Movie)-[:DIRECTED]->(p:Person) RETURN p.name", (("Ada",),)),
        ("MATCH (p:Person)<-[r:REVIEWED]-(m:Movie) RETURN m.title", (("Sea",),)),
        ("MATCH (p:Person)-[r:REVIEWED]->(m:Movie) RETURN p.rating", ((9,),)),
        ("MATCH (p:Person)-[:REVIEWED]->(m:Movie) WHERE m.rating > 5 RETURN m.title", (("Sea",),)),
        ("MATCH (m:Movie)-[:REVIEWED]->(p:Person) RETURN m.born, p.rating", ((1970, 9),)),
    ],
)
def test_what_is_corrected(films: Database, query: str, rows: tuple[object, ...]) -> None:
    done = films.corrected(query)
    assert done.changes
    assert films.run(done.query).rows == rows


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (p:Person)-[:DIRECTED]->(m:Movie) RETURN p.name, m.title",
        "MATCH (p:Person)--(m:Movie) RETURN p.name",
        "MATCH (p:Person) RETURN p.height",
        "MATCH (a)-[:DIRECTED]->(b) RETURN b.title",
        "CREATE (x:Person)",
        "no query",
    ],
)
def test_a_sound_query_stays_and_the_rest_is_left_to_the_guard(films: Database, query: str) -> None:
    assert films.corrected(query) == (query, ())


def test_what_a_question_speaks_of(films: Database) -> None:
    assert films.linked("Who directed Sea?") == ["Values in the data: Movie.title = 'Sea'."]
