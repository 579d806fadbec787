"""Generated statements: what the guard lets pass, the engine itself must find harmless.

SQLite's authoriser is asked about every access. In PostgreSQL every function that is not listed,
every catalogue and another table are taken from the role, so that using one is an error of a kind
of its own. MariaDB is asked how it reads the statement.
"""

import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from guided import Guided, attacked
from servers import PASSWORD, Server
from shop import SHOP
from sql_grammar import DANGEROUS, Statements
from sql_statements import EVERYWHERE, MARIADB, POSTGRESQL, SQLITE
from tally import RecordTried

from planweave.tools.sql import fields, guard, open_sql
from planweave.tools.sql.functions import FUNCTIONS
from planweave.tools.sql.guard import check
from planweave.tools.sql.sqlite_process import _authorise, connect

FULL, SAMPLE = 100_000, 250
LIMIT = 0.3  # seconds of a statement
TABLES = {
    "node": ["name", "inland", "total_power"],
    "country": ["name", "home", "founded", "development", "note"],
    "presence": ["node", "country", "power"],
    "inland": ["name"],
}
GOOD = [
    "SELECT name FROM node WHERE total_power > 1 ORDER BY name LIMIT 2",
    "SELECT n.name, count(*) FROM node AS n JOIN presence p ON p.node = n.name GROUP BY n.name",
    "WITH t AS (SELECT node, sum(power) AS f FROM presence GROUP BY node) SELECT * FROM t",
    "SELECT c.name FROM country c WHERE EXISTS (SELECT 1 FROM presence p WHERE p.country = c.name)",
]
WATCHED = (guard, fields)
Harm = Callable[[str], str]
"""Runs a statement; what it did that it must not, or an empty text."""
Attack = Callable[[str, dict[str, str], Harm, str], list[str]]


@pytest.fixture
def attack(attack_is_full: bool, attack_seed: int, record_tried: RecordTried) -> Attack:
    """Attacks the guard of a dialect, with pieces of known statements; what did harm."""

    def attack(dialect: str, known: dict[str, str], harm: Harm, engine: str) -> list[str]:
        schema = {"sqlite": "main", "postgres": "public", "mysql": "shop"}[dialect]
        pieces = [*GOOD, *EVERYWHERE.values(), *known.values()]
        grammar = Statements(dialect, attack_seed, pieces)

        def passed(statement: str) -> str:
            return check(statement, dialect=dialect, tables=TABLES, schema=schema).text

        def harmful(texts: Sequence[str]) -> list[str]:
            return [f"{text!r}: {what}" for text in texts if (what := harm(text))]

        return attacked(
            Guided(attack_seed, WATCHED, pieces, grammar.next),
            (grammar.next() for _ in range(FULL if attack_is_full else SAMPLE)),
            passed,
            harmful,
            record_tried,
            f"sql, {engine},",
            full=attack_is_full,
        )

    return attack


def test_sqlite(shop_file: Path, attack: Attack) -> None:
    denied: list[object] = []
    end = 0.0

    def authorise(*access: object) -> int:
        answer = _authorise(*access)  # type: ignore[arg-type] # as sqlite3 calls it
        if answer == sqlite3.SQLITE_DENY:
            denied.append(access)
        return answer

    with closing(connect(f"{shop_file.as_uri()}?mode=ro")) as connection:
        connection.set_authorizer(authorise)
        connection.set_progress_handler(lambda: time.process_time() > end, 100)

        def harm(text: str) -> str:
            nonlocal end
            denied.clear()
            end = time.process_time() + LIMIT
            with suppress(sqlite3.Error, sqlite3.Warning):
                connection.execute(text).fetchmany(5)
            return f"accesses {denied}" if denied else ""

        found = attack("sqlite", SQLITE, harm, "SQLite")
    assert not found


BY_SYNTAX = ["timezone", "overlaps", "similar_to_escape", "like_escape", "is_normalized"]
"""Functions of PostgreSQL that are called by a clause of the language."""
REVOKE = """
DO $$ DECLARE one regprocedure; BEGIN
FOR one IN SELECT p.oid FROM pg_proc p WHERE proname <> ALL ('{%s}'::text[])
    AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
    AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid)
    AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (typinput, typoutput, typreceive, typsend,
        typmodin, typmodout, typanalyze, typsubscript))
    AND NOT EXISTS (SELECT FROM pg_aggregate a WHERE p.oid IN (aggtransfn, aggfinalfn, aggcombinefn,
        aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn))
LOOP EXECUTE format('REVOKE EXECUTE ON ROUTINE %%s FROM PUBLIC', one); END LOOP; END $$
"""
CANARIES = """
CREATE TABLE secret AS SELECT 'secret'::text AS name;
CREATE FUNCTION canary(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION canary() RETURNS text LANGUAGE sql AS 'SELECT 1::text';
CREATE FUNCTION leak(node) RETURNS text LANGUAGE sql AS 'SELECT ''x''';
CREATE FUNCTION leak(anyelement) RETURNS text LANGUAGE sql AS 'SELECT ''y''';
CREATE ROLE fuzz LOGIN PASSWORD '{password}';
ALTER ROLE fuzz SET default_transaction_read_only = on;
ALTER ROLE fuzz SET statement_timeout = '{milliseconds}ms';
GRANT SELECT ON node, country, presence, inland TO fuzz;
REVOKE SELECT ON ALL TABLES IN SCHEMA pg_catalog, information_schema FROM PUBLIC;
"""


