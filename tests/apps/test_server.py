"""``planweave serve`` speaks the LangGraph server's protocol: driven by its SDK.

``tests/examples/test_examples.py`` drives it by RemoteGraph, which calls the SDK.
"""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from cases import cases
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError, NotFoundError, UnprocessableEntityError
from offers import DECISION, FINISH, PLAN, QUERY, WHOLE_RUN, scripted
from openai_server import Script, serving
from serve import Served, serving_planweave
from servers import Server
from waiting import until

from planweave.graphs import METHODS

pytestmark = pytest.mark.server

QUESTION: Any = {"messages": [{"role": "user", "content": "Which offer is cheapest?"}]}
HELLO: Any = {"messages": [{"role": "user", "content": "Hello!"}]}
NODES = ["opening", "planner", "selector", "tools", "selector", "answering_machine", "closing"]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    variables = {"PLANWEAVE_SERVE_BODY_BYTES": "20000", "PLANWEAVE_SERVE_LEASE_SECONDS": "4000"}
    if request.param == "postgresql":
        database: Server = request.getfixturevalue("postgresql_server")
        variables["PLANWEAVE_SERVE_URL"] = database.new_database()
    with serving_planweave(tmp_path_factory.mktemp("served"), **variables) as server:
        yield server


@pytest.fixture
async def client(server: Served) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url, api_key=None) as client:
        yield client


def context(model: Script, offers: str, **more: bool) -> dict[str, str | bool]:
    return {"model": model.name, "database": offers, **more}


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
async def test_the_methods_are_its_assistants(client: LangGraphClient) -> None:
    assistants = await client.assistants.search(limit=50)
    assert [one["graph_id"] for one in assistants] == [*METHODS]
    one = await client.assistants.get(assistants[0]["assistant_id"])
    assert one == assistants[0] == await client.assistants.get("planrag")
    schemas: Any = await client.assistants.get_schemas("planrag")
    assert "messages" in schemas["input_schema"]["properties"]
    assert {"plan", "facts"} <= set(schemas["output_schema"]["properties"])
    assert "description" in schemas["context_schema"]["properties"]["database"]
    graph = await client.assistants.get_graph("planrag")
    assert {"planner", "tools"} <= {node["id"] for node in graph["nodes"]}
    opened = await client.assistants.get_graph("planrag", xray=True)
    assert {"planner", "tools:sql"} <= {node["id"] for node in opened["nodes"]}
    inside = await client.assistants.get_subgraphs("planrag")
    assert {*inside} == {"opening", "tools", "documents", "closing"}
    assert {*await client.assistants.get_subgraphs("planrag", "tools")} == {"tools"}
    with pytest.raises(NotFoundError, match="planrag"):
        await client.assistants.get("no_such_method")


async def test_streams_a_run_that_can_be_read_again(client: LangGraphClient, offers: str) -> None:
    thread = (await client.threads.create(metadata={"topic": "offers"}))["thread_id"]
    with serving(*scripted(*WHOLE_RUN)) as model:
        parts = [
            part
            async for part in client.runs.stream(
                thread,
                "planrag",
                input=QUESTION,
                context=context(model, offers),
                stream_mode=["updates", "custom", "values"],
            )
        ]
    visited = [name for part in parts if part.event == "updates" for name in part.data]
    assert [name for name in visited if name in NODES] == NODES
    custom = [part.data for part in parts if part.event == "custom"]
    assert sum("call" in one for one in custom) == 4
    doing = [one["progress"]["doing"] for one in custom if "progress" in one]
    assert {"writing the plan", "running the query", "checking the answer"} <= {*doing}
    kept = (await client.http.get(f"/threads/{thread}/calls")) or []
    assert [call["role"] for call in kept] == [it["call"]["role"] for it in custom if "call" in it]
    assert {call["run_id"] for call in kept} == {parts[0].data["run_id"]}
    assert kept == sorted(kept, key=lambda call: call["ended"])
    assert parts[0].event == "metadata"
    assert parts[-1].data["messages"][-1]["type"] == "ai"
    state: Any = await client.threads.get_state(thread)
    assert state["values"]["answer"]["decision"] == "Birch"
    assert (await client.threads.get(thread))["status"] == "idle"
    found = await client.threads.search(metadata={"topic": "offers", "graph_id": "planrag"})
    assert [one["thread_id"] for one in found] == [thread]
    assert not await client.threads.search(metadata={"topic": "else"})

    run = parts[0].data["run_id"]
    again = [part async for part in client.runs.join_stream(thread, run)]
    assert [(p.id, p.event, p.data) for p in again] == [(p.id, p.event, p.data) for p in parts]
    rest = client.runs.join_stream(thread, run, last_event_id=parts[9].id)
    assert [part.id async for part in rest] == [part.id for part in parts[10:]]


