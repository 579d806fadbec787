import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import Server, Unobtainable, mariadb, postgresql
from shop import SHOP


@pytest.fixture
def shop_file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(SHOP)
    connection.close()
    return path


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    try:
        with postgresql(SHOP) as server:
            yield server
    except Unobtainable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[Server]:
    try:
        with mariadb(SHOP) as server:
            yield server
    except Unobtainable as reason:
        pytest.skip(str(reason))
