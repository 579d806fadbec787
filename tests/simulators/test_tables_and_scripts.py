# ruff: noqa: E501 - published statements stand on one line each
"""Worlds as SQL scripts and back, and as Cypher scripts."""

import random
import sqlite3
import string

import pytest
from cases import cases
from hypothesis import given
from hypothesis import strategies as st

from planweave import PlanweaveError
from planweave.simulators import registry
from planweave.simulators.scripts import ScriptError, read_sql
from planweave.simulators.tables import (
    Column,
    DataTable,
    GraphMapping,
    NodeLabel,
    RelationshipType,
    World,
    write_cypher,
    write_sql,
)

SQL = """
CREATE TABLE node_country( trade_node VARCHAR(30), country_name VARCHAR(30), is_home BOOLEAN,
  has_has_merchant BOOLEAN, base_trading_power FLOAT, calculated_trading_power FLOAT,
  PRIMARY KEY (trade_node, country_name));
INSERT INTO node_country(trade_node,country_name, is_home, has_has_merchant, base_trading_power, calculated_trading_power) VALUES ("a; b", "it's", TRUE, FALSE, 4, 4.5e-1);
-- a comment; with a semicolon
INSERT INTO node_country(trade_node,country_name, is_home, has_merchant, base_trading_power, calculated_trading_power) VALUES ("b", "c", FALSE, FALSE, 1, 1);
"""


def test_published_sql_with_both_spellings_loses_no_row() -> None:
    (table,) = read_sql(SQL)
    assert table.names[3] == "has_merchant"
    assert table.key == ("trade_node", "country_name")
    assert table.rows == (
        ("a; b", "it's", True, False, 4.0, 0.45),
        ("b", "c", False, False, 1.0, 1.0),
    )


def test_scripts_written_again_are_repaired_and_stay_so() -> None:
    sql = write_sql(read_sql(SQL))
    assert "has_has" not in sql
    assert "'it''s'" in sql
    assert write_sql(read_sql(sql)) == sql
    database = sqlite3.connect(":memory:")
    database.executescript(sql)
    assert database.execute("SELECT count(*) FROM node_country").fetchone() == (2,)
    database.close()


@cases(
    ("CREATE TABLE t(a INT);\nDROP TABLE t;", "line 2: .*neither"),
    ("CREATE TABLE t(a INT);\n\nINSERT INTO t(a) VALUES (1, 2);", "line 3: 2 values for 1"),
    ("CREATE TABLE t(a INT);\nINSERT INTO t(b) VALUES (1);", "line 2: the columns of t are a"),
    ("INSERT INTO t(a) VALUES (1);", "line 1: table t is not created"),
    ("CREATE TABLE t(a BLOB);", "a BLOB"),
    ("CREATE TABLE t(a INT);CREATE TABLE t(a INT);", "created twice"),
    ("CREATE TABLE t(a INT);\nINSERT INTO t(a) VALUES (x);", "'x' is neither text nor number"),
    ("CREATE TABLE t(a INT);\nINSERT INTO t(a) VALUES ('x');", "not a whole number"),
    ("CREATE TABLE t(a FLOAT);\nINSERT INTO t(a) VALUES (TRUE);", "not a number"),
    ("CREATE TABLE t(a FLOAT);\nINSERT INTO t(a) VALUES (nan);", "line 2: nan is not a number"),
    (f"CREATE TABLE t(a REAL);\nINSERT INTO t(a) VALUES (1{'0' * 400});", "not a number"),
    ("CREATE TABLE t(a BOOLEAN);\nINSERT INTO t(a) VALUES (1);", "neither true nor false"),
    ("CREATE TABLE t(a TEXT);\nINSERT INTO t(a) VALUES (1);", "not text"),
    ("CREATE TABLE t(a INT);\nINSERT INTO t(a) VALUES (1", "line 2: the last .* does not end"),
    (
        "CREATE TABLE t(a INT, PRIMARY KEY (a));INSERT INTO t(a) VALUES (1);" * 1
        + "INSERT INTO t(a) VALUES (1);",
        "two rows with the key",
    ),
)
def test_sql_that_is_not_understood_is_refused_by_line(text: str, sentence: str) -> None:
    with pytest.raises(ScriptError, match=f"^q1.sql.*{sentence}"):
        read_sql(text, "q1.sql")