async def test_interrupts_resumes_forks_and_copies(client: LangGraphClient, offers: str) -> None:
    thread = (await client.threads.create())["thread_id"]
    with serving(*scripted(*WHOLE_RUN)) as model:
        settings = context(model, offers, approve=True)
        stopped: Any = await client.runs.wait(thread, "planrag", input=QUESTION, context=settings)
        request = stopped["__interrupt__"][0]["value"]["action_requests"][0]
        assert request["args"]["plan"] == PLAN["steps"]
        assert (await client.threads.get(thread))["status"] == "interrupted"
        copy: Any = await client.threads.copy(thread)  # type: ignore[func-returns-value]
        approval = {"decisions": [{"type": "approve"}]}
        done: Any = await client.runs.wait(
            thread, "planrag", command={"resume": approval}, context=settings
        )
        assert done["answer"]["decision"] == "Birch"

    waiting = await client.threads.get_state(copy["thread_id"])
    assert waiting["interrupts"][0]["value"]["action_requests"] == [request]
    edited = {"name": "carry_out_plan", "args": {"plan": ["Look at the offers."]}}
    edit = {"decisions": [{"type": "edit", "edited_action": edited}]}
    history = await client.threads.get_history(thread, limit=50)
    before = next(state for state in history if state["next"] == ["selector"])
    ash = DECISION | {"decision": "ash"}
    for name, options in (
        (thread, {"checkpoint": before["checkpoint"]}),
        (copy["thread_id"], {"command": {"resume": edit}}),
    ):
        with serving(*scripted(QUERY, FINISH, ash)) as model:
            settings = context(model, offers, approve=True)
            fork: Any = await client.runs.wait(name, "planrag", context=settings, **options)
        assert fork["answer"]["decision"] == "ash"
    assert fork["plan"] == ["Look at the offers."]


async def test_a_state_is_edited_and_a_thread_forgotten(client: LangGraphClient) -> None:
    thread = (await client.threads.create(graph_id="planrag"))["thread_id"]
    assert (await client.threads.get_state(thread))["values"] == {}
    values = {"question": "Which offer is cheapest?", "messages": [], "plan": ["Look."]}
    changed = await client.threads.update_state(thread, values, as_node="closing")
    place = changed["checkpoint"]
    state: Any = await client.threads.get_state(thread, place)
    assert state["values"]["plan"] == ["Look."]
    assert (await client.threads.get(thread))["values"] == state["values"]
    with pytest.raises(UnprocessableEntityError, match="cannot be changed"):
        await client.threads.update_state(thread, values, as_node="nobody")
    noted = await client.threads.update(thread, metadata={"starred": True})
    assert noted["metadata"] == {"graph_id": "planrag", "starred": True}
    assert await client.threads.count(metadata={"starred": True}) == 1
    await client.threads.delete(thread)
    with pytest.raises(NotFoundError):
        await client.threads.get(thread)
    again = await client.threads.create(thread_id=thread, graph_id="planrag")
    assert (await client.threads.get_state(again["thread_id"]))["values"] == {}


async def test_a_run_in_the_background_is_cancelled(client: LangGraphClient, offers: str) -> None:
    thread = (await client.threads.create())["thread_id"]
    with serving(*scripted(PLAN, QUERY, delay=0.2), *scripted(FINISH, delay=300)) as model:
        settings = context(model, offers)
        run = await client.runs.create(thread, "planrag", input=QUESTION, context=settings)
        with pytest.raises(ConflictError):
            await client.runs.create(
                thread, "planrag", input=QUESTION, multitask_strategy="reject", context=settings
            )
        later = await client.runs.create(thread, "planrag", input=HELLO)
        assert later["status"] == "pending"
        async for part in client.runs.join_stream(thread, run["run_id"]):
            if part.data.get("facts"):
                break
        await client.runs.cancel(thread, run["run_id"], wait=True)
    assert (await client.runs.get(thread, run["run_id"]))["status"] == "interrupted"
    done: Any = await client.runs.join(thread, later["run_id"])
    assert done["messages"][-1]["content"].startswith("Hello")
    listed = await client.runs.list(thread)
    assert [(one["run_id"], one["status"]) for one in listed] == [
        (later["run_id"], "success"),
        (run["run_id"], "interrupted"),
    ]
    with pytest.raises(NotFoundError):
        await client.runs.cancel(thread, run["run_id"])
    await client.runs.delete(thread, run["run_id"])
    assert len(await client.runs.list(thread)) == 1


