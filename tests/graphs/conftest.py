"""A database of three plants, relational and as a graph, and a way to run a method on it."""

from pathlib import Path

import pytest
from scripted import PAPER, Run, asking

SQL = """\
CREATE TABLE plant(name VARCHAR(20) PRIMARY KEY, cost DOUBLE PRECISION, region VARCHAR(20));
INSERT INTO plant VALUES ('Aachen', 10.5, 'west');
INSERT INTO plant VALUES ('Bonn', 7.25, 'west');
INSERT INTO plant VALUES ('Cottbus', 9, 'east');
"""
CYPHER = """\
CREATE (:Plant {name: "Aachen", cost: 10.5});
CREATE (:Plant {name: "Bonn", cost: 7.25});
CREATE (:Plant {name: "Cottbus", cost: 9.0});
CREATE (:Region {name: "west"});
MATCH (a:Plant {name: "Bonn"}), (b:Region {name: "west"}) CREATE (a)-[:IN {}]->(b);
"""
QUESTION = "Which plant is cheapest?"


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = tmp_path / "plants.sql"
    path.write_text(SQL)
    return str(path)


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "plants.cql"
    path.write_text(CYPHER)
    return str(path)


@pytest.fixture
def run(database: str) -> Run:
    """Runs a method with a script on the relational database, unless the context names another.

    The plan is judged after every observation, as in the paper: its calls are checked here.
    """
    return asking(QUESTION, database=database, **PAPER)
