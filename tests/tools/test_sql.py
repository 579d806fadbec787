"""The SQL tool on SQLite and, where they are installed, on real PostgreSQL and MariaDB servers."""

import os
import re
import signal
import sqlite3
import sys
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from cases import cases
from servers import Server
from shop import SHOP, OpenSql

from planweave.tools.database import (
    Cell,
    DatabaseUnavailable,
    Limits,
    QueryFailed,
    QueryRefused,
    QueryTimeout,
)
from planweave.tools.sql import SqlDatabase, open_sql

SUMS = "SELECT SUM(power) AS total FROM presence GROUP BY"
GOOD: dict[str, tuple[str, list[tuple[Cell, ...]]]] = {
    "all": ("SELECT * FROM presence ORDER BY node, country LIMIT 1", [("genoa", "GEN", 100.5)]),
    "fence": ("```sql\nSELECT COUNT(*) FROM node;\n```", [(3,)]),
    "label": ("SQL: SELECT COUNT(*) FROM node;", [(3,)]),
    "comments": ("-- count them\nSELECT COUNT(*) /* all */ FROM node -- done", [(3,)]),
    "join": (
        "SELECT c.name, n.total_power FROM country AS c JOIN node AS n ON n.name = c.home "
        "WHERE c.development > 50 ORDER BY c.name",
        [("HAB", 123.25), ("SWE", None)],
    ),
    "left join": (
        "SELECT n.name, COUNT(p.country) AS countries FROM node n "
        "LEFT JOIN presence p ON p.node = n.name GROUP BY n.name ORDER BY 2 DESC, 1",
        [("genoa", 2), ("lubeck", 1), ("wien", 1)],
    ),
    "having": (f"{SUMS} country HAVING COUNT(*) > 1", [(110.25,)]),
    "CTE": (
        f"WITH t AS ({SUMS} node) SELECT total FROM t WHERE total = (SELECT MAX(total) FROM t)",
        [(120.75,)],
    ),
    "two CTEs with column lists": (
        "WITH a(x) AS (SELECT name FROM node), b(y) AS (SELECT x FROM a WHERE x < 'h') "
        "SELECT y FROM b",
        [("genoa",)],
    ),
    "recursion": (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2000) "
        "SELECT SUM(n) FROM r",
        [(2001000,)],
    ),
    "window": (
        "SELECT country, RANK() OVER (PARTITION BY node ORDER BY power DESC) AS place "
        "FROM presence WHERE node = 'genoa' ORDER BY place",
        [("GEN", 1), ("HAB", 2)],
    ),
    "running sum": (
        "SELECT country, SUM(power) OVER (ORDER BY power ROWS BETWEEN UNBOUNDED PRECEDING AND "
        "CURRENT ROW) FROM presence ORDER BY power LIMIT 2",
        [("HAB", 20.25), ("SWE", 90.25)],
    ),
    "case": (
        "SELECT CASE WHEN development > 100 THEN 'big' ELSE 'small' END FROM country ORDER BY name",
        [("small",), ("big",), ("big",)],
    ),
    "exists": (
        "SELECT name FROM node n WHERE NOT EXISTS "
        "(SELECT 1 FROM presence p WHERE p.node = n.name AND p.power > 80) ORDER BY name",
        [("lubeck",)],
    ),
    "in": ("SELECT name FROM country WHERE home IN (SELECT name FROM inland)", [("HAB",)]),
    "view": ("SELECT name FROM inland", [("wien",)]),
    "derived table": (f"SELECT MAX(total) FROM ({SUMS} node) AS t", [(120.75,)]),
    "union": (
        "SELECT name FROM inland UNION SELECT name FROM country WHERE name = 'HAB' ORDER BY name",
        [("HAB",), ("wien",)],
    ),
    "parentheses": ("SELECT ((1 + (SELECT COUNT(*) FROM node)) * ((2)))", [(8,)]),
    "like and percent": ("SELECT name FROM node WHERE name LIKE '%e%n%'", [("genoa",), ("wien",)]),
    "colon in text": ("SELECT name FROM country WHERE note = 'a:b' OR note LIKE 'pl%'", [("SWE",)]),
    "invisible characters in text": ("SELECT 'a\u200db'", [("a\u200db",)]),
    "semicolon in text": ("SELECT name FROM country WHERE note LIKE '%; --'", [("HAB",)]),
    "between dates": (
        "SELECT name FROM country WHERE founded BETWEEN '1200-01-01' AND '1300-01-01'",
        [("HAB",)],
    ),
    "dates": ("SELECT MIN(founded) FROM country", [("1005-01-01",)]),
    "coalesce and cast": (
        "SELECT CAST(COALESCE(total_power, 0) AS DECIMAL(10, 2)) FROM node ORDER BY name",
        [(321.5,), (0,), (123.25,)],
    ),
    "texts": ("SELECT UPPER(SUBSTR(name, 1, 2)) FROM node ORDER BY name LIMIT 1", [("GE",)]),
    "division": ("SELECT ROUND(SUM(power) / 3, 1) FROM presence", [(93.6,)]),
}
OWN = {
    "sqlite": [
        ('SELECT "name" FROM "main"."node" WHERE [inland] = 1', [("wien",)]),
        ('SELECT name FROM node WHERE name = "wien"', [("wien",)]),
        ("SELECT strftime('%Y', founded) FROM country WHERE name = 'SWE'", [("1397",)]),
        ("SELECT printf('%.1f', 2.25), ifnull(NULL, 1), iif(1 > 2, 'a', 'b')", [("2.3", 1, "b")]),
        ("SELECT group_concat(name, '; ') FROM (SELECT name FROM node ORDER BY 1)", None),
        ("SELECT trim(' a '), trim('xax', 'x'), typeof(trim(NULL, 'x'))", [("a", "a", "null")]),
        ("SELECT value FROM json_each('[7]')", [(7,)]),
        ("VALUES (1, 'a')", [(1, "a")]),
    ],
    "postgresql": [
        ('SELECT "name" FROM public.node WHERE inland', [("wien",)]),
        ("SELECT EXTRACT(YEAR FROM founded) FROM country WHERE name = 'SWE'", [(1397,)]),
        ("SELECT ROUND(total_power::numeric, 1) FROM node WHERE name ILIKE 'WIEN'", [(123.3,)]),
        ("SELECT to_char(founded, 'YYYY-MM') FROM country WHERE name = 'SWE'", [("1397-06",)]),
        ("SELECT string_agg(name, ', ' ORDER BY name) FROM node", [("genoa, lubeck, wien",)]),
        ("SELECT COUNT(*) FILTER (WHERE inland) FROM node", [(1,)]),
        ("SELECT DISTINCT ON (node) node, power FROM presence ORDER BY node, power DESC", None),
        ("SELECT array_agg(name ORDER BY name) FROM inland", [(["wien"],)]),
        ("SELECT g FROM generate_series(1, 2) AS g", [(1,), (2,)]),
        ("SELECT a FROM (VALUES (1), (2)) AS t(a) WHERE a > 1", [(2,)]),
        ("VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC", [(2, "b"), (1, "a")]),
        ("TABLE inland", [("wien",)]),
        (
            "SELECT repeat('*', LEAST(round(power)::int, 50)) FROM presence WHERE power = 20.25",
            None,
        ),
        ("SELECT repeat('ab', 2), 1e309::numeric", [("abab", "1" + "0" * 309)]),
    ],
    "mariadb": [
        ("SELECT `name` FROM shop.node WHERE inland = TRUE", [("wien",)]),
        ("SELECT YEAR(founded), IF(1>2, 'a', 'b') FROM country WHERE name = 'SWE'", [(1397, "b")]),
        ("SELECT DATE_FORMAT(founded, '%Y-%m') FROM country WHERE name = 'SWE'", [("1397-06",)]),
        ("SELECT GROUP_CONCAT(name ORDER BY name SEPARATOR ', ') FROM inland", [("wien",)]),
        ('SELECT name FROM node WHERE name = "wien"', [("wien",)]),
        ("SELECT REPEAT('*', LEAST(power, 50)) FROM presence WHERE power = 100.5", [("*" * 50,)]),
        ("SELECT CONCAT(name, '!'), IFNULL(total_power, 0) FROM node LIMIT 1", None),
    ],
}