async def test_a_run_that_interrupts_begins_at_once(client: LangGraphClient, offers: str) -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(None, "planrag", input=HELLO)  # what is loaded once is loaded
    with serving(*scripted(PLAN, delay=3600)) as model:
        settings = context(model, offers)
        slow = await client.runs.create(thread, "planrag", input=QUESTION, context=settings)
        await until(lambda: model.requests)
        # The worker is woken: by itself it looks for what is to end every 1000 s.
        done: Any = await client.runs.wait(
            thread, "planrag", input=HELLO, multitask_strategy="interrupt"
        )
    assert done["messages"][-1]["content"].startswith("Hello")
    assert (await client.runs.get(thread, slow["run_id"]))["status"] == "interrupted"


async def test_a_run_without_a_thread_is_streamed_and_leaves_none(client: LangGraphClient) -> None:
    before = await client.threads.count()
    modes: Any = ["messages-tuple", "tasks", "checkpoints"]
    events = client.runs.stream(None, "planrag", input=HELLO, stream_mode=modes)
    parts = [part async for part in events]
    message, about = next(p.data for p in reversed(parts) if p.event == "messages")
    assert (message["type"], about["langgraph_node"]) == ("ai", "greeter")
    assert {"metadata", "messages", "tasks", "checkpoints"} == {part.event for part in parts}
    inner = client.runs.stream(
        None, "planrag", input=HELLO, stream_mode="updates", stream_subgraphs=True
    )
    told = [(part.event.partition(":")[0], [*part.data]) async for part in inner]
    assert told[1:] == [
        ("updates|opening", ["intake"]),
        ("updates|opening", ["greeter"]),
        ("updates", ["opening"]),
    ]
    assert await client.threads.count() == before


RUN: Any = {"assistant_id": "planrag", "input": {"question": "Hi!"}}
MANY = {f"{number}": 1 for number in range(101)}
NUL: Any = {"values": {"question": "a\0b"}, "as_node": "closing"}
CALL: Any = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}
LATE = {"parts": [{"text": "yes"}], "taskId": "nosuch"}
LOST = {"parts": [{"text": "Which?"}], "metadata": {"context": {"database": "nosuch.db"}}}
CHAT: Any = {"model": "planrag", "messages": QUESTION["messages"]}


@cases(
    ("POST /runs/wait", RUN | {"context": {"max_iterations": 0}}, 422, "max_iterations"),
    ("POST /runs/wait", RUN | {"webhook": "http://127.0.0.1/"}, 422, "detail"),
    ("POST /runs/wait", RUN | {"input": {"question": "\0"}}, 422, "detail"),
    ("POST /runs/wait", RUN | {"stream_mode": "events"}, 422, "stream_mode: Input should be"),
    ("POST /runs/wait", RUN | {"after_seconds": 1}, 422, "after_seconds: this server cannot delay"),
    ("POST /runs/wait", RUN | {"metadata": MANY}, 422, "detail"),
    ("POST /runs/wait", RUN | {"config": {"tags": [*MANY]}}, 422, "detail"),
    ("POST /runs/wait", RUN | {"input": {}}, 422, "detail"),
    ("POST /runs/wait", RUN | {"input": None}, 422, "detail"),
    ("POST /runs/wait", RUN | {"input": {"messages": [], "question": " "}}, 422, "detail"),
    ("POST /runs/wait", RUN | {"input": {"question": "Hi!", "foo": "x"}}, 422, "detail"),
    ("POST /runs/wait", RUN | {"command": {"resume": 1}}, 422, "detail"),
    (
        "POST /runs/wait",
        {"assistant_id": "direct", "input": {"question": "Hi!", "predefined_plan": ["Hi"]}},
        422,
        "detail",
    ),
    ("POST /runs/wait", RUN | {"context": {"models": {"planer": "embedded"}}}, 422, "detail"),
    ("POST /runs/wait", RUN | {"input": {"question": "x" * 30_000}}, 413, "detail"),
    ("POST /runs/wait", "[" * 10_000, 422, "detail"),
    ("POST /runs/wait", "[]", 422, "detail"),
    ("POST /runs/wait", "{", 422, "detail"),
    ("POST /v1/chat/completions", CHAT | {"context": {"database": "no.db"}}, 400, "no.db"),
    ("POST /v1/chat/completions", CHAT | {"context": {"database": "no.sql"}}, 400, "no.sql"),
    ("POST /v1/chat/completions", CHAT | {"context": {"database": "no.csv"}}, 400, "no.csv"),
    ("POST /v1/chat/completions", CHAT | {"context": {"graph": "no.cql"}}, 400, "no.cql"),
    ("POST /v1/chat/completions", CHAT | {"context": {"collection": "none"}}, 400, "'none'"),
    ("POST /a2a/planrag", CALL | {"params": {"message": LOST}}, 200, '"code":-32602'),
    ("POST /a2a/planrag", CALL | {"params": {"message": LATE}}, 200, "'nosuch'"),
    ("POST /threads/x/state", NUL, 422, ""),
    ("POST /threads/search", NUL, 422, ""),
    ("POST /store/items/search", NUL, 422, ""),
    ("POST /threads", {"metadata": MANY}, 422, ""),
    ("POST /threads/search", {"metadata": MANY}, 422, ""),
    ("POST /store/items/search", {"filter": MANY}, 422, ""),
    ("GET /threads/%00", "", 422, ""),
    ("GET /store/items?namespace=a&key=%00", "", 422, ""),
    ("GET /store/items", "", 422, "The parameter namespace is missing."),
    (
        "PUT /store/items",
        {"namespace": ["a"], "key": "b", "value": {"c": 10**39}},
        422,
        "too large",
    ),
    ("POST /nowhere", "", 404, ""),
    ("PUT /threads", "", 405, ""),
)
def test_errors_are_told(asked: str, body: Any, status: int, words: str, server: Served) -> None:
    method, path = asked.split()
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"content-type": "application/json"}
    url = f"{server.url}{path}"
    reply = httpx.request(method, url, content=content, headers=headers, timeout=60)
    assert (reply.status_code, words in reply.text) == (status, True), reply.text


