"""``planweave serve`` for several users: keys, isolation, budgets, and what a caller may name.

The interfaces for other programs keep them apart as well: each caller's runs are his own.
"""

import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import httpx
import openai
import pytest
from axe import Look
from browser import complaints, new_page
from cases import cases
from command_line import CommandLine, assert_one_clear_error
from http_server import Handler, listening
from offers import SCRIPT, WHOLE_RUN, scripted
from openai import OpenAI
from openai_server import Script
from other_users import paths
from playwright.sync_api import Browser, Page, expect
from serve import Served, serving_planweave
from waiting import wait_until

from planweave.apps.server.people import Person, digest
from planweave.apps.server.routes import routes
from planweave.apps.server.settings import UserLimits

pytestmark = pytest.mark.server

KEYS = {name: f"key-of-{name}" for name in ("alice", "bob", "al", "dan", "poor")}
ASKED: Any = [{"role": "user", "content": "Which offer is cheapest?"}]
OFFERS = {"context": {"database": "offers"}}
OPEN = {"/ok"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("users")
    (folder / "offers.sql").write_text(SCRIPT)
    limits = {"bob": {"max_runs": 1, "max_tokens_a_day": 300}, "poor": {"max_tokens_a_day": 1}}
    users = {name: {"keys": [digest(key)], **limits.get(name, {})} for name, key in KEYS.items()}
    (folder / "users.json").write_text(json.dumps(users))
    (folder / "hook.py").write_text(
        "async def who(headers):\n    return headers.get('x-ticket') or None\n"
    )
    return folder


class _Collector(Handler):
    taken: ClassVar[list[bytes]] = []

    def answer(self) -> None:
        self.taken.append(self.rfile.read(int(self.headers["content-length"])))
        self.reply()


@pytest.fixture(scope="module")
def collector() -> Iterator[str]:
    """Where traces are sent; they end up in ``_Collector.taken``."""
    with listening(_Collector) as url:
        yield url


@pytest.fixture(scope="module")
def server(folder: Path, collector: str, model: Script) -> Iterator[Served]:
    offer = {
        "context": {"model": model.name},
        "databases": {
            "offers": str(folder / "offers.sql"),
            "gone": str(folder / "gone.db"),
            "unset": "postgresql://me:${NEVER_SET}@db/shop",
        },
        "models": [model.name],
    }
    (folder / "service.json").write_text(json.dumps(offer))
    with serving_planweave(
        folder,
        "--users",
        str(folder / "users.json"),
        PLANWEAVE_SERVICE=str(folder / "service.json"),
        PLANWEAVE_SERVE_AUTH="hook:who",
        PYTHONPATH=os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]),
        OTEL_EXPORTER_OTLP_ENDPOINT=collector,
        OTEL_BSP_SCHEDULE_DELAY="100",
        LANGSMITH_TRACING="true",  # without a key nothing is sent, and nothing complained of
    ) as server:
        yield server


@contextmanager
def caller(server: Served, name: str, **headers: str) -> Iterator[httpx.Client]:
    key = {"x-api-key": KEYS[name]} if name else {}
    with httpx.Client(base_url=server.url, headers=key | headers, timeout=60) as client:
        yield client


def asked(question: str, **settings: object) -> dict[str, object]:
    return {"assistant_id": "planrag", "input": {"question": question}, "context": settings}


@pytest.mark.parametrize(("method", "path"), list(paths(routes())))
def test_no_route_answers_without_a_key_or_with_a_wrong_one(
    server: Served, method: str, path: str
) -> None:
    with caller(server, "") as nobody:
        for key in ({}, {"x-api-key": "key-of-alic"}, {"authorization": "Bearer x"}):
            reply = nobody.request(method, path, headers=key)
            assert reply.status_code == (200 if path in OPEN else 401)


