"""The server's parts in this process: its one thread, its storage, what a run may take."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from documents import WordTokens
from offers import PLAN, scripted
from openai_server import serving
from sqlalchemy import create_engine, select
from sqlalchemy.exc import IntegrityError
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from trap import assert_makes_no_foreign_objects
from waiting import until

from planweave.apps.server.admission import Admission
from planweave.apps.server.app import create_app
from planweave.apps.server.engine import Engine
from planweave.apps.server.errors import Conflict, NotFound, TooMuch
from planweave.apps.server.feed import Feed
from planweave.apps.server.one_thread import OneThread
from planweave.apps.server.people import Gate, Person, digest
from planweave.apps.server.runs import FIRST_NUMBER, RunClaim, RunOrder, Runs, SpentToday
from planweave.apps.server.settings import ServerSettings, UserLimits, server_settings
from planweave.apps.server.storage import Storage, open_storage
from planweave.apps.server.tables import address, events, ledger
from planweave.apps.server.tables import runs as all_runs
from planweave.apps.server.threads import Threads, add_thread
from planweave.apps.server.wire import WireEvent
from planweave.tools.documents import chunks
from planweave.usage import Budget

ANN = Person("ann", UserLimits(), shared=True)
NOTHING = SpentToday()


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setenv("PLANWEAVE_SERVE_URL", str(tmp_path / "serve.sqlite"))
    server_settings.cache_clear()
    yield monkeypatch
    server_settings.cache_clear()


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    async with open_storage(str(tmp_path / "serve.sqlite")) as opened:
        yield opened


@pytest.fixture
def runs(storage: Storage) -> Runs:
    return Runs(storage.database)


def order(**more: Any) -> RunOrder:
    return RunOrder(method="planrag", payload={"stream_mode": []}, metadata={}, **more)


async def submitted(runs: Runs, thread: str | None = None) -> dict[str, Any]:
    return await runs.create(ANN, thread, order(if_missing="create"))


async def claimed(runs: Runs, worker: str, most: int = 9) -> list[RunClaim]:
    return await runs.claim(worker, 60, most)


async def ended(
    runs: Runs, claim: RunClaim, worker: str = "one", spent: SpentToday = NOTHING
) -> bool:
    """Whether the worker may end the run, which it does well."""
    last = WireEvent(claim.run_id, claim.first_number, "end", "null")
    return await runs.finish(claim, worker, status="success", state={}, unsaved=[last], spent=spent)


async def test_what_waits_meanwhile_is_done_in_one_go_and_in_order() -> None:
    thread, done = OneThread("test"), list[int]()
    gate = threading.Event()
    first = asyncio.create_task(thread.do(gate.wait))
    await asyncio.sleep(0)
    later = [asyncio.create_task(thread.do(partial(done.append, n))) for n in range(5)]
    failing = asyncio.create_task(thread.do(lambda: 1 / 0))
    given_up = asyncio.create_task(thread.do(partial(done.append, 99)))
    await asyncio.sleep(0)
    given_up.cancel()
    gate.set()
    await asyncio.gather(first, *later)
    with pytest.raises(ZeroDivisionError):
        await failing
    assert await thread.do(threading.current_thread) is not threading.current_thread()
    assert done == [0, 1, 2, 3, 4, 99]  # who waits no more does not stop it
    thread.close()


async def test_a_transaction_that_fails_leaves_nothing(storage: Storage) -> None:
    def spend(connection: Any) -> None:
        entry = {"owner": "ann", "day": "d", "runs": 1, "tokens": 0, "dollars": 0.0}
        connection.execute(ledger.insert().values(entry))
        connection.execute(ledger.insert().values(entry))

    with pytest.raises(IntegrityError) as failed:
        await storage.database.transaction(spend)
    assert "ann" not in str(failed.value)  # as the log has it
    assert await storage.database.transaction(lambda c: c.execute(select(ledger)).all()) == []


async def test_runs_are_claimed_together_but_one_of_each_thread(runs: Runs) -> None:
    made = [await submitted(runs, thread) for thread in ("a", "b", "a", None)]
    names = [run["run_id"] for run in made]
    first = await claimed(runs, "one", most=2)
    assert [claim.run_id for claim in first] == names[:2]
    rest = await claimed(runs, "two")
    assert [claim.run_id for claim in rest] == [names[3]]  # the third waits for its thread
    spent = SpentToday(7, 0.5)
    assert not await ended(runs, first[0], "two", spent)  # it is not this worker's
    assert await ended(runs, first[0], "one", spent)
    assert await runs.spent("ann") == SpentToday(14, 1.0)  # what was spent is spent
    assert [claim.run_id for claim in await claimed(runs, "two")] == [names[2]]
    assert await claimed(runs, "two") == []


async def test_a_run_that_is_stopped_before_its_first_step_ends(storage: Storage) -> None:
    engine = Engine(storage, ServerSettings(), lambda name: UserLimits())
    run = await submitted(engine.runs, "a")
    later = await submitted(engine.runs, "a")
    await engine._claim_runs()
    (work,) = engine._active.values()
    work.stop("cancelled")  # as the next run of the thread does that interrupts it
    await asyncio.wait([work.task], timeout=30)
    ended = await engine.runs.get("ann", "a", run["run_id"])
    assert ended["status"] == "interrupted"
    assert not engine._active
    assert [one.run_id for one in await claimed(engine.runs, "two")] == [later["run_id"]]


async def test_a_password_is_kept_for_the_worker_alone(storage: Storage, runs: Runs) -> None:
    url = "postgresql://user:h0nter2@host/db"
    payload = {"stream_mode": [], "config": {"configurable": {"database": url, "tools": [url]}}}
    asked = RunOrder(method="planrag", payload=payload, metadata={}, if_missing="create")
    shown = await runs.create(ANN, "a", asked)
    (claim,) = await claimed(runs, "one")
    assert claim.payload == payload
    assert await ended(runs, claim)
    orders = await storage.database.transaction(lambda c: c.execute(select(all_runs)).all())
    assert "host/db" in str(orders)
    assert "h0nter2" not in f"{shown} {orders}"


async def test_two_make_one_thread(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_engine(address(str(tmp_path / "serve.sqlite")))

    def by_another_first(connection: Any, *given: Any) -> None:
        with engine.begin() as other:
            add_thread(other, *given)
        add_thread(connection, *given)

    monkeypatch.setattr("planweave.apps.server.threads.add_thread", by_another_first)
    made = partial(Threads(storage.database).create, metadata={})
    assert (await made("ann", "a", may_exist=True))["thread_id"] == "a"
    with pytest.raises(Conflict):
        await made("ann", "b", may_exist=False)
    monkeypatch.undo()
    with pytest.raises(NotFound):
        await made("bob", "a", may_exist=True)
    engine.dispose()


async def test_owners_take_turns_and_none_takes_all(runs: Runs) -> None:
    mine = [(await submitted(runs))["run_id"] for _ in range(5)]
    bobs = (await runs.create(Person("bob", UserLimits()), None, order()))["run_id"]
    first = [claim.run_id for claim in await claimed(runs, "one", most=2)]
    assert first == [mine[0], bobs]
    second = await runs.claim("one", 60, 9, own=first, share=3)
    assert [claim.run_id for claim in second] == mine[1:3]
    held = [*first, *mine[1:3]]
    assert await runs.claim("one", 60, 9, own=held, share=3) == []
    assert len(await runs.claim("one", 60, 9, own=held)) == 2


async def test_a_silent_run_goes_before_an_older_one_of_its_thread(runs: Runs) -> None:
    """Clocks of machines differ: what runs may have been made before what waits."""
    older, newer = [await submitted(runs, "a") for _ in range(2)]
    await runs.cancel("ann", "a", older["run_id"])
    assert [c.run_id for c in await runs.claim("one", -1, 9)] == [newer["run_id"]]
    await runs.database.transaction(
        lambda connection: connection.exec_driver_sql(
            "UPDATE planweave_runs SET status = 'pending' WHERE run_id = ?", (older["run_id"],)
        )
    )
    assert await runs.claim("one", 60, 9, own=[newer["run_id"]]) == []  # it has it still
    assert [claim.run_id for claim in await claimed(runs, "two")] == [newer["run_id"]]


async def test_a_worker_that_was_silent_but_lives_is_no_crash(runs: Runs) -> None:
    await submitted(runs)
    (first,) = await runs.claim("one", -1, 1)  # its lease has run out at once
    (second,) = await runs.claim("two", -1, 1)
    assert (first.crashes, second.crashes) == (0, 1)
    await runs.give_back_late(first, "one")
    (third,) = await runs.claim("three", -1, 1)
    assert third.crashes == 1  # that of the second worker, of which nothing was heard
    await runs.give_back_late(third, "three")  # nobody has taken it yet: it is given back
    (fourth,) = await runs.claim("four", -1, 1)
    assert fourth.crashes == 1
    await runs.give_back_late(first, "one")
    await runs.give_back_late(first, "one")
    (fifth,) = await runs.claim("five", -1, 1)
    assert fifth.crashes == 1


async def test_what_is_not_kept_yet_is_kept_with_the_end(runs: Runs) -> None:
    await submitted(runs)
    (claim,) = await claimed(runs, "one")
    feed = Feed(runs, "one")
    unsaved = [WireEvent(claim.run_id, claim.first_number + n, "custom", "1") for n in range(3)]
    feed.publish(unsaved[0])
    await feed.save()
    feed.publish(unsaved[1])
    with pytest.raises(ZeroDivisionError):
        await without_database(feed, claim.run_id)
    feed.publish(unsaved[2])
    async with feed.ending(claim.run_id) as left:
        assert left == unsaved[1:]
        await runs.release(claim, "one", left)
    kept = await runs.database.transaction(lambda c: c.execute(select(events)).all())
    assert [WireEvent(*row) for row in kept] == unsaved
    feed.publish(unsaved[0])
    await feed.save()  # the run is nobody's now: what is said of it is dropped
    kept = await runs.database.transaction(lambda c: c.execute(select(events)).all())
    assert len(kept) == 3


async def test_who_listens_hears_every_process_in_order(runs: Runs) -> None:
    """A run is carried out elsewhere, then here: each event comes once, though some came late."""
    run = await submitted(runs)
    here, there = Feed(runs, "here"), Feed(runs, "there")
    heard: list[str] = []

    async def listen() -> None:
        async for event in here.follow(run["run_id"], -1, lambda: True):
            heard.extend([event.data] if event else [])

    listening = asyncio.create_task(listen())
    (claim,) = await runs.claim("there", 60, 1)
    number = claim.first_number
    assert number == FIRST_NUMBER
    there.publish(WireEvent(claim.run_id, number, "custom", "1"))
    await there.save()
    await here.watch()
    await until(lambda: heard == ["1"])
    there.publish(WireEvent(claim.run_id, number + 1, "custom", "2"))
    async with there.ending(claim.run_id) as left:
        await runs.release(claim, "there", left)
    (claim,) = await runs.claim("here", 60, 1)  # before it has looked again
    here.local.add(claim.run_id)
    here.publish(WireEvent(claim.run_id, claim.first_number, "custom", "3"))
    await until(lambda: heard == ["1", "2", "3"])
    await here.save()
    last = WireEvent(claim.run_id, claim.first_number + 1, "end", "null")
    async with here.ending(claim.run_id) as left:
        assert left == []
        assert await runs.finish(
            claim, "here", status="success", state={}, unsaved=[last], spent=SpentToday()
        )
    here.notify(last)
    await listening
    assert heard == ["1", "2", "3", "null"]
    again = [event async for event in there.follow(run["run_id"], number, lambda: True)]
    assert [event.data for event in again if event] == ["2", "3", "null"]


async def without_database(feed: Feed, run_id: str) -> None:
    async with feed.ending(run_id) as left:
        assert len(left) == 1
        raise ZeroDivisionError


async def test_a_servers_checkpoints_make_no_objects_of_foreign_classes(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_makes_no_foreign_objects(storage.saver.serde, monkeypatch)


def test_what_a_server_keeps_is_for_its_owner_alone(
    settings: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.setenv("PLANWEAVE_SERVE_URL", "")
    settings.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    folder = Path(server_settings().database()).parent
    assert folder.is_relative_to(tmp_path)
    assert folder.stat().st_mode & 0o077 == 0


class BrokenGate(Gate):
    """Its hook fails."""

    async def person(self, headers: Mapping[str, str]) -> Person | None:
        raise ValueError("our directory is down")


def test_a_hook_that_fails_admits_nobody() -> None:
    reached: list[str] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope["path"])
        await PlainTextResponse("inside")(scope, receive, send)

    page = TestClient(Admission(inside, BrokenGate(ServerSettings())))
    refused = page.get("/threads")
    assert (refused.status_code, "directory" in refused.text) == (401, False)
    page.get("/ok")
    assert reached == ["/ok"]


def test_a_run_that_takes_too_long_is_ended(settings: pytest.MonkeyPatch, offers: str) -> None:
    settings.setenv("PLANWEAVE_SERVE_RUN_SECONDS", "1")
    with serving(*scripted(PLAN, delay=3600)) as model, TestClient(create_app()) as page:
        context = {"model": model.name, "database": offers}
        asked = {"assistant_id": "planrag", "input": {"question": "Which?"}, "context": context}
        told = page.post("/runs/wait", json=asked, headers={"host": "127.0.0.1"}).json()
        assert told["__error__"]["error"] == "TimeoutError"


def test_the_file_of_users_limits_documents(settings: pytest.MonkeyPatch, tmp_path: Path) -> None:
    users = {name: {"keys": [digest(name)]} for name in ("ann", "bob")}
    file = tmp_path / "users.json"
    file.write_text(json.dumps(users | {"ann": users["ann"] | {"max_documents": 1}}))
    settings.setenv("PLANWEAVE_SERVE_USERS", str(file))
    settings.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    settings.setattr(chunks, "tokenizer", WordTokens)

    def put(client: TestClient, who: str, name: str) -> Any:
        asked = {"collection": f"{who}/notes", "name": name, "embeddings": "none"}
        url = "/studio/api/documents"
        return client.put(url, params=asked, content=b"text", headers={"x-api-key": who})

    with TestClient(create_app()) as client:
        assert put(client, "ann", "one.txt").status_code == 200
        assert "Your quota of documents (1) is used up." in put(client, "ann", "two.txt").text
        assert put(client, "bob", "one.txt").status_code == 200
        assert put(client, "bob", "two.txt").status_code == 200


POOR = Person("poor", UserLimits(max_tokens_a_day=100_000, max_dollars_a_day=2), shared=True)


async def test_runs_at_once_reserve_what_is_left_of_the_day(runs: Runs) -> None:
    """Twenty runs at once spend no more than one after another would."""

    async def admitted(**own: Any) -> int:
        """How many of twenty are taken."""
        orders = (runs.create(POOR, None, order(budget=Budget(**own))) for _ in range(20))
        ended = await asyncio.gather(*orders, return_exceptions=True)
        refused = [one for one in ended if isinstance(one, TooMuch)]
        assert all("Active runs have reserved" in str(one) for one in refused)
        return 20 - len(refused)

    async def over(*spent: SpentToday) -> None:
        """End what runs, with what each has spent."""
        for claim, used in zip(await claimed(runs, "one", most=20), spent, strict=True):
            await ended(runs, claim, spent=used)

    assert await admitted() == 1  # it may use everything
    (claim,) = await claimed(runs, "one")
    assert await runs.share(claim) == Budget(tokens=100_000, dollars=2)
    await runs.book(claim, SpentToday(60_000, 0.5))
    assert await runs.share(claim) == Budget(tokens=40_000, dollars=1.5)
    assert await admitted(tokens=1) == 0
    await ended(runs, claim)
    assert await admitted(tokens=10_000, dollars=0.1) == 2  # and room for two more calls
    await over(SpentToday(12_000, 0.1), SpentToday(12_000, 0.1))
    assert await admitted(tokens=1, dollars=0.1) == 2
    await over(SpentToday(11_000, 0.7), SpentToday(1_000, 0.7))
    spent = await runs.spent("poor")
    assert (spent.tokens, round(spent.dollars, 3)) == (96_000, 2.1)
    with pytest.raises(TooMuch, match="2 dollars is used up"):
        await runs.create(POOR, None, order())


async def test_a_run_whose_worker_is_silent_can_be_cancelled(runs: Runs) -> None:
    run = await submitted(runs, "a")
    (claim,) = await runs.claim("gone", -1, 9)
    await runs.cancel("ann", "a", run["run_id"])
    assert (await runs.get("ann", "a", run["run_id"]))["status"] == "interrupted"
    assert await claimed(runs, "other") == []
    assert not await ended(runs, claim, "gone")
    await runs.delete("ann", "a", run["run_id"])
