"""Properties that the embedded engine makes up: the answer is Neo4j's, or an error."""

from collections.abc import Iterator

import pytest
from cases import cases
from tally import RecordTried

from planweave.tools.cypher import open_cypher
from planweave.tools.cypher.rewriting import INVENTED
from planweave.tools.database import Database, QueryFailed

SCRIPT = """
CREATE (a:Plain {code: 1});
CREATE (a:Plain {code: 2});
CREATE (b:Named {id: 'x', name: 'n', title: 't', type: 'k', label: 'l', node_type: 'y', code: 3});
MATCH (a:Plain {code: 1}), (b:Named {id: 'x'}) CREATE (a)-[r:Bare {w: 1}]->(b);
MATCH (a:Plain {code: 2}), (b:Named {id: 'x'})
CREATE (b)-[r:Rich {id: 5, type: 'q', start: 's', end: 'e', connection_type: 'c'}]->(a);
"""
NODE, LINK = "MATCH (n:Plain {code: 1})", "MATCH (n)-[r:Bare]->(m)"
ACCESSES = [
    *("n['{}']", "(n).{}", "((n)).`{}`", "head([n]).{}", "last(collect(n)).{}", "[n][0].{}"),
    *("[n][0]['{}']", "[x IN [n] | x.{}][0]", "properties(n).{}", "properties(n)['{}']"),
    *("n {{.{}}}.{}", "{{node: n}}.node.{}", "{{node: n}}['node']['{}']", "coalesce(n, null).{}"),
    *("CASE WHEN true THEN n END.{}", "reduce(a = n, x IN [1] | a).{}", "n['{}' + '']"),
    *("head([k IN ['{}'] | n[k]])", "[k IN keys(n) WHERE k = '{}'][0]"),
    "CASE WHEN '{}' IN keys(n) THEN 1 END",
]
"""Ways to reach a property that the node has not; each gives null."""
VALUES = [
    (f"{NODE} RETURN keys(n) AS k", [["code"]]),
    (f"{NODE} RETURN size(keys(n))", [1]),
    (f"{NODE} RETURN size(keys(properties(n)))", [1]),
    (f"{NODE} RETURN properties(n)", [{"code": 1}]),
    (f"{NODE} RETURN n {{.*}} AS n", [{"code": 1}]),
    (f"{NODE} RETURN n {{.*, id: 7}} AS n", [{"code": 1, "id": 7}]),
    (f"{NODE} WITH n, 'id' AS k RETURN n[k]", [None]),
    (f"{NODE} WITH n AS m RETURN [x IN [m] | x.code]", [[1]]),
    ("MATCH (n) WITH n WHERE n['id'] IS NOT NULL RETURN count(*)", [1]),
    ("MATCH (n) WITH n WHERE (n).name IS NULL RETURN count(*)", [2]),
    ("MATCH (n) RETURN count(n.name)", [1]),
    ("MATCH (n) WITH n ORDER BY n.code RETURN collect(n.title)", [["t"]]),
    (
        "MATCH (n:Named) RETURN n.id, n.name, n.title, n.type, n.label, n.node_type",
        ["x", "n", "t", "k", "l", "y"],
    ),
    (
        "MATCH (n:Named {id: 'x', type: 'k'}) UNWIND ['id', 'title', 'code'] AS k RETURN n[k]",
        ["x", "t", 3],
    ),
    (
        "MATCH (n:Named) UNWIND keys(n) AS k WITH k, n[k] AS v ORDER BY k RETURN collect(k + v)",
        [["code3", "idx", "labell", "namen", "node_typey", "titlet", "typek"]],
    ),
    (f"{LINK} RETURN endNode(r).id, startNode(r).id, startNode(r).name", ["x", None, None]),
    (f"{LINK} RETURN r['type'], (r).type, properties(r).id, [r][0].start", [None] * 4),
    (f"{LINK} RETURN keys(r), size(keys(r))", [["w"], 1]),
    (f"{LINK} RETURN properties(r), r", [{"w": 1}, {"w": 1}]),
    (
        "MATCH p = (:Plain)-[r:Bare]->() RETURN [x IN nodes(p) | x.id], "
        "[x IN relationships(p) | x.id]",
        [[None, "x"], [None]],
    ),
    (
        "MATCH ()-[r:Rich]->() RETURN r.id, r.type, r.start, r.end, r.connection_type, type(r)",
        [5, "q", "s", "e", "c", "Rich"],
    ),
    ("RETURN {id: 1, name: 'a'} AS m", [{"id": 1, "name": "a"}]),
    ("WITH {id: 1, name: 'a'} AS m RETURN m.id, m['name'], keys(m)", [1, "a", ["id", "name"]]),
    ("WITH 4 AS id, 5 AS name RETURN id, name, [id, name][1], {id: id}.id", [4, 5, 5, 4]),
    (
        "WITH [7, 8, 9] AS l, 1 AS i RETURN l[i], l[i + 1], l[-1], l[0..2], l[i..]",
        [8, 9, 9, [7, 8], [8, 9]],
    ),
    (f"{NODE} WITH n, collect(n.code) AS l, [n.code] AS k RETURN l + k, l + n.code", [[1, 1]] * 2),
    (
        f"{NODE} WITH n, [7] AS l RETURN [x IN l + n | x = n], [x IN [7] + n | x = 7]",
        [[False, True], [True, False]],
    ),
    (f"{NODE} RETURN size(collect(n) + n), collect(n.code) + 2", [2, [1, 2]]),
    (
        f"{NODE} RETURN n.code + 1 + size('a' + 'b') * 2, 'a' + n.code + '-', -n.code + 2",
        [6, "a1-", 1],
    ),
    (f"{NODE} RETURN toString(n.code) + left('abc', 2) || 'x', trim(' y ')", ["1abx", "y"]),
    (f"{NODE} WITH n.code AS a, 2 AS b RETURN a + b AS s ORDER BY a + b DESC", [3]),
    (
        f"{NODE} RETURN reduce(s = 0, x IN [1, 2] | s + x), reverse([1, 2]), reverse('ab')",
        [3, [2, 1], "ba"],
    ),
    (f"{NODE} RETURN CASE WHEN n.code + 1 = 2 THEN 'a' ELSE 'b' END + 'c'", ["ac"]),
    (
        "MATCH (n:Plain {code: 0 + 1}) WITH date('2020-01-01') AS d "
        "RETURN d + duration({days: 1}) > d",
        [True],
    ),
    ("WITH 'id' AS id CALL { WITH id RETURN id + '!' AS x } RETURN x", ["id!"]),
]
"""What Neo4j answers, cell by cell; several rows one after the other."""
REFUSED = [
    *("MATCH (n) RETURN DISTINCT properties(n)", "MATCH (n) RETURN collect(properties(n))"),
    "MATCH (n) WITH properties(n) AS p RETURN p",
    "MATCH (n), (m) WHERE properties(n) = properties(m) RETURN count(*)",
    "MATCH (n) WITH n {.*} AS p RETURN p.code",
    "MATCH (n) RETURN n {.*} AS p UNION MATCH (n) RETURN n {.*} AS p",
    *("MATCH (n) RETURN toString(n)", "MATCH (n) RETURN trim(n)"),
    *("MATCH (n) RETURN substring(n, 0, 99)", "MATCH (n) RETURN '' + n"),
    *("MATCH ()-[r]->() RETURN r + ''", "MATCH (n) RETURN n || 'x'", "MATCH (n) RETURN n.name +"),
    *("MATCH (n) RETURN (n +) || ", "MATCH (n) RETURN left(n", "MATCH (n) RETURN left('' + n, 3)"),
    *("MATCH (n) RETURN left(toString(head([n])), 3)", "MATCH (n) RETURN split(n, ':')[0]"),
    "MATCH (n) WITH n AS m RETURN toString(m) = 'x'",
    "MATCH (n) WITH collect(n) AS l UNWIND l AS m RETURN left('' + m, 3)",
    "MATCH (n) RETURN [x IN collect(n) | left('' + x, 3)]",
    "MATCH (n) RETURN size(reduce(s = '', x IN [n] | s + x))",
    "MATCH (n) RETURN left(CASE WHEN true THEN n END + '', 3)",
    *("MATCH (n) RETURN size(coalesce(n, 'x') + 'y')", "MATCH (n) RETURN size('' + {a: n}.a)"),
    "MATCH (n) WITH {a: n} AS m RETURN size(m.a + '')",
    "MATCH (n) RETURN size('' + properties(n).missing + head([n]))",
    *("MATCH (n) RETURN size(1 - 2 + '' + n)", "MATCH (n) RETURN size(('' + n) + 'x')"),
    "MATCH (n) WHERE ('' + n) CONTAINS 'Plain' RETURN n.code",
    *("MATCH (n) RETURN n.code ORDER BY '' + n", "MATCH p = ()-[:Bare]->() RETURN left('' + p, 3)"),
    "MATCH p = ()-[r:Bare]->() RETURN size('' + r), size('' + nodes(p)[0])",
    *("MATCH (n) RETURN n.code, count(*) AS c, size(max(n) + '')", "CALL db.propertyKeys()"),
    "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey",
    "MATCH (n) RETURN n.planweave__id",
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("graph") / "invented.cql"
    path.write_text(SCRIPT)
    database = open_cypher(path)
    yield database
    database.close()


def test_a_property_that_is_not_there_is_null(graph: Database, record_tried: RecordTried) -> None:
    wrong, tried = [], 0
    for access in ACCESSES:
        for name in sorted(INVENTED):
            tried += 1
            try:
                rows = graph.run(f"{NODE} RETURN {access.format(name, name)} AS x").rows
            except QueryFailed:  # "Plain has no property id"
                continue
            if rows != ((None,),):
                wrong.append((access.format(name, name), rows))
    record_tried(tried, len(wrong))
    assert not wrong


@pytest.mark.parametrize(("query", "cells"), VALUES)
def test_values_are_neo4js(graph: Database, query: str, cells: list[object]) -> None:
    assert [cell for row in graph.run(query).rows for cell in row] == cells


@pytest.mark.parametrize("query", REFUSED)
def test_what_cannot_be_told_apart_is_refused(graph: Database, query: str) -> None:
    with pytest.raises(QueryFailed) as caught:
        graph.run(query)
    assert caught.value.fix or "syntax" in caught.value.problem


@cases("MATCH (n:Named) RETURN keys(n)", "RETURN [1, 2][0 + 1]")
def test_columns_are_named_as_written(query: str, graph: Database) -> None:
    assert graph.run(query).columns == (query.partition("RETURN ")[2],)
