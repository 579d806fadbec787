"""References that no table declares are found in the data; chance is not one."""

from cases import cases
from shop import OpenSql

from planweave.tools.sql import SqlDatabase

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
