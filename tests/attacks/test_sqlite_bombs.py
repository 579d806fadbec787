"""Statements without end: each is stopped within a second of its limit, and stops nobody else."""

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
LATE = 1.0 if FULL else 5.0  # the tests may share the machine
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
    opened.run("SELECT 1")  # what is imported at the first query is no part of its time
    yield opened
    opened.close()


@pytest.mark.parametrize("query", BOMBS if FULL else BOMBS[::10])
def test_it_ends_in_time(database: SqlDatabase, query: str) -> None:
    start = time.monotonic()
    with pytest.raises((QueryTimeout, QueryFailed)):
        database.run(query, Limits(seconds=SECONDS))
    assert time.monotonic() - start < SECONDS + LATE
    assert database.run("SELECT count(*) FROM node").rows == ((3,),)


def test_the_others_go_on(database: SqlDatabase, record_tried: RecordTried) -> None:
    """Eight slow statements of one owner, and what another sees meanwhile."""
    limits = Limits(seconds=2.0, owner="mallory")
    database.run("SELECT 1", Limits(owner="alice"))

    def slow(number: int) -> float:
        start = time.monotonic()
        with pytest.raises((QueryTimeout, QueryFailed)):
            database.run(SLOW_STEPS["instr, many columns"].replace("89", str(number)), limits)
        return time.monotonic() - start

    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(slow, number) for number in range(8)]
        time.sleep(0.3)
        waited = []
        while not all(one.done() for one in running):
            start = time.monotonic()
            database.run("SELECT count(*) FROM node", Limits(owner="alice"))
            waited.append(time.monotonic() - start)
    late = [one.result() for one in running if one.result() > limits.seconds + LATE]
    record_tried(8, len(late))
    assert not late
    assert sorted(waited)[len(waited) // 2] < limits.seconds / 2


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
