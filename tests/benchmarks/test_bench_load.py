"""The load benchmark: a server and a bare loop under load, errors counted, growth of memory."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import Unobtainable, program

from planweave import BadInput
from planweave.apps.cli.main import main
from planweave.benchmarks.load import kills as load_kills
from planweave.benchmarks.load import measure as suite
from planweave.benchmarks.load.processes import DECISION, Served


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run ``planweave bench load``; gives its exit code."""
    monkeypatch.setenv("PLANWEAVE_RESPONSE_CACHE", "off")
    monkeypatch.setattr(sys, "argv", ["planweave", "bench", "load", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.server
def test_measures_a_server_beside_a_bare_loop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--concurrency", "4", "--runs", "8", "--latency", "0", "--out", str(tmp_path))
    assert command(monkeypatch, *words, "--json") == 0
    report = json.loads((tmp_path / "load-sqlite-1.json").read_text())
    assert json.loads(capsys.readouterr().out) == report
    assert report["command"].startswith("planweave bench load --concurrency 4")
    assert {"date", "machine", "versions", "commit"} <= report.keys()
    bare, server = report["levels"]
    assert (bare["loop"], server["loop"]) == ("bare", "server")
    for one in (bare, server):
        assert (one["runs"], one["errors"], one["problem"]) == (8, 0, "")
        assert 0 < one["p50"] <= one["p95"] <= one["seconds"]
    steps = {round(one["steps_per_second"] * one["seconds"]) for one in (bare, server)}
    assert steps == {8 * 5}  # both go through the same nodes
    assert bare["cpu_ms"] > 0
    page = (tmp_path / "load-sqlite-1.md").read_text()
    assert page.startswith(f"`{report['command']}`")
    row = next(line for line in page.splitlines() if "| server |" in line)
    assert row.startswith("| 0 ms | 4 | server | 8 | 0 |")
    assert server["ratio"] == server["steps_per_second"] / bare["steps_per_second"]
    if sys.platform == "linux":
        assert server["cpu_ms"] > 0
        assert 20 < server["memory_before_mb"] <= server["memory_after_mb"] + 20


@pytest.mark.server
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
def test_runs_whose_worker_is_killed_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each worker has room for half of the runs, so either has some to lose, if not too late."""
    monkeypatch.setattr("random.uniform", lambda _least, _most: 0.4)
    words = ("--concurrency", "6", "--latency", "1500", "--kills", "1", "--out", str(tmp_path))
    assert command(monkeypatch, *words, "--workers", "2", "--jobs", "3") == 0
    report = json.loads((tmp_path / "kills-sqlite-2.json").read_text())
    (one,) = report["kills"]
    assert (one["runs"], one["lost"]) == (6, 0)
    # A machine that is short of processor time may repeat a step of which no checkpoint was kept.
    assert 0 <= one["repeated"] <= one["cut"]
    assert 0 <= one["calls"] <= 2 * one["cut"]
    assert one["cut"] > 0
    assert "| 1 | 6 |" in (tmp_path / "kills-sqlite-2.md").read_text()


@pytest.mark.server
def test_the_first_pixel_and_the_first_token_are_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    try:
        program("chromium", package="chromium", places="/usr/bin")
    except Unobtainable as reason:
        pytest.skip(str(reason))
    words = ("--page", "1", "--latency", "100", "--out", str(tmp_path))
    assert command(monkeypatch, *words) == 0
    report = json.loads((tmp_path / "page-sqlite-1.json").read_text())
    pixel, token = report["page"]
    assert (pixel["what"], token["what"]) == ("first useful pixel", "first token")
    assert pixel["page_ms"] > 0
    assert pixel["bare_ms"] > 0
    assert token["page_ms"] > 2 * 100  # both calls of the model wait so long
    assert token["bare_ms"] > 2 * 100
    assert "| first token | 1 |" in (tmp_path / "page-sqlite-1.md").read_text()


RIGHT = {"answer": {"decision": DECISION}, "facts": [1]}


@pytest.mark.parametrize(
    ("status", "values", "nodes", "ended"),
    [
        ("success", RIGHT, "ab", load_kills.Ended(2, "", repeated=False)),
        ("success", RIGHT, "aba", load_kills.Ended(2, "", repeated=True)),
        ("success", RIGHT | {"facts": [1, 2]}, "ab", load_kills.Ended(2, "", repeated=True)),
        ("success", {"facts": []}, "a", load_kills.Ended(2, "success, decided None.", False)),
        ("error", {}, "a", load_kills.Ended(2, "error, decided None.", repeated=False)),
    ],
)
async def test_what_became_of_a_run(
    status: str, values: dict[str, object], nodes: str, ended: load_kills.Ended
) -> None:
    """Of one that was taken up twice; the first answer of the server breaks off."""
    told = [f'event: metadata\ndata: {{"attempt": {number}}}\n\n' for number in (1, 2)]
    told += [f'event: updates\ndata: {{"{node}": null}}\n\n' for node in nodes]
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if len(asked) == 1:
            raise httpx.ReadError("the worker is gone")
        if request.url.path.endswith("/stream"):
            return httpx.Response(200, text="".join(told))
        return httpx.Response(200, json={"status": status, "values": values})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        no_process: Any = None
        server = Served("http://server", no_process)
        sides = suite.Sides(client, server, "http://model/0/v1#scripted", Path("x.sqlite"))
        assert await load_kills.ended(sides, "/threads/t/runs/r") == ended
    assert asked[2:] == ["/threads/t/state", "/threads/t/runs/r/stream"]


@pytest.mark.parametrize("given", ["1,many", "0", ""])
def test_users_are_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    assert command(monkeypatch, "--concurrency", given) != 0
    assert "no list of whole numbers of at least 1" in capsys.readouterr().err


class Fake(suite.Sides):
    """Runs that take no server; one in three decides wrongly, one in three fails."""

    def __init__(self) -> None:
        self.served: Any = self
        self.asked = 0

    def workers(self) -> list[int]:
        """A single process."""
        return [1]

    def memory_mb(self) -> float:
        """What the server would say."""
        return 100.0 + self.asked

    def cpu_seconds(self) -> float:
        """Two seconds a run, of all that were asked for."""
        return 2.0 * self.asked

    async def server(self) -> AsyncIterator[Mapping[str, Any]]:
        """A run of two steps."""
        self.asked += 1
        number = self.asked % 3
        await asyncio.sleep(0.001)
        yield {"selector": None}
        if number == 2:
            raise ValueError("out of order")
        yield {"answering_machine": {"answer": {"decision": DECISION if number else "Birch"}}}

    bare = server


async def test_the_only_worker_is_not_killed() -> None:
    with pytest.raises(BadInput, match="another goes on"):
        await anext(load_kills.kills(Fake(), runs=1, rounds=1))


async def test_errors_are_counted_not_raised() -> None:
    ran: list[suite.Ran] = []
    seconds = await suite.load(Fake().server, 4, range(9), ran.append)
    level = suite.level("server", 0, 4, ran, seconds)
    assert (level.runs, level.errors) == (9, 6)
    assert level.problem in ("ValueError: out of order", "The run ended with the decision 'Birch'.")
    assert level.steps_per_second == pytest.approx((3 * 2 + 3 * 1 + 3 * 2) / seconds)


@pytest.mark.parametrize(("runs", "minutes", "done"), [(9, 60, 9), (1000, 0, 6)])
async def test_a_load_ends_with_its_runs_or_its_time(runs: int, minutes: float, done: int) -> None:
    """But two runs for each user it has in any case."""
    told: list[None] = []
    levels = await suite.compare(
        Fake(),
        latency_ms=0,
        concurrency=3,
        runs=runs,
        minutes=minutes,
        finished=lambda: told.append(None),
    )
    assert [level.runs for level in levels] == [done, done]
    assert len(told) == 2 * done
    steps = levels[1].steps_per_second * levels[1].seconds
    assert levels[1].cpu_ms == pytest.approx(2000 * done / steps)


async def test_an_interrupted_soak_keeps_what_it_measured() -> None:
    sides, enough = Fake(), asyncio.Event()
    finished: list[None] = []

    def note() -> None:
        finished.append(None)
        if len(finished) == 12:
            enough.set()

    soaking = asyncio.create_task(
        suite.soak(sides, latency_ms=0, concurrency=3, minutes=60, finished=note)
    )
    await enough.wait()
    soaking.cancel()
    found = await soaking
    assert found.level.runs == len(finished) >= 12
    assert found.memory
    assert found.slope is None  # three minutes are the least


def test_growth_is_that_of_the_second_half() -> None:
    def memory(growing: float) -> list[tuple[float, float]]:
        """Caches fill for half an hour; then so many MB an hour, and a ripple."""
        return [
            (s, 200 + (s / 10 if s < 1800 else 180 + growing * (s - 1800) / 3600 + s % 20 / 20))
            for s in map(float, range(0, 3601, 10))
        ]

    flat, growing = suite.slope(memory(0)), suite.slope(memory(60))
    assert flat
    assert flat.low < 0 < flat.high
    assert growing
    assert growing.n >= 30
    assert growing.low < 60 < growing.high
    assert growing.mb_per_hour == pytest.approx(60, abs=2)
    assert suite.slope([(0.0, 200.0), (10.0, 201.0)]) is None
    assert suite.slope([]) is None
    level = suite.level("server", 0, 1, [], 1.0)
    told = suite.growth(suite.Soak(level=level, memory=[], slope=growing))
    assert told.startswith(f"Memory: {growing.mb_per_hour:+.1f} MB an hour [")
    assert f"over the last {growing.n} minutes" in told
    assert suite.growth(suite.Soak(level=level, memory=[], slope=None)) == ""
