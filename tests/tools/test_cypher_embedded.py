import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kglite
import pytest
from cases import cases
from cypher_cases import ENTITIES, SCRIPT

from planweave.tools.cypher import open_cypher
from planweave.tools.cypher.embedded import EmbeddedCypher
from planweave.tools.cypher.rewriting import INVENTED, rewrite
from planweave.tools.cypher.script import load_script, split_script
from planweave.tools.cypher.tokens import tokenize
from planweave.tools.database import (
    DatabaseUnavailable,
    Limits,
    QueryFailed,
    QueryResult,
    QueryTimeout,
)

NODES = "MATCH (n) RETURN labels(n) AS l, properties(n) AS p"
LINKS = (
    "MATCH (a)-[r]->(b) RETURN a.planweave__name AS a, b.planweave__name AS b, "
    "type(r) AS t, properties(r) AS p"
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedCypher:
    path = tmp_path_factory.mktemp("graph") / "small.cql"
    path.write_text(SCRIPT)
    database = open_cypher(path)
    assert isinstance(database, EmbeddedCypher)
    return database


def opened(folder: Path, script: str) -> EmbeddedCypher:
    path = folder / "graph.cql"
    path.write_text(script)
    database = open_cypher(str(path))
    assert isinstance(database, EmbeddedCypher)
    return database


def contents(graph: kglite.KnowledgeGraph) -> list[list[str]]:
    """Nodes and relationships without the engine's own numbering."""

    def text(row: dict[str, Any]) -> str:
        own = {k: v for k, v in row["p"].items() if k not in INVENTED and v is not None}
        return repr([{k: v for k, v in row.items() if k != "p"}, sorted(own.items())])

    return [sorted(map(text, list(graph.cypher(query)))) for query in (NODES, LINKS)]


@cases(
    SCRIPT,
    'CREATE (a:A {name:"x"}); CREATE (:A {name:"y"}); CREATE (b:B);',
    'CREATE (a:A {k:-1, f:-2.5e-3, t:true, z:false, s:"", e:"a\\tb\\\\n"});',
    "CREATE (a:A {k:1}); CREATE (a:A {k:1}); CREATE (b:B {k:1});\n"
    "MATCH (x:A {k:1}), (y:B {k:1}) CREATE (y)-[r:R {w:null, v:2}]->(x);",
    # A node that comes later is not joined by what comes before.
    "CREATE (a:A {k:1}); CREATE (b:B {k:1});"
    "MATCH (x:A {k:1}), (y:B {k:1}) CREATE (x)-[:R]->(y); CREATE (a:A {k:1});",
    # Other statements keep their place.
    'CREATE (a:A {name:"x", k:1}); MATCH (a:A) SET a.k = 2; CREATE (a:A {name:"y", k:1});'
    "MATCH (x:A {k:2}), (y:A {k:1}) CREATE (x)-[:R]->(y);"
    'MATCH (x:A {k:2}) CREATE (x)-[:S {w:1}]->(:C {name:"new"});',
    'CREATE (a:A {`odd name`: "v"})\n;\n\n// CREATE (b:B);\n'
    "/* CREATE (c:C); */ CREATE (d:D {s:'//;'});",
)
def test_loading_equals_one_by_one(script: str) -> None:
    bulk, single = kglite.KnowledgeGraph(), kglite.KnowledgeGraph()
    load_script(script, bulk)
    for _, statement in split_script(script):
        single.cypher(rewrite(statement, tokenize(statement)))
    assert contents(bulk) == contents(single)


@cases(
    'CREATE (a:A {name:"x"}); CREATE (a:A {k:1});',
    'UNWIND [{name:"x"}] AS r CREATE (:A {name:r.name}); UNWIND [1] AS k CREATE (:A {k:k});',
    'CREATE (:A {name:"x"})-[:R]->(:B); MATCH (b:B) CREATE (:A {k:1})-[:R]->(b);',
)
def test_nodes_of_a_label_may_have_different_properties(script: str, tmp_path: Path) -> None:
    """Executed one by one the engine itself would refuse the second."""
    database = opened(tmp_path, script)
    rows = database.run("MATCH (a:A) RETURN a ORDER BY a.k").rows
    assert sorted(map(repr, rows)) == ["({'k': 1},)", "({'name': 'x'},)"]


@cases(
    ("CREATE (a:A {k:1});\n\nMATCH (a:A {k:1}), (b:A {k:2}) CREATE (a)-[:R]->(b);", "Line 3 "),
    ("CREATE (a:A {k:1});\nMATCH (a:A {k:2}) CREATE (a)-[:R]->(:B);", "Line 2 "),
    ("// first\nGARBAGE;", "Line 2 "),
    ('CREATE (a:A {k:1});\nCREATE (a:A {k:"x});', "Line 2 .* leaves a quote open"),
    ("CREATE (a:A {k:1});\nCREATE (a:A {k:99999999999999999999});", "Line 2 "),
)
def test_a_bad_script_names_file_and_line(script: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match=rf"{tmp_path}/graph\.cql .*{message}") as caught:
        opened(tmp_path, script)
    assert "\n" not in str(caught.value)


@cases(
    "LOAD CSV FROM 'file://{}' AS line CREATE (:A {{v: line[0]}})",
    "load  csv with headers from '{}' as line create (:A {{v: line.a}})",
    "MATCH (b:B) LOAD/* */CSV FROM '{}' AS line CREATE (:A {{v: line[0]}})",
    "`LOAD` `CSV` FROM '{}' AS line CREATE (:A {{v: line[0]}})",
    "CALL db.labels() YIELD label CREATE (:A {{v: label}})",
)
def test_a_script_reads_no_files(statement: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    with pytest.raises(DatabaseUnavailable, match=r"Line 2 .* may not read files"):
        opened(tmp_path, f"CREATE (:B {{k: 1}});\n{statement.format(secret)};")


def test_the_process_of_a_graph_opens_no_files(tmp_path: Path) -> None:
    """Even if the guard let such a query pass."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    graph = opened(tmp_path, "CREATE (:A {k: 1});")
    with pytest.raises(QueryFailed, match="cannot open"):
        graph.fetch(f"LOAD CSV FROM '{secret}' AS line RETURN line", Limits())


def test_a_script_may_speak_of_files(tmp_path: Path) -> None:
    script = "CREATE (:A {k: 1}); MATCH (a:A) SET a.note = 'LOAD CSV; CALL me';"
    rows = opened(tmp_path, script).run("MATCH (a:A) RETURN a.note").rows
    assert rows == (("LOAD CSV; CALL me",),)


def test_code_in_the_working_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tools", "kglite", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry])
    assert opened(tmp_path, "CREATE (:A {k: 1});").run("MATCH (a:A) RETURN a.k").rows == ((1,),)
    assert not (tmp_path / "run").exists()


def test_missing_or_unreadable_script(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="no graph script"):
        open_cypher(tmp_path / "none.cql")
    (tmp_path / "binary.cql").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DatabaseUnavailable, match="UTF-8"):
        open_cypher(tmp_path / "binary.cql")


def test_schema(small: EmbeddedCypher) -> None:
    entities = {entity.name: entity for entity in small.schema().entities}
    assert {name: entity.count for name, entity in entities.items()} == ENTITIES
    assert entities["Demand"].start == ("Goods",)
    assert entities["Demand"].end == ("Building",)
    fields = {field.name: field for field in entities["Goods"].fields}
    assert list(fields) == ["code", "base_price", "current_price", "name", "pop_demand"]
    assert fields["code"].key
    assert fields["current_price"].type == "FLOAT"
    assert fields["name"].samples == ("iron", "coal", "steel")
    building = {field.name: field.type for field in entities["Building"].fields}
    assert building == {"id": "INTEGER", "closed": "BOOLEAN", "level": "INTEGER", "name": "STRING"}


NO_COD = ("no property cod", "code")


@cases(
    ("MATCH (g:Good) RETURN g", "no label Good", "Goods"),
    ("MATCH (b:Building)-[:Suply]->(g) RETURN g", "no relationship type Suply", "Supply"),
    ("MATCH (g:Goods) RETURN g.id", "Goods has no property id", "of Building"),
    ("MATCH (g:Goods {id: 3}) RETURN g.name", "Goods has no property id", "of Building"),
    ("MATCH (g:Goods) WHERE g.title = 'x' RETURN g.name", "no property title", "There is"),
    ("MATCH (g:Goods) RETURN g {.name, .cod}", "no property cod", "code"),
    ("MATCH (b:Building)-[s:Supply]->(g) RETURN s.max_suply", "max_suply", "max_supply"),
    ("MATCH (b:Building)-[s:Supply]->(g) RETURN g.max_supply", "Goods has no", "of Supply"),
    ("MATCH (g:Goods) RETURN g.name RETURN", "syntax error", ""),
    ("MATCH (g:Goods) RETURN lpad(g.name)", "lpad", ""),
    ("MATCH (a:Trade_node)-[:source]->{1,3}(b) RETURN b", "rejects", "*1..3"),
    # A key in a pattern is a property, also without a label.
    ("MATCH ({cod: 0}) RETURN 1", *NO_COD),
    ("MATCH (g:Goods) WHERE EXISTS ((g)-[:Demand]->({cod: 0})) RETURN 1", *NO_COD),
    ("MATCH (g:Goods) WHERE size((g)-[:Demand]->({cod: 0})) > 0 RETURN 1", *NO_COD),
    ("MATCH p = shortestPath(({cod: 0})-[:Demand*]->(b:Building)) RETURN 1", *NO_COD),
    ("MATCH (b:Building)<-[:Demand]-({cod: 0}) RETURN collect({best: b.id})", *NO_COD),
)
def test_errors_say_what_to_do(query: str, problem: str, fix: str, small: EmbeddedCypher) -> None:
    with pytest.raises(QueryFailed) as caught:
        small.run(query)
    assert problem in caught.value.problem
    assert fix in caught.value.fix


DEMANDED = "(Goods)-[:Demand]->(Building) exists, not the reverse."
TRADED = "Only (Trade_node)-[:source]->(Trade_node) exists."
NO_IROM = "No Goods has name = 'Irom'; its 3 values are 'iron', 'coal', 'steel'."
SUPPLIED = "(Building)-[:Supply]->(Goods) exists, not the reverse."


@cases(
    ("MATCH (b:Building)-[d:Demand]->(g:Goods) RETURN b.name", DEMANDED),
    ("MATCH (g:Goods) MATCH (g)-[:Supply]->(b) RETURN g.name", SUPPLIED),
    ("MATCH (c:Country)-[:source]->(n:Trade_node) RETURN n.name", TRADED),
    ("MATCH (g:Goods {name: 'Irom'}) RETURN g.code", NO_IROM),
    ("MATCH (g:Goods) WHERE g.name = 'steal' RETURN g.code", "'steel', 'coal', 'iron'."),
    ("MATCH (g:Goods {code: 7}) RETURN g.name", "code = 7; its 3 values are 0, 1, 2."),
    ("MATCH (g:Goods {code: '7'}) RETURN g.name", "code = '7'; its 3 values are 0, 1, 2."),
    ("MATCH (g:Goods {code: 0}) RETURN g.name", ""),
    ("MATCH (g:Goods)-[r]->(b) RETURN type(r), b.id", ""),
    ("MATCH (g:Goods)-[:Demand|Supply*1..4]->(x) RETURN x.name", ""),
    ("MATCH (c:Country)-[:NodeCountry|source*2..3]->(n:Trade_node) RETURN n.name", ""),
    ("MATCH (g:Goods) WHERE g.code > 5 RETURN g.name", ""),
    ("MATCH (g:Goods)-[:Demand]-(b:Building) RETURN g.name", ""),
)
def test_an_empty_result_says_why(query: str, hint: str, small: EmbeddedCypher) -> None:
    said = small.run(query).hint
    assert said.endswith(hint) if hint else not said


@cases(
    ("WITH collect({who: g.name, best: g.code}) AS l UNWIND l AS x RETURN x.best", (0, 1, 2)),
    ("WITH collect(DISTINCT {best: g.code}) AS l UNWIND l AS x RETURN x.best", (0, 1, 2)),
    ("WITH collect(g {.name, best: g.code}) AS l UNWIND l AS x RETURN x.best", (0, 1, 2)),
    ("WITH collect({best: g.code})[1..3] AS l RETURN [x IN l | x.best][0]", (1,)),
    ("WITH coalesce(null, head([{best: g.code}])) AS x RETURN x.best", (0, 1, 2)),
    ("WITH max({best: g.code}) AS x RETURN x.best", (2,)),
    ("WITH [{best: g.code}, {best: 9}] AS l RETURN l[0].best", (0, 1, 2)),
    ("WITH [({best: g.code})] AS l UNWIND l AS x RETURN x.best", (0, 1, 2)),
    ("WITH {outer: {best: g.code}} AS m RETURN m.outer.best", (0, 1, 2)),
    ("WITH CASE WHEN g.code > 1 THEN {best: 7} ELSE {best: 8} END AS x RETURN x.best", (8, 8, 7)),
    ("WITH reduce(a = {best: 0}, c IN [1, 2] | {best: a.best + c}) AS r RETURN r.best", (3,) * 3),
    ("WITH collect({best: g.code}) AS l RETURN reduce(t = 0, g IN l | t + g.best)", (3,)),
    ("WITH count({best: g.code}) AS n RETURN n", (3,)),
)
def test_keys_of_maps_are_no_properties(
    query: str, rows: tuple[int, ...], small: EmbeddedCypher
) -> None:
    found = small.run(f"MATCH (g:Goods) WITH g ORDER BY g.code {query}").rows
    assert found == tuple((value,) for value in rows)


@cases(
    ("MATCH (:Place {name: 'C'})<-[:IN]-(:Place)<-[:BORN]-(p:Person) RETURN count(*)", 2),
    ("MATCH (p:Person)-[:BORN]->(a)--(:Place) RETURN count(*) ORDER BY count(*)", 3),
)
def test_rows_over_two_links_are_counted(query: str, count: int, tmp_path: Path) -> None:
    """By itself the engine counts 3 and 0."""
    places = "".join(f"CREATE (:Place {{name:'{name}'}});" for name in "ABCD")
    people = "".join(f"CREATE (:Person {{name:'{name}'}});" for name in "xyz")
    linked = "MATCH (a {{name:'{}'}}), (b:Place {{name:'{}'}}) CREATE (a)-[:{}]->(b);"
    born = "".join(linked.format(*pair, "BORN") for pair in ("xA", "yA", "zB"))
    within = "".join(linked.format(*pair, "IN") for pair in ("AC", "BD"))
    assert opened(tmp_path, places + people + born + within).run(query).rows == ((count,),)


IRON = {"name": "iron", "code": 0, "base_price": 40, "current_price": 31.5, "pop_demand": 0}
MINE = {"id": 10, "name": 'mine "north"; deep', "level": 1, "closed": False}
SUPPLY = {"max_supply": 10.0, "level": 1}
PATH = "MATCH p = (b:Building {id: 10})-[:Supply]->(g:Goods)"
MAP = {"id": 1, "title": "a", "type": "b"}


@cases(
    ("MATCH (g:Goods {code: 0}) RETURN g, properties(g) AS p, g {.*} AS m", (IRON, IRON, IRON)),
    ("RETURN {id: 1, title: 'a', type: 'b'} AS m, ['id', 'x'] AS l", (MAP, ["id", "x"])),
    (f"{PATH} RETURN p, relationships(p) AS r", ([MINE, SUPPLY, IRON], [SUPPLY])),
    ("RETURN date('2020-02-01') AS d, null AS n", ("2020-02-01", None)),
    ("RETURN datetime('2020-02-01T10:00:00') AS t", ("2020-02-01T10:00:00+00:00",)),
)
def test_results_are_plain(query: str, row: tuple[object, ...], small: EmbeddedCypher) -> None:
    assert small.run(query).rows == (row,)


@cases(
    ("UNWIND [{name: 'title'}] AS row CREATE (:Person {name: row.name});", False),
    ("CREATE (:Person {name: 'Ann'})-[:SAW]->(:Film {title: 'Up'});", False),
    ("CREATE (:Person:Member {name: 'Ann', title: 'Dr'});", True),
    ("UNWIND [{t: 'Dr'}] AS row CREATE (:Person {`title`: row.t});", True),
    ("CREATE (p:Person {name: 'Ann'}) SET p.title = 'Dr';", True),
    ("UNWIND [{title: 'Dr'}] AS row CREATE (p:Person) SET p += row;", True),
)
def test_labels_have_no_properties_of_others(people: str, titled: bool, tmp_path: Path) -> None:
    """A label has only the properties that the script gives it, whatever other labels have."""
    script = "CREATE (:Film {title: 'Alien'});" + people
    if "'Ann'" in people:
        script += "MATCH (p:Person {name: 'Ann'}), (f:Film) CREATE (p)-[:SAW]->(f);"
    graph = opened(tmp_path, script)
    fields = {e.name: {f.name for f in e.fields} for e in graph.schema().entities}
    assert "title" in fields["Film"]
    assert ("title" in fields["Person"]) is titled
    [[person], *_] = graph.run("MATCH (p:Person) RETURN p").rows
    assert isinstance(person, dict)
    assert ("title" in person) is titled


def test_rows_and_characters_are_cut_and_counted(small: EmbeddedCypher) -> None:
    result = small.run("UNWIND range(1, 1000) AS x RETURN x", Limits(rows=7))
    assert (len(result.rows), result.total_rows, result.truncated) == (7, 1000, True)
    result = small.run("UNWIND range(1, 20) AS x RETURN 'abcdefghij'", Limits(characters=55))
    assert (len(result.rows), result.total_rows, result.truncated) == (5, 20, True)
    result = small.run("RETURN 'a' + 'b' AS s, range(1, 9999) AS l", Limits(characters=100))
    assert result.rows[0][0] == "ab"
    assert len(str(result.rows[0][1])) == 50
    assert not small.run("RETURN 1 AS one").truncated


def test_threads_share_a_graph(small: EmbeddedCypher) -> None:
    def ask(x: int) -> QueryResult:
        return small.run(f"MATCH (g:Goods {{code: {x % 3}}}) RETURN g.code, {x} AS x")

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(ask, range(60)))
    assert [result.rows for result in results] == [((x % 3, x),) for x in range(60)]


def test_a_query_that_needs_too_much_memory_is_stopped(small: EmbeddedCypher) -> None:
    with pytest.raises(QueryTimeout, match=r"too much memory|too long"):
        small.run("RETURN size(reduce(s = 'a', x IN range(1, 60) | s + s))", Limits(seconds=20))
    assert small.run("MATCH (g:Goods) RETURN count(g)").rows == ((3,),)


@cases(True, False)
def test_the_process_ends_with_the_graph(is_closed: bool, tmp_path: Path) -> None:
    database = opened(tmp_path, "CREATE (a:A {k:1});")
    process = database._worker._process  # type: ignore[union-attr]  # just opened
    if is_closed:
        database.close()
        database.close()
    else:
        del database
        gc.collect()
    assert process.returncode is not None
