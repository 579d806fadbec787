"""``langgraph dev`` serves every graph: driven offline through its SDK, as Studio does."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, TypedDict

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from offers import DECISION, FINISH, PLAN, QUERY, SOUND, WHOLE_RUN, scripted
from openai_server import Script, serving
from servers import free_port

from graphs import METHODS

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    folder = tmp_path_factory.mktemp("server")
    log = folder / "server.log"
    command = [
        *(str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"),
        *("--host", "127.0.0.1", "--port", str(port), "--n-jobs-per-worker", "4"),
        *("--config", str(ROOT / "langgraph.json")),
    ]
    environment = os.environ | {
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "LANGSMITH_TRACING": "false",
        "PLANWEAVE_RESPONSE_CACHE": "off",
    }
    url = f"http://127.0.0.1:{port}"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_ready(url, process, log)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=20)
    assert "BlockingError" not in log.read_text()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            if httpx.get(f"{url}/ok").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    pytest.fail(f"The server was not ready in two minutes.\n{log.read_text()[-3000:]}")


@pytest.fixture
async def client(server: str) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server, api_key=None) as client:
        yield client


class Chat(TypedDict):
    """The input that a chat app sends."""

    messages: list[dict[str, str]]


def chat(text: str) -> Chat:
    return {"messages": [{"role": "user", "content": text}]}


def context(model: Script, database: str, **more: bool) -> dict[str, str | bool]:
    return {"model": model.name, "database": database, **more}


def properties(schema: dict[str, Any] | None) -> dict[str, dict[str, object]]:
    assert schema is not None
    found: dict[str, dict[str, object]] = schema["properties"]
    return found


def memory_of(values: list[dict[str, Any]] | dict[str, Any]) -> dict[str, Any]:
    """The working memory of a run; the SDK's types allow for a list, too."""
    assert isinstance(values, dict)
    return values


async def test_lists_the_graphs_and_their_schemas(client: LangGraphClient) -> None:
    assistants = await client.assistants.search(limit=50)
    assert {assistant["graph_id"] for assistant in assistants} == set(METHODS)
    for assistant in assistants:
        schemas = await client.assistants.get_schemas(assistant["assistant_id"])
        assert "messages" in properties(schemas["input_schema"])
        assert {"plan", "facts", "answer"} <= set(properties(schemas["output_schema"]))
        settings = properties(schemas["context_schema"])
        assert "description" in settings["database"]


async def test_streams_a_run_from_a_chat_message(client: LangGraphClient, offers: str) -> None:
    thread = await client.threads.create()
    with serving(*scripted(*WHOLE_RUN)) as model:
        visited, calls = [], 0
        async for part in client.runs.stream(
            thread["thread_id"],
            "planrag",
            input=chat("Which offer is cheapest?"),
            context=context(model, offers),
            stream_mode=["updates", "custom"],
        ):
            assert part.event != "error", part.data
            visited += list(part.data) if part.event == "updates" else []
            calls += part.event == "custom"
    assert visited == [
        *("intake", "recall", "planner", "plan_approval", "selector", "sql", "replanner"),
        *("selector", "answering_machine", "citation_check", "speaker"),
    ]
    assert calls == 5
    state = await client.threads.get_state(thread["thread_id"])
    memory = memory_of(state["values"])
    assert memory["answer"]["decision"] == "Birch"
    assert memory["messages"][-1]["type"] == "ai"


async def test_interrupts_for_approval_resumes_and_forks(
    client: LangGraphClient, offers: str
) -> None:
    thread = (await client.threads.create())["thread_id"]
    with serving(*scripted(*WHOLE_RUN)) as model:
        settings = context(model, offers, approve=True)
        await client.runs.wait(
            thread, "planrag", input={"question": "Which offer is cheapest?"}, context=settings
        )
        stopped = await client.threads.get_state(thread)
        request = stopped["interrupts"][0]["value"]["action_requests"][0]
        assert request["args"]["plan"] == PLAN["steps"]
        approval = {"decisions": [{"type": "approve"}]}
        done = await client.runs.wait(
            thread, "planrag", command={"resume": approval}, context=settings
        )
    assert memory_of(done)["answer"]["decision"] == "Birch"

    history = await client.threads.get_history(thread, limit=50)
    before = next(state for state in history if state["next"] == ["selector"])
    other = DECISION | {"decision": "ash"}
    with serving(*scripted(QUERY, SOUND, FINISH, other)) as model:
        fork = await client.runs.wait(
            thread,
            "planrag",
            checkpoint=before["checkpoint"],
            context=context(model, offers, approve=True),
        )
    assert memory_of(fork)["plan"] == PLAN["steps"]
    assert memory_of(fork)["answer"]["decision"] == "ash"


@pytest.mark.parametrize("method", METHODS)
async def test_every_graph_greets(client: LangGraphClient, method: str) -> None:
    done = await client.runs.wait(None, method, input=chat("Hi!"))
    assert memory_of(done)["messages"][-1]["content"].startswith("Hello")
    assert not memory_of(done)["facts"]


async def test_a_wrong_setting_is_told(client: LangGraphClient) -> None:
    with pytest.raises(Exception, match="max_iterations"):
        await client.runs.wait(
            None, "planrag", input={"question": "x?"}, context={"max_iterations": 0}
        )


@pytest.mark.parametrize(
    ("origin", "admitted"),
    [
        ("https://smith.langchain.com", True),
        ("http://localhost:3000", True),
        ("https://evil.example", False),
        ("https://localhost.evil.example", False),
        ("http://evil.example/localhost", False),
        ("null", False),
    ],
)
async def test_a_foreign_web_page_starts_no_run(server: str, origin: str, admitted: bool) -> None:
    run = {"assistant_id": "planrag", "input": {"question": "Hello!"}}
    plain = {"origin": origin, "content-type": "text/plain"}  # a browser asks nobody before it
    studio = plain | {"x-auth-scheme": "langsmith", "content-type": "application/json"}
    async with httpx.AsyncClient(base_url=server) as page:
        for headers in (plain, studio):
            reply = await page.post("/runs/wait", content=json.dumps(run), headers=headers)
            assert reply.status_code == (200 if admitted else 403)
            listed = await page.post("/threads/search", json={}, headers=headers)
            assert listed.status_code == (200 if admitted else 403)
