import json
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from cases import cases
from cypher_cases import ENTITIES
from graph_servers import ROOT, BoltServer

from planweave.tools.cypher import open_cypher
from planweave.tools.cypher.bolt import BoltCypher
from planweave.tools.database import (
    Database,
    DatabaseUnavailable,
    Limits,
    QueryFailed,
    QueryRefused,
    QueryTimeout,
)

SECRET = "not-the-password"


@pytest.fixture(scope="module")
def graph(bolt: BoltServer) -> Iterator[Database]:
    with closing(open_cypher(bolt.url)) as database:
        yield database


@pytest.mark.server
def test_the_reader_is_refused_by_the_server_itself(graph: Database) -> None:
    """The layer below the guard: what slips through it still cannot write."""
    for query in ("CREATE (n:Goods {code: 9})", "MATCH (n:Goods) SET n.code = 9"):
        with pytest.raises((QueryRefused, QueryFailed)):
            graph.fetch(query, Limits(seconds=5))  # type: ignore[attr-defined]  # past the guard
    assert graph.run("MATCH (g:Goods {code: 9}) RETURN count(g)").rows == ((0,),)


@pytest.mark.server
def test_schema(graph: Database) -> None:
    entities = {entity.name: entity for entity in graph.schema().entities}
    assert {name: entity.count for name, entity in entities.items()} == ENTITIES
    assert (entities["Demand"].start, entities["Demand"].end) == (("Goods",), ("Building",))
    types = {field.name: field.type for field in entities["Building"].fields}
    assert types == {"closed": "BOOLEAN", "id": "INTEGER", "level": "INTEGER", "name": "STRING"}


@pytest.mark.server
def test_values_become_plain_cells(graph: Database) -> None:
    query = (
        "MATCH p = (b:Building {id: 10})-[s:Supply]->(g:Goods) RETURN p, s, "
        "date('2020-02-01') AS d, duration({days: 1}) AS t, [1, {a: true}] AS l"
    )
    result = graph.run(query)
    path, supply, *rest = result.rows[0]
    assert isinstance(path, list)
    assert path[1] == supply == {"max_supply": 10.0, "level": 1}
    assert rest == ["2020-02-01", "P1D", [1, {"a": True}]]
    assert json.dumps(result.rows)


@pytest.mark.server
@cases(
    ("MATCH (b:Building)-[:Demand]->(g:Goods) RETURN b", "(Goods)-[:Demand]->(Building)"),
    ("MATCH (g:Goods {name: 'Irom'}) RETURN g", "values are 'iron'"),
    ("MATCH (g:Good) RETURN g.name", "There is no label Good. Did you mean Goods?"),
    ("MATCH (g:Goods) RETURN g.name", ""),
)
def test_hints(query: str, hint: str, graph: Database) -> None:
    said = graph.run(query).hint
    assert hint in said if hint else not said


@pytest.mark.server
def test_errors(graph: Database, bolt: BoltServer) -> None:
    with pytest.raises(QueryFailed, match="rejects the query"):
        graph.run("MATCH (g:Goods RETURN g")
    for url in (
        f"bolt://reader:{SECRET}@{bolt.address}",
        f"bolt://{':'.join(ROOT)}@127.0.0.1:{bolt.port}/absent",
    ):
        with pytest.raises(DatabaseUnavailable) as caught:
            open_cypher(url)
        assert not {SECRET, ROOT[1]} & set(str(caught.value).split())
    closed = open_cypher(bolt.url)
    assert closed.run("RETURN 1 AS one").rows == ((1,),)
    closed.close()
    closed.close()
    with pytest.raises(DatabaseUnavailable):
        closed.run("RETURN 1 AS one")


@pytest.mark.server
def test_neo4j_is_asked_whether_a_query_reads(bolt: BoltServer) -> None:
    """This server calls every plan a write, so taken for Neo4j nothing may pass."""
    database = open_cypher(bolt.url)
    database.schema()
    database._genuine = True  # type: ignore[attr-defined]  # as its agent string would say
    with pytest.raises(QueryRefused, match="says that this query writes"):
        database.run("MATCH (g:Goods) RETURN g.name")
    database.close()


@pytest.mark.server
def test_limits(graph: Database) -> None:
    result = graph.run("UNWIND range(1, 1000) AS x RETURN x", Limits(rows=7))
    assert (len(result.rows), result.total_rows) == (7, 1000)
    result = graph.run("UNWIND range(1, 20000) AS x RETURN x", Limits(rows=7))
    assert (len(result.rows), result.total_rows, result.truncated) == (7, None, True)


@pytest.mark.server
def test_zz_an_endless_query_times_out(graph: Database) -> None:
    """This server does not keep the time limit it is given, so the tool keeps it itself."""
    before = threading.active_count()
    with pytest.raises(QueryTimeout):
        graph.run(
            "UNWIND range(1, 3000) AS x UNWIND range(1, 3000) AS y RETURN x * y",
            Limits(seconds=0.5),
        )
    assert graph.run("RETURN 1 AS one").rows == ((1,),)
    assert threading.active_count() < before + 10


@pytest.mark.server
def test_zz_the_last_running_query_closes_the_connections(bolt: BoltServer) -> None:
    """The driver may not be closed while a thread still reads from it."""
    database = BoltCypher(bolt.url)
    before = threading.enumerate()
    with pytest.raises(QueryTimeout):
        database.run(
            "UNWIND range(1, 300) AS x UNWIND range(1, 300) AS y RETURN x * y", Limits(seconds=0.01)
        )
    (left_behind,) = (thread for thread in threading.enumerate() if thread not in before)
    database.close()
    database._driver.verify_connectivity()
    left_behind.join()
    with pytest.raises(DatabaseUnavailable):
        database.run("RETURN 1 AS one")