SERVERS = [pytest.param(name, marks=pytest.mark.server) for name in ("postgresql", "mariadb")]


@pytest.fixture(scope="module")
def shop(shop_file: Path) -> Iterator[SqlDatabase]:
    with closing(open_sql(f"sqlite:///{shop_file}")) as database:
        yield database


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    """The server that the test names."""
    found: Server = request.getfixturevalue(f"{request.param}_server")
    return found


@pytest.fixture(scope="module", params=["sqlite", *SERVERS])
def database(request: pytest.FixtureRequest, shop_file: Path) -> Iterator[SqlDatabase]:
    """The shop in each engine, or in the one that the test names."""
    name = request.param
    place = shop_file if name == "sqlite" else request.getfixturevalue(f"{name}_server").url()
    with closing(open_sql(place)) as opened:
        yield opened


def get_engine(database: SqlDatabase) -> str:
    """``sqlite``, ``postgresql`` or ``mariadb``."""
    return database.language[5:-1].lower()


in_postgresql = pytest.mark.parametrize("database", SERVERS[:1], indirect=True)
on_servers = pytest.mark.parametrize("server", SERVERS, indirect=True)


@pytest.mark.parametrize("name", GOOD)
def test_good_queries(database: SqlDatabase, name: str) -> None:
    query, rows = GOOD[name]
    assert list(database.run(query).rows) == rows