def test_the_page_asks_for_a_key_and_shows_ones_own(
    server: Served, model: Script, browser: Browser, look: Look
) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    alice, dan = (new_page(browser, base_url=server.url) for _ in range(2))
    heard = complaints(alice)
    alice.goto("/studio/")
    enter(alice, "wrong")
    expect(alice.get_by_text("The last one was refused.")).to_be_visible()
    look(alice, "key")
    enter(alice, KEYS["alice"])
    alice.get_by_role("tab", name="Settings").click()
    alice.get_by_label("Database", exact=True).fill("offers")
    alice.locator("summary", has_text="Plan").click()
    alice.get_by_label("Approve", exact=True).check()
    alice.get_by_role("textbox", name="Ask a question").fill("Which offer is cheapest?")
    alice.keyboard.press("Enter")
    alice.get_by_role("button", name="Approve the plan").click()
    expect(alice.get_by_role("region", name="Answer")).to_contain_text("Birch")
    dan.goto(alice.url)
    enter(dan, KEYS["dan"])
    expect(dan.get_by_role("alert")).to_be_visible()
    dan.goto("/studio/#/ask")
    expect(dan.get_by_text("None yet.")).to_be_visible()
    assert heard == []


def enter(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")


def test_the_other_interfaces_ask_for_a_key_too(server: Served) -> None:
    with caller(server, "") as nobody:
        assert nobody.get("/studio/").status_code == 200
        for path in ("/studio/api/methods", "/v1/models", "/mcp", "/a2a/planrag"):
            assert nobody.get(path).status_code == 401


@cases(
    {"database": "/etc/passwd"},
    {"model": "http://127.0.0.1:1/v1#m"},
    {"owner": "alice"},
    {"collection": "alice/notes"},
    {"collection": "bob/../alice/notes"},
    {"web_search": "brave"},
)
def test_a_context_opens_nothing_of_the_server(settings: dict[str, object], server: Served) -> None:
    run = asked("Which offer?")
    with caller(server, "bob") as bob:
        for sent in (
            run | {"context": settings},
            {name: run[name] for name in ("assistant_id", "input")}
            | {"config": {"configurable": settings}},
        ):
            reply = bob.post("/runs/wait", json=sent)
            if str(settings.get("collection")).startswith("bob/"):  # begins like his own
                assert "cannot be the name of a collection" in reply.json()["__error__"]["message"]
            else:
                assert (reply.status_code, "detail" in reply.json()) == (422, True)


def test_where_a_database_is_stays_with_the_operator(server: Served, folder: Path) -> None:
    with caller(server, "alice") as alice:
        run = alice.post("/runs/wait", json=asked("Which offer?", database="gone")).json()
        said = {"model": "single_rag", "messages": [{"role": "user", "content": "Which offer?"}]}
        chat = alice.post("/v1/chat/completions", json=said | {"context": {"database": "gone"}})
        studio = alice.post("/studio/api/databases", json={"url": "gone"}).json()
        nameless = alice.post("/runs/wait", json=asked("Which offer?", database="unset")).json()
    for told in (*(run["__error__"]["message"] for run in (run, nameless)), studio["detail"]):
        assert told.startswith("The database cannot be used at present.")
    assert (run["__error__"]["error"], chat.status_code) == ("DatabaseUnavailable", 502)
    log = server.log.read_text()
    assert str(folder / "gone.db") in log
    assert "NEVER_SET" in log


def test_budgets(server: Served, model: Script) -> None:
    goes_on = Event()
    plan, *rest = scripted(*WHOLE_RUN)
    model.answers[:] = [replace(plan, after=goes_on), *rest]
    run = asked("Which offer is cheapest?", database="offers")
    with caller(server, "bob") as bob:
        thread = bob.post("/threads", json={}).json()["thread_id"]
        first = bob.post(f"/threads/{thread}/runs", json=run).json()
        second = bob.post("/runs/wait", json=run)
        assert (second.status_code, "no more at once" in second.text) == (429, True)
        goes_on.set()
        done = bob.get(f"/threads/{thread}/runs/{first['run_id']}/join").json()
        assert done["usage"]["selector"]["calls"] == 2  # then the day had nothing left
        assert done["answer"]
        third = bob.post("/runs/wait", json=run)
        assert (third.status_code, "300 tokens" in third.text) == (429, True)
        kept: Any = bob.get(f"/threads/{thread}/runs/{first['run_id']}").json()["kwargs"]
        assert kept["context"] == {"database": "offers"}
    with caller(server, "alice") as alice:
        assert alice.post("/runs/wait", json=asked("Hi!")).status_code == 200


def test_traces_tell_what_was_called_and_not_what_was_said(server: Served) -> None:
    with caller(server, "alice") as alice:
        run = asked("Which offer is cheapest?", database="offers", max_calls=1)
        assert alice.post("/runs/wait", json=run).status_code == 200
        wait_until(lambda: b"run planrag" in b"".join(_Collector.taken))  # it ends last
        figures = alice.get("/metrics").content
    sent = b"".join(_Collector.taken)
    assert b"call planner" in sent
    assert b"gen_ai.usage.input_tokens" in sent
    assert b"planweave_model_calls_total" in figures
    for told in (sent, figures):
        assert b"cheapest" not in told
        assert b"key-of" not in told


def test_a_hook_of_the_operators(server: Served) -> None:
    with caller(server, "", **{"x-ticket": "carol@example.org"}) as carol:
        thread = carol.post("/threads", json={}).json()["thread_id"]
        assert carol.get(f"/threads/{thread}").status_code == 200
    with caller(server, "", **{"x-ticket": "carol_example_org"}) as other:
        assert other.get(f"/threads/{thread}").status_code == 404


def test_names_that_are_no_labels_become_such() -> None:
    names = ["alice", "Alice", "a.b", "a_b", "a@b", "../x", "", "u-1", "ü", "x" * 300, "local"]
    owners = [Person(name, UserLimits(), shared=True).owner for name in names]
    the_one_person = Person("local", UserLimits()).owner
    assert len({*owners, the_one_person}) == len(names) + 1
    assert owners[0] == "alice"
    assert not [owner for owner in owners if set(owner) & set("./%@ ")]


def test_a_public_address_needs_keys_and_settings_that_cannot_be_used_are_told(
    planweave: CommandLine,
) -> None:
    run = planweave("serve", "--host", "0.0.0.0")
    assert_one_clear_error(run, "does not listen at 0.0.0.0", "--users")
    run = planweave("serve", "--no-token", "--users", "users.json")
    assert_one_clear_error(run, "--no-token has no meaning", "Leave it out")
    unreachable = ("PLANWEAVE_SERVE_URL", "postgresql://u:***@127.0.0.1:1/d", "refused")
    for variable, value, words in (
        ("AUTH", "no_such_module:who", ("no_such_module:who",)),
        ("URL", "mysql://u:secret@h/d", ("PostgreSQL",)),
        ("URL", "postgresql://u:secret@127.0.0.1:1/d", unreachable),
        ("URL", "sqlite:///", ("PostgreSQL",)),
        ("URL", "/nowhere/x.sqlite", ("/nowhere/x.sqlite",)),
        ("USERS", "nobody.json", ("no user with a key", "--new-key")),
        ("JOBS", "none", ("PLANWEAVE_SERVE_JOBS",)),
        ("LIMITS", "x", ("PLANWEAVE_SERVE_LIMITS", "not JSON")),
        ("LIMITS", '{"max_runz": 1}', ("_LIMITS cannot", "no field 'max_runz'")),
    ):
        run = planweave("serve", **{f"PLANWEAVE_SERVE_{variable}": value})
        assert_one_clear_error(run, *words)
        assert "secret" not in run.stderr
    run = planweave("serve", PLANWEAVE_SERVICE="none.json")
    assert_one_clear_error(run, "none.json cannot be read", "PLANWEAVE_SERVICE")


def test_a_port_that_is_taken_is_told(planweave: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        run = planweave("serve", "--port", str(port))
    assert_one_clear_error(run, f"127.0.0.1:{port}", f"--port {port + 1}")
    assert "answers at" not in run.stderr


def test_a_key_is_made_once_and_kept_as_a_hash(tmp_path: Path, planweave: CommandLine) -> None:
    users = tmp_path / "users.json"
    made = planweave("serve", "--users", str(users), "--new-key", "eve")
    key = made.stdout.strip()
    assert key.startswith("pw_")
    assert key not in users.read_text()
    assert json.loads(users.read_text())["eve"]["keys"] == [digest(key)]
    assert users.stat().st_mode & 0o077 == 0
    again = planweave("serve", "--users", str(users), "--new-key", "eve")
    assert len(json.loads(users.read_text())["eve"]["keys"]) == 2
    assert again.stdout != made.stdout
    nowhere = planweave("serve", "--users", str(tmp_path / "no" / "users.json"), "--new-key", "eve")
    assert_one_clear_error(nowhere, "users.json cannot be written")
    nobody = planweave("serve", "--users", str(users), "--new-key", "")
    assert_one_clear_error(nobody, "The name of the user is empty")


def asking(server: Served, name: str, messages: Any = ASKED, **more: Any) -> Any:
    """What OpenAI's client gets for a caller's question; a stream as the list of its pieces."""
    given = {"extra_body": OFFERS, **more}
    with OpenAI(base_url=f"{server.url}/v1", api_key=KEYS[name], max_retries=0) as client:
        done = client.chat.completions.create(model="planrag", messages=messages, **given)
        return [*done] if more.get("stream") else done


def telling(server: Served, name: str, **more: Any) -> dict[str, Any]:
    """What an A2A agent replies to a caller's message."""
    message = {"parts": [{"text": "Which offer is cheapest?"}], "metadata": OFFERS, **more}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    with caller(server, name) as client:
        replied: dict[str, Any] = client.post("/a2a/planrag", json=call).json()
    return replied


def test_a_completion_of_a_caller(server: Served, model: Script) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    pieces = asking(server, "alice", stream=True)
    said = "".join(piece.choices[0].delta.content or "" for piece in pieces)
    assert said == "It costs least. [1]\n\n**Birch**"


def test_another_callers_plan_cannot_be_approved(server: Served, model: Script) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    settings = {"extra_body": {"context": {"database": "offers", "approve": True}}}
    waiting = asking(server, "alice", **settings)
    (call,) = waiting.choices[0].message.tool_calls
    answer = [*ASKED, {"role": "tool", "tool_call_id": call.id, "content": "yes"}]
    before = len(model.requests)
    with pytest.raises(openai.NotFoundError):
        asking(server, "al", answer, **settings)
    with pytest.raises(openai.NotFoundError):
        asking(server, "al", extra_body={"thread": waiting.model_extra["planweave"]["thread"]})
    assert len(model.requests) == before
    done = asking(server, "alice", answer, **settings)
    assert "Birch" in done.choices[0].message.content
    with pytest.raises(openai.BadRequestError, match="Nothing waits"):
        asking(server, "alice", answer, **settings)


def test_what_is_refused_at_the_door_is_told_in_openais_shape(server: Served) -> None:
    with caller(server, "") as nobody, caller(server, "alice") as alice:
        for reply, status in (
            (nobody.get("/v1/models"), 401),
            (alice.get("/v1/nowhere"), 404),
            (alice.post("/v1/chat/completions", content=b"x" * 4_000_001), 413),
        ):
            assert (reply.status_code, reply.json()["error"]["code"]) == (status, None)


def test_a_budget_holds_at_every_interface(server: Served, model: Script) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    asking(server, "poor")
    with pytest.raises(openai.RateLimitError):
        asking(server, "poor")
    assert "error" in telling(server, "poor")


def test_two_callers_may_name_a_context_alike(server: Served, model: Script) -> None:
    for name in ("alice", "al"):
        model.answers[:] = scripted(*WHOLE_RUN)
        told = telling(server, name, contextId="offers")["result"]
        assert (told["contextId"], told["status"]["state"]) == ("offers", "completed")


def test_of_two_answers_at_once_one_counts(server: Served, model: Script) -> None:
    settings = {"metadata": {"context": {"database": "offers", "approve": True}}}
    goes_on = Event()
    plan, *rest = scripted(*WHOLE_RUN)
    model.answers[:] = [plan, replace(rest[0], after=goes_on), *rest[1:]]
    task = telling(server, "alice", **settings)["result"]["id"]
    agreed = {"parts": [{"text": "yes"}], "taskId": task, **settings}
    before = len(model.requests)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(telling, server, "alice", **agreed)
        wait_until(lambda: len(model.requests) > before)
        second = telling(server, "alice", **agreed)
        goes_on.set()
        assert first.result()["result"]["status"]["state"] == "completed"
    assert "busy" in second["error"]["message"]