OF_CITY = (Column("people", "integer"), Column("area", "real"), Column("port", "boolean"))
CITY = DataTable("city", (Column("name", "text"), *OF_CITY), ("name",))
ENDS = (Column("start", "text", references="city"), Column("stop", "text", "city"))
ROAD = DataTable("road", (*ENDS, Column("km", "real")), ())
CITIES = GraphMapping(
    nodes=(NodeLabel(label="City", table="city", key="name", properties={"people": "size"}),),
    relationships=(
        RelationshipType(type="ROAD", table="road", start=("start", "City"), end=("stop", "City")),
    ),
)
names = st.text(
    string.printable.replace("\\", "").replace("\r", "").replace("\n", "") + "éß中", max_size=9
)
cities = st.lists(
    st.tuples(
        names,
        st.integers(-(2**40), 2**40),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda row: row[0],
)


@given(
    cities, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(0, 1e9)), max_size=5)
)
def test_what_is_written_is_read_back(
    rows: list[tuple[str, int, float, bool]], roads: list[tuple[int, int, float]]
) -> None:
    place = [row[0] for row in rows]
    joined = [(place[a % len(place)], place[b % len(place)], km) for a, b, km in roads]
    world = World.of((CITY.with_rows(rows), ROAD.with_rows(joined)))
    assert read_sql(write_sql(world)).tables == world.tables
    database = sqlite3.connect(":memory:")
    database.executescript(write_sql(world))
    stored = database.execute("SELECT name, people, area, port FROM city").fetchall()
    database.close()
    for found, (name, people, area, port) in zip(stored, rows, strict=True):
        # SQLite itself rounds the last digit of extreme numbers.
        assert found == (name, people, pytest.approx(area, rel=1e-14, abs=1e-300), port)


def test_cypher_escapes_what_sql_refuses() -> None:
    name, written = 'a\\"b\nc', r'{name: "a\\\"b\nc"'
    cities = CITY.with_rows([(name, 1, 1.0, True), ("b", 2, 1.0, False)])
    world = World.of((cities, ROAD.with_rows([(name, "b", 9.5)])))
    assert write_cypher(world, CITIES).splitlines() == [
        f"CREATE (:City {written}, size: 1, area: 1.0, port: true}});",
        'CREATE (:City {name: "b", size: 2, area: 1.0, port: false});',
        f'MATCH (a:City {written}}}), (b:City {{name: "b"}}) CREATE (a)-[:ROAD {{km: 9.5}}]->(b);',
    ]
    with pytest.raises(PlanweaveError, match="backslash"):
        write_sql(world)
    for row, sentence in (
        (("a" * 256, 1, 1.0, True), "256 characters"),
        (("a", 1, float("inf"), True), "inf is not a number"),
    ):
        with pytest.raises(PlanweaveError, match=sentence):
            write_sql(World.of((CITY.with_rows([row]), ROAD)))


def test_tables_refuse_what_is_wrong() -> None:
    with pytest.raises(PlanweaveError, match="cannot be the name"):
        DataTable("a b", (), ())
    with pytest.raises(PlanweaveError, match="3 values for 4"):
        CITY.with_rows([("x", 1, 1.0)])
    with pytest.raises(PlanweaveError, match="no column mayor"):
        CITY.values("mayor")
    with pytest.raises(PlanweaveError, match="no table road"):
        World.of((CITY,))["road"]
    with pytest.raises(PlanweaveError, match="no node label Town"):
        CITIES.node("Town")


@cases(
    ("building", ("goods", "building", "supply", "demand")),
    ("locating", ("country", "node_country")),
)
@given(seed=st.integers(0, 10_000), semantics=st.sampled_from(["printed", "annotation"]))
def test_rows_have_no_order(name: str, tables: tuple[str, ...], seed: int, semantics: str) -> None:
    scenario = registry.scenario(name)
    made, parameters = scenario.generate(seed % 5, 120)
    rows = {
        table: random.Random(seed).sample(made[table].rows, k=len(made[table].rows))
        for table in tables
    }
    asked = {**parameters, "semantics": semantics}
    before, after = (scenario.simulate(world, asked) for world in (made, made.changed(**rows)))
    values = dict(zip(after.candidates, after.values.tolist(), strict=True))
    assert before.values.tolist() == pytest.approx([values[c] for c in before.candidates], rel=1e-9)
    assert set(before.equivalent) == set(after.equivalent)