def test_good_queries_in_the_dialect(database: SqlDatabase) -> None:
    for query, rows in OWN[get_engine(database)]:
        found = list(database.run(query).rows)
        assert found
        assert rows is None or found == rows


def test_a_check_runs_nothing(database: SqlDatabase) -> None:
    for right in ("SELECT n.* FROM node n", "WITH x(a) AS (SELECT name FROM node) SELECT a FROM x"):
        database.check(right)
    for wrong in ("SELECT nowhere FROM node", "SELECT x.name FROM node n"):
        with pytest.raises(QueryFailed):
            database.check(wrong)
    with pytest.raises(QueryRefused):
        database.check("DELETE FROM node")


def test_empty_tables_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "later.sqlite"
    with closing(sqlite3.connect(path)) as connection, closing(open_sql(path)) as database:
        connection.execute("CREATE TABLE node (name TEXT)")
        assert database.schema().has_only_empty_tables
        connection.execute("INSERT INTO node VALUES ('genoa')")
        connection.commit()
        assert not database.schema().has_only_empty_tables
        assert database.schema().entities[0].count == 1


def test_schema(database: SqlDatabase) -> None:
    schema = database.schema()
    entities = {entity.name: entity for entity in schema.entities}
    tables = {"node": ("table", 3), "country": ("table", 3), "presence": ("table", 4)}
    found = {name: (entity.kind, entity.count) for name, entity in entities.items()}
    assert found == tables | {"inland": ("view", 1)}
    fields = {field.name: field for field in entities["country"].fields}
    assert fields["name"].key
    assert sorted(fields["name"].samples) == ["GEN", "HAB", "SWE"]
    assert fields["home"].references == "node.name"
    assert fields["development"].type in ("REAL", "DOUBLE", "DOUBLE PRECISION")
    assert not fields["development"].samples
    assert [field.name for field in entities["presence"].fields if field.key] == ["node", "country"]
    assert [field.name for field in entities["inland"].fields] == ["name"]
    assert database.schema() is schema


