# ruff: noqa: E501 - published statements stand on one line each
"""Worlds as SQL and Cypher scripts, and back."""

import sqlite3
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planweave import PlanweaveError
from planweave.simulators import building, locating, registry
from planweave.simulators.scripts import ScriptError, read_cypher, read_sql
from planweave.simulators.tables import (
    Column,
    GraphMapping,
    NodeLabel,
    RelationshipType,
    Table,
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
CYPHER = """CREATE (a_b:Trade_node {name:"a b", local_value:1, is_inland:true, total_power:1.5, outgoing:0, ingoing:0});
CREATE (C06:Country {name:"C06", home_node:"a b", development:3});
MATCH (a_b:Trade_node {name:"a b"}), (C06:Country {name:"C06"}) CREATE (C06)-[r:NodeCountry{is_home: true, has_has_merchant:  "False",base_trading_power: 2,calculated_trading_power: 2}]->(a_b);
"""
TABLES = {table.name: table for table in locating.TABLES}


def test_published_sql_with_both_spellings_loses_no_row() -> None:
    (table,) = read_sql(SQL)
    assert table.names[3] == "has_merchant"
    assert table.key == ("trade_node", "country_name")
    assert table.rows == (
        ("a; b", "it's", True, False, 4.0, 0.45),
        ("b", "c", False, False, 1.0, 1.0),
    )


def test_published_cypher_gives_typed_tables() -> None:
    world = read_cypher(CYPHER, TABLES, locating.GRAPH)
    assert world["trade_node"].rows == (("a b", 1.0, True, 1.5, 0.0, 0.0),)
    assert world["node_country"].rows == (("a b", "C06", True, False, 2.0, 2.0),)
    assert world["flow"].rows == ()


def repaired_cypher(text: str) -> str:
    return write_cypher(read_cypher(text, TABLES, locating.GRAPH), locating.GRAPH)


def test_scripts_written_again_are_repaired_and_stay_so() -> None:
    sql, cypher = write_sql(read_sql(SQL)), repaired_cypher(CYPHER)
    assert "has_has" not in sql + cypher
    assert "'it''s'" in sql
    assert "has_merchant: false" in cypher
    assert write_sql(read_sql(sql)) == sql
    assert repaired_cypher(cypher) == cypher
    database = sqlite3.connect(":memory:")
    database.executescript(sql)
    assert database.execute("SELECT count(*) FROM node_country").fetchone() == (2,)
    database.close()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("CREATE TABLE t(a INT);\nDROP TABLE t;", "line 2: .*neither"),
        ("CREATE TABLE t(a INT);\n\nINSERT INTO t(a) VALUES (1, 2);", "line 3: 2 values for 1"),
        ("CREATE TABLE t(a INT);\nINSERT INTO t(b) VALUES (1);", "line 2: the columns of t are a"),
        ("INSERT INTO t(a) VALUES (1);", "line 1: table t is not created"),
        ("CREATE TABLE t(a BLOB);", "a BLOB"),
        ("CREATE TABLE t(a INT);CREATE TABLE t(a INT);", "created twice"),
        ("CREATE TABLE t(a INT);\nINSERT INTO t(a) VALUES (x);", "'x' is neither text nor number"),
        ("CREATE TABLE t(a INT);\nINSERT INTO t(a) VALUES ('x');", "not a whole number"),
        ("CREATE TABLE t(a FLOAT);\nINSERT INTO t(a) VALUES (TRUE);", "not a number"),
        ("CREATE TABLE t(a BOOLEAN);\nINSERT INTO t(a) VALUES (1);", "neither true nor false"),
        ("CREATE TABLE t(a TEXT);\nINSERT INTO t(a) VALUES (1);", "not text"),
        ("CREATE TABLE t(a INT);\nINSERT INTO t(a) VALUES (1", "line 2: the last .* does not end"),
        (
            "CREATE TABLE t(a INT, PRIMARY KEY (a));INSERT INTO t(a) VALUES (1);" * 1
            + "INSERT INTO t(a) VALUES (1);",
            "two rows with the key",
        ),
    ],
)
def test_sql_that_is_not_understood_is_refused_by_line(text: str, sentence: str) -> None:
    with pytest.raises(ScriptError, match=f"^q1.sql.*{sentence}"):
        read_sql(text, "q1.sql")