async def test_an_error_in_a_run_is_told(client: LangGraphClient) -> None:
    which: Any = {"question": "Which?"}
    with pytest.raises(Exception, match="No database and no document collection"):
        await client.runs.wait(None, "planrag", input=which)
    last = [part async for part in client.runs.stream(None, "planrag", input=which)][-1]
    assert (last.event, last.data["error"]) == ("error", "BadInput")


async def test_what_a_thread_goes_on_with(client: LangGraphClient, server: Served) -> None:
    thread = f"{server.url}/threads/{(await client.threads.create())['thread_id']}"
    more: Any
    async with httpx.AsyncClient(timeout=60) as page:
        for more, words in (
            ({"input": {}}, "no question"),
            ({"input": None}, "no question"),
            ({}, ""),
            ({"input": None}, ""),
            ({"input": {"predefined_plan": ["Look."]}}, ""),
            ({"command": {"resume": 1}}, "Nothing waits"),
            ({"input": {"foo": "x"}}, "input.foo"),
        ):
            for path in ("state/nosuch", "state/00000000-0000-0000-0000-000000000000"):
                assert (await page.get(f"{thread}/{path}")).status_code == 404
            reply = await page.post(f"{thread}/runs/wait", json=RUN | more)
            assert (reply.is_error, words in reply.text) == (bool(words), True)


async def test_long_term_memory(client: LangGraphClient) -> None:
    space = ["notes", "one"]
    await client.store.put_item(space, "colour", {"is": "blue"})
    item = await client.store.get_item(space, "colour")
    assert item["value"] == {"is": "blue"}
    await client.store.put_item(["notes", "oneself"], "colour", {"is": "red"})
    found = await client.store.search_items(space, filter={"is": "blue"})
    assert [one["key"] for one in found["items"]] == ["colour"]
    assert len((await client.store.search_items(space))["items"]) == 1
    listed = await client.store.list_namespaces(prefix=space)
    assert listed["namespaces"] == [space]
    await client.store.delete_item(space, "colour")
    assert not await client.store.get_item(space, "colour")


@cases(
    ({"origin": "https://smith.langchain.com"}, True),
    ({"origin": "http://localhost:3000"}, True),
    ({"origin": "https://evil.example"}, False),
    ({"origin": "null"}, False),
    ({"host": "evil.example"}, False),
    ({"origin": "http://localhost", "host": "localhost.evil.example"}, False),
)
async def test_a_foreign_web_page_starts_no_run(
    headers: dict[str, str], admitted: bool, server: Served
) -> None:
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as page:
        reply = await page.post("/runs/wait", content=json.dumps(RUN))
        assert reply.status_code == (200 if admitted else 403)
        assert (await page.get("/info")).status_code == (200 if admitted else 403)


async def test_metrics_and_headers(server: Served, client: LangGraphClient) -> None:
    await client.runs.wait(None, "direct", input={"question": "Hi!"})
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as page:
        figures = (await page.get("/metrics")).text
        answer = await page.get("/ok", params={"check_db": "1"})
    assert 'planweave_runs_finished_total{method="direct",status="success"}' in figures
    assert 'planweave_runs{status="running"} 0.0' in figures
    assert answer.json() == {"ok": True}
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "server" not in answer.headers