def test_definitions(database: SqlDatabase, tmp_path: Path) -> None:
    """Loaded anew, the definitions give the tables, columns and keys that they were taken from."""
    written = database.definitions()
    for name in ("node", "country", "presence", "inland"):
        assert re.search(rf"CREATE (TABLE|VIEW) [`\"]?{name}\b", written)
    assert "FOREIGN KEY" in written.upper()
    if database.language != "SQL (SQLite)":
        return
    script = tmp_path / "definitions.sql"
    script.write_text(written, encoding="utf-8")
    again = open_sql(script).schema()
    shapes = [
        [(e.name, e.kind, [(f.name, f.type, f.key, f.references) for f in e.fields]) for e in s]
        for s in (again.entities, database.schema().entities)
    ]
    assert shapes[0] == shapes[1]


COMMENTS = {
    "postgresql": "COMMENT ON COLUMN note.state IS 'O = open, D = done'",
    "mariadb": "ALTER TABLE note MODIFY state CHAR(1) COMMENT 'O = open,\n D = done'",
}


@on_servers
def test_comments_of_columns_are_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_TRUST_ROLE", "1")
    with closing(open_sql(server.url("owner"))) as owned:
        with owned._backend.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE note (state CHAR(1), day DATE)")
            connection.exec_driver_sql(COMMENTS[server.scheme])
        try:
            with closing(open_sql(server.url("owner"))) as opened:
                assert "CHAR(1), -- O = open, D = done\n  day DATE\n)" in opened.definitions()
        finally:
            with owned._backend.engine.begin() as connection:
                connection.exec_driver_sql("DROP TABLE note")


def test_rows_beyond_the_limit_are_counted(database: SqlDatabase) -> None:
    result = database.run("SELECT name FROM node", Limits(rows=2))
    assert (len(result.rows), result.total_rows, result.truncated) == (2, 3, True)
    exact = database.run("SELECT name FROM node", Limits(rows=3))
    assert (len(exact.rows), exact.total_rows, exact.truncated) == (3, 3, False)


def test_very_many_rows_are_not_counted(database: SqlDatabase) -> None:
    sources = ", ".join(f"presence p{i}" for i in range(9))  # 262 144 rows
    result = database.run(f"SELECT p1.node FROM {sources}", Limits(rows=5))
    assert (len(result.rows), result.total_rows, result.truncated) == (5, None, True)
    assert database.run("SELECT COUNT(*) FROM node").rows == ((3,),)  # the connection is still good


def test_rows_within_the_characters(database: SqlDatabase) -> None:
    result = database.run("SELECT name, note FROM country", Limits(characters=40))
    assert 1 <= len(result.rows) < 3
    assert result.total_rows == 3
    assert all(len(str(cell)) <= 40 for row in result.rows for cell in row)


def test_time_limit(database: SqlDatabase) -> None:
    sources = ", ".join(f"presence p{i}" for i in range(24))
    with pytest.raises(QueryTimeout, match=r"stopped .*0\.2 s"):
        database.run(f"SELECT SUM(p1.power) FROM {sources}", Limits(seconds=0.2))
    assert database.run("SELECT COUNT(*) FROM node").rows == ((3,),)


def test_threads(database: SqlDatabase) -> None:
    def total(number: int) -> Cell:
        return database.run(f"SELECT SUM(power) + {number} FROM presence").rows[0][0]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(total, range(40))) == [280.75 + number for number in range(40)]


@cases(
    ("SELECT * FROM nodes", r"Did you mean node\? The tables are: "),
    ("SELECT developmnt FROM country", r"Did you mean (country|c)\.development\?"),
    ("SELECT c.developmnt FROM country c", r"Did you mean (country|c)\.development\?"),
    ("SELECT development FROM node", "The column development is in country"),
    ("SELECT xyzzy FROM node", r"The columns are: node\.name, node\.inland"),
    ("SELECT name FROM node, country", "Write the table before the column"),
    ("SELECT name FROM WHERE name", "Check the syntax"),
    ("SELECT name, FROM node, WHERE", "Check the syntax"),
    ("SELECT name node inland FROM node", "Check the syntax"),
    ("SELECT name FROM node WHERE name = 'genoa", "Close it"),
    ("SELECT node FROM presence WHERE SUM(power) > 1", "HAVING"),
    ("SELECT len(name) FROM node", r"Write length\(column\)"),
)
def test_errors_say_how_to_fix(query: str, fix: str, database: SqlDatabase) -> None:
    with pytest.raises(QueryFailed) as caught:
        database.run(query)
    assert re.search(fix, caught.value.fix, re.IGNORECASE), str(caught.value)
    assert "\n" not in str(caught.value)