@pytest.mark.server
def test_postgresql(postgresql_server: Server, attack: Attack) -> None:
    import psycopg

    def opened(user: str, database: str) -> "psycopg.Connection":
        url = f"postgresql://{user}@127.0.0.1:{postgresql_server.port}/{database}"
        return psycopg.connect(url, password=PASSWORD, autocommit=True, prepare_threshold=0)

    with opened("owner", "shop") as owner:
        owner.execute("CREATE DATABASE fuzz")
    listed = ",".join(sorted({*FUNCTIONS["postgres"], *BY_SYNTAX} - {"->", "->>"}))
    canaries = CANARIES.format(password=PASSWORD, milliseconds=int(1000 * LIMIT))
    with opened("owner", "fuzz") as owner:
        for script in (SHOP, canaries, REVOKE % listed):
            owner.pgconn.exec_(script.encode())
        with opened("fuzz", "fuzz") as connection:

            def harm(text: str) -> str:
                try:
                    connection.execute(text.encode(), prepare=True)
                except psycopg.errors.InsufficientPrivilege as error:
                    return str(error)
                except psycopg.errors.ReadOnlySqlTransaction as error:
                    return str(error)
                except psycopg.Error as error:
                    if connection.broken:
                        return f"the server is gone: {error}"
                return ""

            assert "canary" in harm("SELECT ('a'::text).canary")
            assert "pg_read_file" in harm("SELECT pg_read_file('/etc/hostname')")
            assert "secret" in harm("SELECT * FROM secret")
            assert harm("SELECT * FROM pg_proc")
            assert harm("SELECT * FROM node FOR UPDATE")
            assert not harm("SELECT lower(name) || 'x', name::text LIKE 'a' FROM node")
            found = attack("postgres", POSTGRESQL, harm, "PostgreSQL")
            locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
            assert owner.execute(locks).fetchall() == [(0,)]
    assert not found


_TEXT = re.compile(r"'(?:[^'\\]|\\.|'')*'")
_HARMFUL = re.compile(rf"\b(?:{'|'.join(DANGEROUS['mysql'])})`?\(", re.IGNORECASE)
_NAME = re.compile(r" AS `(?:[^`]|``)*`")  # of a column: the text of what it shows
_CTE = re.compile(r"`?\w+`? ?\([`\w, ]*\) as \(", re.IGNORECASE)
_REFUSALS = (1044, 1142, 1143, 1227, 1290, 1370, 1792)


@pytest.mark.server
def test_mariadb(mariadb_server: Server, attack: Attack) -> None:
    import pymysql

    with closing(
        pymysql.connect(
            host="127.0.0.1",
            port=mariadb_server.port,
            user="reader",
            password=PASSWORD,
            database="shop",
            init_command=f"SET max_statement_time = {LIMIT}, sql_mode = 'STRICT_TRANS_TABLES', "
            "tx_read_only = ON",
        )
    ) as connection:

        def reading(text: str) -> str:
            """The statement as the server reads it."""
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN EXTENDED {text}")
                cursor.execute("SHOW WARNINGS")
                return " ".join(str(cell) for row in cursor.fetchall() for cell in row)

        def harm(text: str) -> str:
            try:
                names_gone = _NAME.sub("", _TEXT.sub("''", reading(text)))
                if called := _HARMFUL.search(_CTE.sub("", names_gone)):
                    return f"calls {called.group()}"
                with connection.cursor() as cursor:
                    cursor.execute(text)
            except pymysql.Error as error:
                if error.args[0] in _REFUSALS or not connection.open:
                    return str(error)
            return ""

        assert "sleep" in harm("SELECT /*!50000 SLEEP(0) */")
        assert harm("SELECT * FROM mysql.user")
        assert not harm("SELECT LOWER(name), ' 1 SLEEP(60) -- ' FROM node WHERE name <> 'sleep('")
        found = attack("mysql", MARIADB, harm, "MariaDB")
    assert not found


def test_the_tables_are_those_of_the_shop(shop_file: Path) -> None:
    tables = open_sql(shop_file)._describe().entities
    assert {one.name: [field.name for field in one.fields] for one in tables} == TABLES
