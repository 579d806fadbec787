"""Statements that must do no harm: each is refused, fails or is stopped, inside its limit.

On the servers they come from a user who may do anything, so that it is the tool that holds.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from cases import cases
from command_line import Run, in_process, user_environment
from servers import Server
from shop import SHOP
from sql_statements import EVERYWHERE, GUARDED, MARIADB, POSTGRESQL, SQLITE

from planweave.tools.database import (
    Limits,
    QueryFailed,
    QueryRefused,
    QueryTimeout,
    RoleTooPowerful,
)
from planweave.tools.sql import SqlDatabase, open_sql
from planweave.tools.sql.guard import check

LIMITS = Limits(seconds=0.4, rows=10, characters=1_000)


def attack(database: SqlDatabase, query: str, folder: Path) -> None:
    """Run an attack; anything but an error of one sentence with a remedy fails the test.

    A statement that nothing stops runs for minutes, until the test's time is over.
    """
    with pytest.raises((QueryRefused, QueryFailed, QueryTimeout)) as caught:
        database.run(query.replace("{folder}", str(folder)), LIMITS)
    assert caught.value.problem.endswith((".", "?"))
    assert caught.value.fix.endswith((".", "?"))
    assert "\n" not in str(caught.value)
    assert not (folder / "new.db").exists()


def named(attacks: dict[str, str]) -> list[object]:
    return [pytest.param(query, id=name) for name, query in attacks.items()]


@pytest.mark.parametrize(
    ("dialect", "query"),
    [
        pytest.param(dialect, query, id=f"{dialect}, {name}")
        for dialect, queries in GUARDED.items()
        for name, query in queries.items()
    ],
)
def test_the_guard_refuses(dialect: str, query: str) -> None:
    with pytest.raises((QueryRefused, QueryFailed)):
        check(query, dialect=dialect, tables={"node": ["name", "inland"]}, schema="public")


@cases(
    ("postgres", "WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, a"),
    ("postgres", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) TABLE r"),
    ("postgres", "WITH a AS (SELECT 1) SELECT * FROM a UNION SELECT * FROM a"),
    ("postgres", "SELECT name::int, '1 day'::interval, name::numeric(4, 1)[] FROM node"),
    ("postgres", "SELECT t.k, t.n FROM UNNEST(ARRAY[1]) WITH ORDINALITY AS t(k, n)"),
    ("postgres", "SELECT j.key, j.value FROM jsonb_each('{}') AS j"),
    ("mysql", "SELECT CONVERT_TZ(NOW(), 'UTC', '+01:00') FROM DUAL"),
    ("mysql", "SELECT name FROM node USE INDEX(PRIMARY) WHERE MATCH(name) AGAINST('x')"),
    ("postgres", "SELECT repeat('a', 9) FROM node"),
    ("mysql", "TABLE node"),
    ("postgres", "SELECT interval '1' year, date '2020-01-01', lpad(name, 9), 1 AS user"),
    ("sqlite", "WITH b AS (SELECT * FROM a), a AS (SELECT 1) SELECT * FROM b"),
    ("mysql", "SELECT user, CAST(name AS UNSIGNED) FROM node WHERE LOWER(name) = 'a'"),
)
def test_the_guard_lets_pass(dialect: str, query: str) -> None:
    tables = {"node": ["name", "inland", "user"]}
    assert check(query, dialect=dialect, tables=tables, schema="public").text == query


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqlDatabase, Path]]:
    path = tmp_path_factory.mktemp("file") / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP)
    with closing(open_sql(path)) as database:
        yield database, path


@pytest.mark.parametrize("query", named(EVERYWHERE | SQLITE))
def test_sqlite_file(file: tuple[SqlDatabase, Path], query: str) -> None:
    database, path = file
    before = path.read_bytes()
    attack(database, query, path.parent)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["shop.db"]


@pytest.fixture(autouse=True, scope="module")
def _owner_is_trusted() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANWEAVE_TRUST_ROLE", "true")
        yield


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest) -> Iterator[SqlDatabase]:
    """The shop on the server that the test names; in the end nothing in it may have changed."""
    with closing(open_sql(request.getfixturevalue(f"{request.param}_server").url("owner"))) as base:
        before = rows(base)
        yield base
        assert rows(base) == before


ON_POSTGRESQL, ON_MARIADB = (
    pytest.param(name, marks=pytest.mark.server) for name in ("postgresql", "mariadb")
)


@pytest.mark.parametrize(
    ("database", "query"),
    [
        pytest.param(*engine.values, query, id=f"{engine.values[0]}, {name}", marks=engine.marks)
        for engine, queries in (
            (ON_POSTGRESQL, EVERYWHERE | POSTGRESQL),
            (ON_MARIADB, EVERYWHERE | MARIADB),
        )
        for name, query in queries.items()
    ],
    indirect=["database"],
)
def test_a_statement_changes_nothing(database: SqlDatabase, query: str, tmp_path: Path) -> None:
    attack(database, query, tmp_path)  # and see the end of ``database``


in_postgresql, in_mariadb = (
    pytest.mark.parametrize("database", [engine], indirect=True)
    for engine in (ON_POSTGRESQL, ON_MARIADB)
)


@in_mariadb
@cases(" ", "\xa0", "\u2003", "\n ", "/* x */")
def test_space_before_a_parenthesis_calls_no_routine(space: str, database: SqlDatabase) -> None:
    query = f"SELECT{space}LOWER{space}(name){space}FROM{space}node WHERE name IN{space}('genoa')"
    assert database.run(query).rows == (("genoa",),)


@in_postgresql
def test_a_query_leaves_nothing_in_its_connection(database: SqlDatabase) -> None:
    """A lock or setting that some query should get through ends with it."""
    backend = database._backend
    read = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'"
    backend.run("SELECT pg_advisory_lock(7), set_config('work_mem', '1MB', false)", Limits())
    assert backend.run(read, Limits()).rows == [(0,)]
    assert backend.run("SELECT current_setting('work_mem') = '1MB'", Limits()).rows == [(False,)]


@pytest.mark.server
@cases(("postgresql", "a superuser"), ("mariadb", "ALL PRIVILEGES"))
def test_a_role_that_may_do_more_than_read_is_refused(
    server: str, power: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Server = request.getfixturevalue(f"{server}_server")
    monkeypatch.delenv("PLANWEAVE_TRUST_ROLE")
    with pytest.raises(RoleTooPowerful, match=power) as caught:
        open_sql(found.url("owner"))
    assert "SELECT" in caught.value.remedy
    assert "--trust-role" in str(caught.value)
    open_sql(found.url("reader")).close()


@pytest.mark.server
@cases(
    ("ALTER ROLE almost CREATEROLE", "row security"),
    ("GRANT pg_read_server_files TO almost", "pg_read_server_files"),
    ("GRANT pg_execute_server_program TO almost", "pg_execute_server_program"),
    ("GRANT EXECUTE ON FUNCTION pg_read_file(text) TO almost", "pg_read_file"),
    ("ALTER TABLE presence OWNER TO almost", "owns presence"),
)
def test_powers_of_a_postgresql_role(
    grant: str, power: str, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.delenv("PLANWEAVE_TRUST_ROLE")
    with psycopg.connect(postgresql_server.url("owner"), autocommit=True) as owner:
        owner.execute("CREATE ROLE almost LOGIN PASSWORD 'pass:w/rd@1'")
        try:
            owner.execute(grant.encode())
            with pytest.raises(RoleTooPowerful, match=power):
                open_sql(postgresql_server.url("almost"))
        finally:
            owner.execute("REASSIGN OWNED BY almost TO owner")
            owner.execute("DROP OWNED BY almost")
            owner.execute("DROP ROLE almost")


@pytest.mark.server
def test_the_remedy_is_a_role(postgresql_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    monkeypatch.delenv("PLANWEAVE_TRUST_ROLE")
    with pytest.raises(RoleTooPowerful) as caught:
        open_sql(postgresql_server.url("owner"))
    with psycopg.connect(postgresql_server.url("owner"), autocommit=True) as owner:
        owner.execute(caught.value.remedy.replace("choose one", "pass:w/rd@1").encode())
        database = open_sql(postgresql_server.url("planweave_reader"))
        assert database.run("SELECT COUNT(*) FROM node").rows == ((3,),)
        database.close()
        owner.execute("DROP OWNED BY planweave_reader; DROP ROLE planweave_reader")


@pytest.mark.server
def test_the_command_line_refuses_the_role_and_doctor_helps(
    postgresql_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PLANWEAVE_TRUST_ROLE")
    url = postgresql_server.url("owner")
    run = in_process(tmp_path, user_environment(tmp_path))

    def planweave(*arguments: str) -> Run:
        return run(*arguments, "--database", url)

    refused = planweave("query", "SELECT name FROM node")
    assert refused.returncode == 1
    assert "--trust-role" in refused.stderr
    helped = planweave("doctor")
    assert helped.returncode == 1
    assert "GRANT SELECT ON ALL TABLES" in helped.stdout
    assert planweave("query", "SELECT name FROM node", "--trust-role").returncode == 0
    attack = planweave("query", "SELECT ('/etc/passwd'::text).pg_read_file", "--trust-role")
    assert attack.returncode == QueryRefused.exit_code
    assert "root" not in attack.stdout


@in_postgresql
@cases(
    "SELECT n.name, c.note FROM node n JOIN country AS c ON c.home = n.name "
    "WHERE n.total_power > .5",
    "SELECT public.node.name FROM public.node",
    "SELECT s.total FROM (SELECT p.country, SUM(p.power) AS total FROM presence p "
    "GROUP BY p.country) s",
    "WITH t AS (SELECT * FROM presence), u AS (SELECT t.*, 1 AS one FROM t) "
    "SELECT u.power, u.one FROM u",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT r.n + 1 FROM r WHERE r.n < 3) "
    "SELECT r.n FROM r",
    "SELECT s.avg, s.max FROM (SELECT avg(power), max(power) FROM presence) s",
    "SELECT t.name FROM node t UNION SELECT t.note FROM country t",
    "SELECT d.day, g.g FROM generate_series(1, 3) AS d(day), generate_series(1, 3) AS g",
    "SELECT x.n FROM node m, LATERAL (SELECT m.total_power * 2 AS n) AS x",
    "SELECT v.a, w.column1 FROM (VALUES (1, 2)) AS v(a, b), (VALUES (1, 2)) AS w",
    "WITH node AS (SELECT node.name, node.inland AS dry FROM node) SELECT node.dry FROM node",
    "SELECT pg_catalog.lower(n.name), n.inland::int FROM node n",
    "SELECT i.name FROM inland i",
)
def test_dots_of_good_queries_pass(query: str, database: SqlDatabase) -> None:
    assert database.run(query).columns


def rows(database: SqlDatabase) -> list[object]:
    """Every row of every table, as another connection sees it; unknown tables would show too."""
    fresh = SqlDatabase(database._backend)
    tables = [entity.name for entity in fresh._describe().entities]
    return [
        (table, sorted(map(repr, fresh.run(f"SELECT * FROM {table}").rows))) for table in tables
    ]


@pytest.mark.parametrize(
    ("database", "query", "value"),
    [
        pytest.param(*engine.values, query, value, marks=engine.marks)
        for engine, query, value in (
            (ON_POSTGRESQL, r"SELECT E'\'; DROP TABLE presence; --'", "'; DROP TABLE presence; --"),
            (ON_POSTGRESQL, "SELECT $a$; DROP TABLE presence; --$a$", "; DROP TABLE presence; --"),
            (ON_POSTGRESQL, "SELECT 1 /* a /* b */ ; DROP TABLE presence; -- */", 1),
            (ON_MARIADB, r"SELECT '\'; DROP TABLE presence; -- '", "'; DROP TABLE presence; -- "),
        )
    ],
    indirect=["database"],
)
def test_what_is_text_is_only_text(database: SqlDatabase, query: str, value: object) -> None:
    assert database.run(query).rows == ((value,),)


@pytest.mark.server
@cases(
    (
        "postgresql",
        "ALTER ROLE owner SET standard_conforming_strings = off",
        r"SELECT '\'', pg_sleep(60) --'",
        r"\', pg_sleep(60) --",
    ),
    (
        "mariadb",
        "SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'",
        r"SELECT '\', SLEEP(60) -- '",
        "', SLEEP(60) -- ",
    ),
)
def test_a_server_that_reads_backslashes_otherwise(
    server: str, setting: str, query: str, text: str, request: pytest.FixtureRequest
) -> None:
    """The guard and the engine must agree on where a text ends, whatever the server's settings."""
    from sqlalchemy import create_engine

    found: Server = request.getfixturevalue(f"{server}_server")
    url = found.url("owner").replace("postgresql:", "postgresql+psycopg:")
    admin = create_engine(url.replace("mariadb:", "mysql+pymysql:"), isolation_level="AUTOCOMMIT")
    undo = setting.replace("= off", "= on").replace("'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", "DEFAULT")
    with admin.connect() as connection:
        connection.exec_driver_sql(setting)
    database = open_sql(found.url("owner"))
    try:
        assert database.run(query, LIMITS).rows == ((text,),)
    finally:
        database.close()
        with admin.connect() as connection:
            connection.exec_driver_sql(undo)
        admin.dispose()