TIPS = {
    "sqlite": [
        ("SELECT YEAR(founded) FROM country", "strftime"),
        ("SELECT EXTRACT(YEAR FROM founded) FROM country", "strftime"),
        ("SELECT CONCAT(name, home) FROM country", "a || b"),
        ("SELECT LEFT(name, 2) FROM country", "substr"),
        ("SELECT name::text FROM country", "CAST"),
        ("SELECT medain(power) FROM presence", "similar name: MIN"),
    ],
    "postgresql": [
        ("SELECT ROUND(total_power, 2) FROM node", "::numeric"),
        ("SELECT strftime('%Y', founded) FROM country", "to_char"),
        ('SELECT name FROM node WHERE name = "zzz"', "single quotes"),
        ("SELECT node, country, SUM(power) FROM presence GROUP BY node", "GROUP"),
        ("SELECT 1 FROM country WHERE founded = 12", "Cast"),
    ],
    "mariadb": [
        ("SELECT strftime('%Y', founded) FROM country", "DATE_FORMAT"),
        ("SELECT 1 FROM node WHERE SUM(total_power) > 1", "HAVING"),
    ],
}


def test_tips_of_the_dialect(database: SqlDatabase) -> None:
    for query, fix in TIPS[get_engine(database)]:
        with pytest.raises((QueryFailed, QueryRefused)) as caught:
            database.run(query)
        assert fix in caught.value.fix, str(caught.value)


@cases(
    ("SELECT * FROM country WHERE name = 'SWD'", "name equals 'SWD'; its 3 values are 'SWE'"),
    (
        "SELECT * FROM country c WHERE c.name IN ('HAB', 'SWD') AND c.home = 'x'",
        "No country.name equals 'SWD'",
    ),
    ("SELECT SUM(power) FROM presence WHERE 'lubek' = node", "values are 'lubeck'"),
    ("SELECT COUNT(*) FROM presence WHERE node = 'Genoa' AND country = 'SWE' AND 1 = 0", None),
    ("SELECT * FROM presence WHERE node = 'wien' AND country = 'SWE'", "No row meets all"),
    ("SELECT 1 FROM node n JOIN presence p ON node = n.name WHERE p.country = 'swe2'", "'SWE'"),
    ("SELECT MAX(power) FROM presence", ""),
    ("SELECT name FROM node", ""),
)
def test_hints_for_empty_results(query: str, hint: str | None, database: SqlDatabase) -> None:
    found = database.run(query).hint
    if hint is None:  # MariaDB compares without regard to case, the others do not
        assert found == "" or "'genoa'" in found
    elif hint:
        assert hint in found
    else:
        assert found == ""


def test_a_quoted_text_and_the_executed_query(shop: SqlDatabase) -> None:
    assert "'wien'" in shop.run('SELECT * FROM node WHERE name = "wein"').hint
    assert shop.run("```sql\nSELECT 1 -- one\n  AS x;\n```").query == "SELECT 1 AS x"


def test_values_are_plain(opened: OpenSql) -> None:
    database = opened(
        "CREATE TABLE v (a, b BLOB, c REAL, d);"
        "INSERT INTO v VALUES (9007199254740993, x'00ff', 0.1, NULL);"
    )
    assert database.run("SELECT * FROM v").rows == ((9007199254740993, "<2 bytes>", 0.1, None),)
    database.close()  # and once more, by what has opened it


def test_names_that_need_quotes(opened: OpenSql) -> None:
    database = opened(
        'CREATE TABLE "Order Details" ("unit price" REAL, "order" TEXT);\n'
        "INSERT INTO \"Order Details\" VALUES (1.5, 'a');"
    )
    (entity,) = database.schema().entities
    assert (entity.name, entity.count) == ("Order Details", 1)
    assert entity.fields[1].samples == ("a",)
    query = 'SELECT "unit price" FROM "Order Details" WHERE "order" = \'a\''
    assert database.run(query).rows == ((1.5,),)
    assert "'a'" in database.run('SELECT 1 FROM "Order Details" WHERE "order" = \'A\'').hint


