"""Statements without end: each is stopped by its limit, and stops nobody else.

One that is not stopped runs until the test's time is over.
"""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from shop import SHOP
from sqlite_bombs import MEMORY, SLOW_STEPS
from tally import RecordTried

from planweave.tools.database import Limits, QueryFailed, QueryTimeout
from planweave.tools.sql import SqlDatabase, open_sql

pytestmark = pytest.mark.slow

SECONDS = 0.5
FULL = os.environ.get("PLANWEAVE_ATTACK") == "full"
BOMBS = [pytest.param(query, id=name) for name, query in (SLOW_STEPS | MEMORY).items()]


@pytest.fixture(scope="module", params=["shop.sql", "shop.db"] if FULL else ["shop.sql"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SqlDatabase]:
    path = tmp_path_factory.mktemp("bombs") / "shop.sql"
    path.write_text(SHOP)
    opened = open_sql(path)
    if request.param == "shop.db":
        made = Path(opened._backend.uri.removeprefix("file://").removesuffix("?mode=ro"))  # type: ignore[attr-defined] # SQLite's
        opened = open_sql(made.rename(path.with_suffix(".db")))
    yield opened
    opened.close()


@pytest.mark.parametrize("query", BOMBS if FULL else BOMBS[::10])
def test_it_ends(database: SqlDatabase, query: str) -> None:
    with pytest.raises((QueryTimeout, QueryFailed)):
        database.run(query, Limits(seconds=SECONDS))
    assert database.run("SELECT count(*) FROM node").rows == ((3,),)


def test_the_others_go_on(database: SqlDatabase, record_tried: RecordTried) -> None:
    """Eight slow statements of one owner, and what another sees meanwhile."""
    limits = Limits(seconds=5.0, owner="mallory")
    database.run("SELECT 1", Limits(owner="alice"))

    def is_stopped(number: int) -> bool:
        with suppress(QueryTimeout, QueryFailed):
            database.run(SLOW_STEPS["instr, many columns"].replace("89", str(number)), limits)
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(is_stopped, number) for number in range(8)]
        time.sleep(0.3)
        database.run("SELECT count(*) FROM node", Limits(owner="alice"))
        ended_before_hers = [one for one in running if one.done()]
    not_stopped = [one for one in running if not one.result()]
    record_tried(8, len(not_stopped))
    assert not not_stopped
    assert not ended_before_hers


@pytest.mark.skipif(not Path("/proc").exists(), reason="open files are seen under Linux")
def test_they_write_no_temporary_files(database: SqlDatabase) -> None:
    """What a sort needs is memory, which is bounded."""
    seen: set[str] = set()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(database.run, MEMORY["sort of long rows"], Limits(seconds=120.0))
        while not running.done():
            seen |= {str(file) for file in _open_files()}
            time.sleep(0.02)
        with pytest.raises(QueryTimeout, match="needs too much memory"):
            running.result()
    assert any(name.endswith(("shop.db", "script.db")) for name in seen)
    assert not [name for name in seen if "etilqs" in name]


def _open_files() -> Iterator[Path]:
    """What the processes that this one has started have open."""
    for listed in Path("/proc/self/task").glob("*/children"):
        for process in listed.read_text().split():
            for link in Path(f"/proc/{process}/fd").glob("*"):
                with suppress(OSError):
                    yield link.readlink()