NODE = 'CREATE (a:Trade_node {name:"a", local_value:1, is_inland:true, total_power:1, outgoing:0, ingoing:0});\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("CREATE (a:City {name: 'a'});", "line 1: the label City"),
        ("CREATE (a:Trade_node {name:'a'});", "local_value is missing"),
        (NODE.replace("ingoing:0", "ingoing:0, age:3"), "age is not known"),
        (
            NODE
            + "MATCH (a:Trade_node {name:'a'}), (b:Trade_node {name:'b'}) CREATE (a)-[:source{flow:1}]->(b);",
            "line 2: no Trade_node 'b' is created",
        ),
        (
            NODE
            + "MATCH (a:Trade_node {name:'a'}), (b:Trade_node {name:'a'}) CREATE (a)-[:road{flow:1}]->(b);",
            "type road",
        ),
        (
            NODE
            + "MATCH (a:Trade_node {name:'a'}), (b:Trade_node {name:'a'}) CREATE (a)-[:NodeCountry{flow:1}]->(b);",
            "does not run between",
        ),
        (NODE + "MATCH (a) DELETE a;", "line 2: this is neither"),
        (NODE + NODE, "two rows"),
    ],
)
def test_cypher_that_is_not_understood_is_refused_by_line(text: str, sentence: str) -> None:
    with pytest.raises(ScriptError, match=f"q1.cql.*{sentence}"):
        read_cypher(text, TABLES, locating.GRAPH, "q1.cql")


CITY = Table(
    "city",
    (
        Column("name", "text"),
        Column("people", "integer"),
        Column("area", "real"),
        Column("port", "boolean"),
    ),
    ("name",),
)
ROAD = Table(
    "road",
    (
        Column("start", "text", references="city"),
        Column("stop", "text", "city"),
        Column("km", "real"),
    ),
    (),
)
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
    tables = {"city": CITY, "road": ROAD}
    assert read_cypher(write_cypher(world, CITIES), tables, CITIES).tables == world.tables
    database = sqlite3.connect(":memory:")
    database.executescript(write_sql(world))
    stored = database.execute("SELECT name, people, area, port FROM city").fetchall()
    database.close()
    for found, (name, people, area, port) in zip(stored, rows, strict=True):
        # SQLite itself rounds the last digit of extreme numbers.
        assert found == (name, people, pytest.approx(area, rel=1e-14, abs=1e-300), port)


def test_cypher_escapes_what_sql_refuses() -> None:
    world = World.of((CITY.with_rows([('a\\"b\nc', 1, 1.0, True)]), ROAD))
    text = write_cypher(world, CITIES)
    assert text.count("\n") == 1
    assert read_cypher(text, {"city": CITY, "road": ROAD}, CITIES)["city"] == world["city"]
    with pytest.raises(PlanweaveError, match="backslash"):
        write_sql(world)
    for row, sentence in (
        (("a" * 256, 1, 1.0, True), "256 characters"),
        (("a", 1, float("inf"), True), "inf is not a number"),
    ):
        with pytest.raises(PlanweaveError, match=sentence):
            write_sql(World.of((CITY.with_rows([row]), ROAD)))


def test_a_dangling_relationship_is_not_dropped_silently() -> None:
    world = World.of((CITY, ROAD.with_rows([("x", "y", 1.0)])))
    with pytest.raises(PlanweaveError, match="names 'x', which city does not have"):
        write_cypher(world, CITIES)


def test_tables_refuse_what_is_wrong() -> None:
    with pytest.raises(PlanweaveError, match="cannot be the name"):
        Table("a b", (), ())
    with pytest.raises(PlanweaveError, match="3 values for 4"):
        CITY.with_rows([("x", 1, 1.0)])
    with pytest.raises(PlanweaveError, match="no column mayor"):
        CITY.values("mayor")
    with pytest.raises(PlanweaveError, match="no table road"):
        World.of((CITY,))["road"]
    with pytest.raises(PlanweaveError, match="no node label Town"):
        CITIES.node("Town")


@pytest.mark.parametrize("name", ["locating", "building", "distribution"])
def test_generated_worlds_survive_both_scripts(name: str) -> None:
    scenario = registry.scenario(name)
    world = scenario.generate(1, 200).world
    assert read_sql(write_sql(world)).tables == world.tables
    tables = {table.name: table for table in scenario.tables}
    again = read_cypher(write_cypher(world, scenario.graph), tables, scenario.graph)
    assert again.tables == world.tables


def test_published_building_statements_are_known() -> None:
    text = (
        'CREATE (n: Goods {name:"ammunition", code: 0, base_price:50, current_price:50, pop_demand:0});\n'
        'CREATE (n: Building {id: 1, name:"x", level:1});\n'
        "MATCH (g: Goods{code: 0}), (b: Building{id:1}) CREATE (g)-[r:Demand{max_demand: 5.0, current_input: 7.5, level: 1}]->(b);\n"
        "MATCH (g: Goods{code: 0}), (b: Building{id:1}) CREATE (b)-[r:Supply{max_supply: 1.0, current_output: 1.0,level: 1}]->(g);\n"
    )
    tables = {table.name: table for table in building.TABLES}
    world = read_cypher(text, tables, building.GRAPH)
    assert world["demand"].rows == ((0, 1, 5.0, 7.5, 1),)
    assert world["supply"].rows == ((0, 1, 1.0, 1.0, 1),)