@cases(
    "CREATE VIEW lost AS SELECT * FROM gone;",
    "PRAGMA writable_schema = ON; INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) "
    "VALUES ('table', 'map', 'map', 0, 'CREATE VIRTUAL TABLE map USING geography()');",
)
def test_a_table_or_view_that_cannot_be_read_is_left_out(broken: str, opened: OpenSql) -> None:
    database = opened(
        "CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\n"
        f"CREATE VIEW kept AS SELECT a FROM t;\n{broken}"
    )
    assert [entity.name for entity in database.schema().entities] == ["t", "kept"]
    assert database.run("SELECT a FROM kept").rows == ((1,),)


def test_full_text_search(opened: OpenSql) -> None:
    database = opened(
        "CREATE VIRTUAL TABLE page USING fts5(title, body);\n"
        "INSERT INTO page VALUES ('Ports', 'genoa and lubeck'), ('Rivers', 'the danube');"
    )
    assert [entity.name for entity in database.schema().entities] == ["page"]
    assert database.definitions().count("CREATE") == 1
    assert database.run("SELECT title FROM page").total_rows == 2
    query = "SELECT title, snippet(page, 1, '<', '>', '', 9) FROM page WHERE page MATCH 'lub*'"
    assert database.run(f"{query} ORDER BY rank").rows == (("Ports", "genoa and <lubeck>"),)


@cases("SELECT json_extract(name, '$.a') FROM node", "SELECT is_prohibited FROM node")
def test_a_failed_query_is_no_damaged_or_forbidden_database(query: str, shop: SqlDatabase) -> None:
    with pytest.raises(QueryFailed, match="SQLite"):
        shop.run(query)


def test_a_script_with_double_quoted_text(opened: OpenSql) -> None:
    database = opened(
        "\ufeff-- made by hand; really\nCREATE TABLE t (a VARCHAR(9), b FLOAT);\n"
        'INSERT INTO t(a, b) VALUES ("x;y", 1.5);\n\nINSERT INTO t VALUES ("it\'s", 2)'
    )
    assert database.run("SELECT a FROM t ORDER BY b").rows == (("x;y",), ("it's",))


