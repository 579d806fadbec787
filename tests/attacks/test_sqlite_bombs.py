"""Statements whose single steps, memory or temporary files have no end of their own.

Each is stopped by its limit, and stops nobody else. One that is not stopped runs until the test's
time is over.
"""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from shop import SHOP
from tally import RecordTried

from planweave.tools.database import Limits, QueryFailed, QueryTimeout
from planweave.tools.sql import SqlDatabase, open_sql

_A = "printf('%.*c', 499000, 'a')"
_B = "printf('%.*c', 240000, 'a') || 'b'"
_ROWS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1000)"
_ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
_TEXTS = f"t(a) AS MATERIALIZED (SELECT {_A}), s(b) AS MATERIALIZED (SELECT {_B})"
_LONG = f"WITH {_TEXTS}"
_NESTED = "printf('%.*c', 1000, '[') || printf('%.*c', 1000, ']')"
_LIST = "'[' || replace(printf('%.*c', 100000, 'a'), 'a', '1,') || '1]'"

SLOW_STEPS = {
    "instr": f"{_ROWS}, {_TEXTS} SELECT sum(instr(t.a, s.b || n)) FROM t, s, r",
    "instr, many columns": f"{_LONG} SELECT "
    + ", ".join(f"instr(a, b || {n})" for n in range(90))
    + " FROM t, s",
    "instr in ORDER BY": f"{_ROWS}, {_TEXTS} SELECT n FROM t, s, r ORDER BY instr(t.a, s.b || n)",
    "instr in a constant": "SELECT " + " + ".join(f"instr({_A}, {_B} || {n})" for n in range(90)),
    "replace": f"{_LONG} SELECT "
    + " + ".join(f"length(replace(a, b || {n}, ''))" for n in range(90))
    + " FROM t, s",
    "like": f"{_ENDLESS}, t(a) AS MATERIALIZED (SELECT {_A}) "
    f"SELECT sum(a LIKE '{'%a' * 80}b' || n) FROM t, r",
    "glob with sets": f"{_ENDLESS}, t(a) AS MATERIALIZED (SELECT {_A}) "
    f"SELECT sum(a GLOB '{'*[a-z]' * 30}B' || n) FROM t, r",
    "json, flat": f"{_ENDLESS}, t(a) AS MATERIALIZED (SELECT {_LIST}) "
    "SELECT sum(json_extract(t.a, '$[' || (99000 + n % 1000) || ']')) FROM t, r",
    "json, joined": f"WITH t(a) AS MATERIALIZED (SELECT {_LIST}) SELECT count(*) "
    "FROM t, json_each(t.a) x, json_each(t.a) y, json_each(t.a) z",
    "json, nested": f"{_ENDLESS} SELECT count(json({_NESTED} || substr(n, 1, 0))) FROM r",
    "json, tree": f"WITH t(a) AS (SELECT {_LIST}) SELECT count(x.fullkey || y.path) "
    "FROM t, json_tree(t.a) x, json_tree(t.a) y",
    "hex": f"{_ENDLESS} SELECT sum(length(hex(printf('%.*c', 240000, n)))) FROM r",
    "soundex": f"{_ENDLESS} SELECT count(soundex(printf('%.*c', 490000, 'a'))) FROM r",
    "date": f"{_ENDLESS} SELECT count(strftime('%Y %j %W', n, '+1 day', '+1 month')) FROM r",
    "number": f"{_ENDLESS} SELECT count(printf('%.400000f', n)) FROM r",
    "compare": f"{_ENDLESS}, {_TEXTS} SELECT count(*) FROM t, r WHERE a || n = a || (n + 1)",
    "join without a key": f"{_ENDLESS} SELECT count(*) FROM r a JOIN r b ON a.n = -b.n",
    "never a row": f"{_ENDLESS} SELECT n FROM r WHERE n < 0",
    "rows, then none": f"{_ENDLESS} SELECT n FROM r WHERE n < 40",
}
MEMORY = {
    "sort": f"{_ENDLESS} SELECT n FROM r ORDER BY -n",
    "sort of long rows": f"{_ENDLESS} SELECT printf('%.*c', 400000, n) FROM r ORDER BY 1",
    "distinct": f"{_ENDLESS} SELECT DISTINCT printf('%.*c', 400000, 'a') || n FROM r "
    "WHERE n % 2 < 2 ORDER BY 1",
    "group by": f"{_ENDLESS} SELECT count(*) FROM r GROUP BY n",
    "union": f"{_ENDLESS} SELECT n FROM r UNION SELECT -n FROM r",
    "except": f"{_ENDLESS} SELECT n FROM r EXCEPT SELECT -n FROM r",
    "recursion without repetition": "WITH RECURSIVE r(n) AS "
    "(SELECT 1 UNION SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "wide queue": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r UNION ALL "
    "SELECT n + 2 FROM r) SELECT max(n) FROM r",
    "materialized": f"{_ENDLESS}, m AS MATERIALIZED (SELECT n, printf('%.*c', 4000, 'a') t FROM r) "
    "SELECT count(*) FROM m",
    "automatic index": f"{_ENDLESS}, m AS MATERIALIZED (SELECT n FROM r) "
    "SELECT count(*) FROM m a JOIN m b ON a.n = b.n + 1",
    "window": f"{_ENDLESS} SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING "
    "AND UNBOUNDED FOLLOWING) FROM r",
    "group_concat": f"{_ENDLESS} SELECT n % 1000000 k, group_concat(printf('%.*c', 4000, 'a')) "
    "FROM r GROUP BY k",
    "json_group_array": f"{_ENDLESS} SELECT n % 100000 k, json_group_array(n) FROM r GROUP BY k",
    "count distinct": f"{_ENDLESS} SELECT count(DISTINCT n) FROM r",
    "in": f"{_ENDLESS} SELECT 1 WHERE 0 IN (SELECT n FROM r)",
}


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
    limits = Limits(seconds=3.0, owner="mallory")
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
