"""Generated Cypher: what the guard lets pass changes no graph and reads no file.

The statements run on a graph that may be changed, without the frozen copy that queries get, so
that the guard alone holds.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import kglite
from cypher_cases import ATTACKS, GOOD
from guided import Guided, attacked, damaged, respelled
from tally import RecordTried

from planweave.tools.cypher import guard as guard_module
from planweave.tools.cypher import rewriting, tokens
from planweave.tools.cypher.guard import guard
from planweave.tools.cypher.rewriting import rewrite
from planweave.tools.cypher.tokens import tokenize

WATCHED = (guard_module, tokens, rewriting)
FULL, SAMPLE = 100_000, 1_000
SECRET = "the-secret-of-this-user"
SCRIPT = [
    "CREATE (:A {code: 1, name: 'x'})",
    "CREATE (:A {code: 2})",
    "CREATE (:B {code: 3})",
    "MATCH (a:A {code: 1}), (b:B) CREATE (a)-[:R {w: 1}]->(b)",
]
READING = (
    *("MATCH (n)", "MATCH (n:A {code: 1})", "MATCH (n)-[r]->(m)", "OPTIONAL MATCH (m:B)"),
    *("WITH 1 AS n", "UNWIND [1, 2] AS x", "WITH n", "MATCH (n) WHERE n.code > 1"),
    *("CALL { RETURN 1 AS q }", "WITH n, count(*) AS c", "CALL db.labels() YIELD label"),
    "MATCH p = (n)-[*1..2]->(m)",
)
WRITING = (
    *("CREATE (:A {code: 9})", "SET n.code = 9", "SET n:C", "REMOVE n.code", "DELETE n"),
    *("DETACH DELETE n", "MERGE (:A {code: 9})", "FOREACH (x IN [1] | SET n.code = x)"),
    *("CALL { CREATE (:C) }", "DROP INDEX x", "LOAD CSV FROM 'file://{file}' AS line"),
    *("LOAD CSV FROM '{file}' AS line", "CREATE INDEX FOR (n:A) ON (n.code)"),
    *("CALL { MATCH (n) SET n.code = 7 } IN TRANSACTIONS", "CALL apoc.create.node(['C'], {})"),
    *("INSERT (:C)", "CALL db.createLabel('C')", "CALL dbms.procedures()", "USE other"),
    *("SET n = {code: 4}", "SET n += {k: 1}"),
)
RETURNS = (
    *("", "RETURN n", "RETURN count(*)", "RETURN n.code AS set", "RETURN line"),
    *("RETURN 1 AS `DELETE`", "RETURN *", "RETURN n.create", "RETURN {set: 1}"),
    *("RETURN [x IN [1] | x]", "RETURN 'SET n.code = 1'", "FINISH"),
)
SPACES = (" ", "\n", "\t", "/**/", "/* x */", " // x\n", "\r", "\r\n")
TOKENS = (*";.:,(){}'\"`|", "//", "/*", "*/", "1.", "$x", "\\u0053ET")


def queries(seed: int, file: Path) -> Iterator[str]:
    """Queries that follow from a seed."""
    draw = random.Random(seed)
    known = [query for query in (*GOOD, *ATTACKS) if 0 < len(query) < 400]
    while True:
        text = draw.choice(known)
        if draw.random() < 0.8:
            hostile = draw.choice((0.0, 0.2, 0.5))
            clauses = [
                draw.choice(WRITING if draw.random() < hostile else READING)
                for _ in range(draw.randint(1, 3))
            ]
            text = " ".join(["MATCH (n)", *clauses, draw.choice(RETURNS)])
        if draw.random() < 0.4:
            text = damaged(text, draw, [*known, *WRITING * 3], TOKENS)
        yield respelled(text, draw, SPACES).replace("{file}", str(file))


def made() -> kglite.KnowledgeGraph:
    kglite.set_query_warning_policy("silent")
    graph = kglite.KnowledgeGraph()
    for statement in SCRIPT:
        graph.cypher(statement)
    return graph


def dump(graph: kglite.KnowledgeGraph) -> str:
    everything = ("MATCH (n) RETURN labels(n), n", "MATCH (a)-[r]->(b) RETURN a, r, b, type(r)")
    return repr([list(graph.cypher(query)) for query in everything])


def test_generated_queries(
    tmp_path: Path, attack_is_full: bool, attack_seed: int, record_tried: RecordTried
) -> None:
    file = tmp_path / "secret.csv"
    file.write_text(f"{SECRET},1\n")
    source = queries(attack_seed, file)
    graph = made()
    before = dump(graph)

    def guarded(query: str) -> str:
        statement, _ = guard(query)
        return rewrite(statement, tokenize(statement))

    def harm(passed: Sequence[str]) -> list[str]:
        """Those of the queries that read the file or change the graph."""
        nonlocal graph
        found = [one for one in passed if SECRET in answer(graph, one)]
        if dump(graph) != before:
            found += [one for one in passed if changes(one)] or passed
            graph = made()
        return found

    assert not attacked(
        Guided(attack_seed, WATCHED, [*GOOD, *ATTACKS], lambda: next(source)),
        islice(source, FULL if attack_is_full else SAMPLE),
        guarded,
        harm,
        record_tried,
        "cypher",
        full=attack_is_full,
        at_once=250,
    )


def answer(graph: kglite.KnowledgeGraph, query: str) -> str:
    try:
        view = graph.cypher(query, timeout_ms=300, row_limit=20)
        return view if isinstance(view, str) else repr(view.to_list())
    except Exception as error:  # the engine's errors share no other base class
        return str(error)


def changes(query: str) -> bool:
    graph = made()
    before = dump(graph)
    answer(graph, query)
    return dump(graph) != before


def test_a_write_would_be_seen() -> None:
    assert changes("MATCH (n:A) SET n.code = 9")
    assert changes("CREATE (:A {code: 9})")
    assert not changes("MATCH (n) RETURN n")