def test_a_script_without_end_is_stopped(opened: OpenSql, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planweave.tools.sql.sqlite._LOADING", 0.3)
    loop = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT sum(n) FROM r;"
    with pytest.raises(DatabaseUnavailable, match=r"takes too long \(line 2\)"):
        opened(f"CREATE TABLE t(a);\nCREATE TABLE u AS {loop}")


def test_a_broken_script_names_the_statement(opened: OpenSql) -> None:
    broken = "CREATE TABLE t (a INT);\n\nINSERT INTO t (b)\n  VALUES (1);\nSELECT 1;"
    problem = r"line 3: .*no column named b.*INSERT INTO t \(b"
    with pytest.raises(DatabaseUnavailable, match=problem):
        opened(broken)


@cases("ATTACH '{}' AS n;", "VACUUM INTO '{}';")
def test_a_script_writes_no_files(statement: str, tmp_path: Path, opened: OpenSql) -> None:
    target = tmp_path / "new.db"
    with pytest.raises(DatabaseUnavailable, match="too many attached"):
        opened(statement.format(target))
    assert not target.exists()


LOCAL = "mysql://u:secret@127.0.0.1:1/d"
OPTIONS = ("ssl_ca=/nowhere/ca.pem", "no_such_option=1", "read_timeout=soon", "charset=klingon")
OTHER = "postgresql://u:secret@127.0.0.1:1/d"


@cases(
    ("/nowhere/shop.db", "There is no database file /nowhere/shop.db."),
    ("sqlite://", "The database URL names no file."),
    ("sqlite://shop.db", "The database URL names no file."),
    ("/nowhere/shop.sql", "cannot be read: No such file or directory."),
    ("oracle://u:secret@h/d", "oracle:// is no SQL database that can be opened here."),
    ("postgresql://u:secret@h:port/d", "The database URL cannot be read."),
    ("postgresql://u:a@secret@h/d", "The database URL cannot be read."),
    ("mysql://u:1/secret?2@127.0.0.1:1/d", "mysql://u:***@127.0.0.1"),
    ("postgresql://u:secret@127.0.0.1:1/d", "does not answer: "),
    ("mariadb://u:secret@127.0.0.1:1/d", "does not answer: "),
    *((f"{LOCAL}?{option}", "") for option in OPTIONS),
    (f"{OTHER}?sslrootcert=/nowhere/ca.pem&sslmode=verify-full", ""),
    (f"{OTHER}?no_such_option=1", ""),
    (f"{OTHER}?connect_timeout=soon", ""),
)
def test_databases_that_cannot_be_opened(url: str, problem: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        open_sql(url)
    assert problem in caught.value.problem
    assert caught.value.fix
    assert "secret" not in str(caught.value)
    assert "\n" not in caught.value.problem


@cases(
    ("notes.db", b"not a database, but longer than the header of one" * 20, "is not a database"),
    ("notes.sql", b"\xff\xfe\x00", "not UTF-8"),
)
def test_a_file_of_another_kind(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatabaseUnavailable, match=problem):
        open_sql(tmp_path / name)


@cases(
    ("postgresql://u:secret@h/d", "psycopg", "planweave[postgresql]"),
    ("mysql://u:secret@h/d", "pymysql", "planweave[mysql]"),
)
def test_a_driver_that_is_not_installed(
    url: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DatabaseUnavailable) as caught:
        open_sql(url)
    assert extra in caught.value.fix
    assert "secret" not in str(caught.value)


@on_servers
def test_a_wrong_password_is_not_shown(server: Server) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        open_sql(server.url(password="letmein"))
    assert "letmein" not in str(caught.value)
    assert "reader:***@127.0.0.1" in str(caught.value)
    assert "password" in str(caught.value).lower()


@on_servers
def test_a_missing_database(server: Server) -> None:
    with pytest.raises(DatabaseUnavailable, match="nosuch"):
        open_sql(server.url("owner").replace("/shop", "/nosuch"))


def test_script_and_file_agree(shop: SqlDatabase, opened: OpenSql) -> None:
    assert opened(SHOP).schema() == shop.schema()


@in_postgresql
def test_postgresql_cuts_long_values_itself(database: SqlDatabase) -> None:
    """What arrives is bounded, whatever the type, and short values keep theirs."""
    backend = database._backend
    limits = Limits(characters=100, rows=5)
    long = [
        "SELECT string_agg(repeat('x', 1000), '') FROM generate_series(1, 1000)",
        "SELECT json_agg(g) FROM generate_series(1, 100000) g",
        "SELECT array_agg(g) FROM generate_series(1, 100000) g",
        "SELECT jsonb_agg(g)::text::bytea FROM generate_series(1, 100000) g",
        "SELECT row(g, repeat('y', 100000)) FROM generate_series(1, 3) g",
    ]
    tracemalloc.start()
    try:
        for query in long:
            assert len(str(backend.run(query, limits).rows)) < 1_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    short = backend.run(
        "SELECT 1, 1.5, 'a', NULL::text, '{1,2}'::int[], '{\"k\": [1]}'::jsonb, 'ab'::bytea, "
        "'x'::varchar(3), 1 AS a, 2 AS a",
        Limits(),
    )
    assert short.rows == [(1, 1.5, "a", None, [1, 2], {"k": [1]}, "<2 bytes>", "x", 1, 2)]
    assert short.columns[-2:] == ("a", "a")


@in_postgresql
def test_a_postgresql_process_that_stands_still_is_left(
    database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "SELECT pg_backend_pid()"
    monkeypatch.setattr("planweave.tools.sql.postgresql._PATIENCE", 0.5)
    database.close()  # so that there is one connection, which is taken again
    ((process,),) = database._backend.run(own, Limits()).rows
    assert isinstance(process, int)
    os.kill(process, signal.SIGSTOP)
    try:
        ((another,),) = database._backend.run(own, Limits()).rows
    finally:
        os.kill(process, signal.SIGCONT)
    assert another != process


@pytest.mark.server
@pytest.mark.parametrize("database", ["mariadb"], indirect=True)
def test_the_time_of_a_query_says_how_long_mariadb_may_be_silent(
    database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = "SELECT SLEEP(1)"
    monkeypatch.setattr("planweave.tools.sql.mysql._SILENT_SECONDS", -9.5)
    assert [*database._backend.run(slow, Limits(seconds=20)).rows] == [(0,)]
    with pytest.raises(Exception, match="Lost connection"):
        database._backend.run(slow, Limits(seconds=10))


@in_postgresql
@cases(
    *("date 'infinity'", "date '-infinity'", "timestamp 'infinity'", "timestamptz '-infinity'"),
    *("date '4000-01-01 BC'", "date '99999-01-01'", "time '24:00'", "timestamp '50000-01-01'"),
    "interval '170000000 years'",
)
def test_dates_that_python_does_not_know(value: str, database: SqlDatabase) -> None:
    wanted = database.run(f"SELECT CAST({value} AS text)").rows
    assert database.run(f"SELECT {value}").rows == wanted


def test_a_database_that_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "busy.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("CREATE TABLE t (a)")
        writer.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.1))
        with pytest.raises(DatabaseUnavailable, match="locked") as raised:
            open_sql(path)
    assert "Wait until" in raised.value.fix


GOODS = """
CREATE TABLE goods(goods_name TEXT, code INTEGER PRIMARY KEY);
CREATE TABLE building(id INTEGER PRIMARY KEY, level INTEGER);
CREATE TABLE supply(goods_id INTEGER, building_id INTEGER, level INTEGER, note TEXT,
    PRIMARY KEY (goods_id, building_id));
CREATE TABLE node(name TEXT PRIMARY KEY);
CREATE TABLE flow(source TEXT, dest TEXT, way TEXT, PRIMARY KEY (source, dest));
CREATE TABLE empty(node TEXT);
INSERT INTO goods VALUES ('grain', 1), ('fish', 2), ('wood', 3);
INSERT INTO building VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO supply VALUES (1, 1, 1, 'a'), (2, 3, 2, 'genoa');
INSERT INTO node VALUES ('genoa'), ('wien'), ('ulm');
INSERT INTO flow VALUES ('genoa', 'wien', 'sea'), ('wien', 'ulm', NULL);
"""


def references(database: SqlDatabase) -> dict[str, str]:
    return {
        f"{entity.name}.{field.name}": field.references
        for entity in database.schema().entities
        for field in entity.fields
        if field.references
    }


def test_columns_within_a_key_refer_to_it(opened: OpenSql) -> None:
    wanted = {"supply.goods_id": "goods.code", "supply.building_id": "building.id"}
    wanted |= {"flow.source": "node.name", "flow.dest": "node.name"}
    assert references(opened(GOODS)) == wanted


@cases(
    "INSERT INTO supply VALUES (9, 2, 1, NULL);", "INSERT INTO supply VALUES (NULL, 4, 1, NULL);"
)
def test_one_value_outside_the_key_is_enough_to_reject(broken: str, opened: OpenSql) -> None:
    assert len(references(opened(GOODS + broken))) == 3


def test_declared_foreign_keys_are_preferred(opened: OpenSql) -> None:
    script = """
    CREATE TABLE node(name TEXT PRIMARY KEY);
    CREATE TABLE town(name TEXT PRIMARY KEY);
    CREATE TABLE flow(source TEXT REFERENCES town(name), dest TEXT);
    INSERT INTO node VALUES ('genoa');
    INSERT INTO town VALUES ('genoa');
    INSERT INTO flow VALUES ('genoa', 'genoa');
    """
    assert references(opened(script)) == {"flow.source": "town.name"}
