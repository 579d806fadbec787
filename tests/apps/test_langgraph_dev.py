"""``langgraph dev`` serves every graph: driven offline through its SDK, as Studio does."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from browser import complaints, new_page
from cases import cases
from dev_server import ROOT, langgraph_dev
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient
from offers import PLAN, SCRIPT, WHOLE_RUN, scripted
from openai import OpenAI
from openai_server import serving
from playwright.sync_api import Browser, expect

from planweave.graphs import METHODS

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "offers.sql").write_text(SCRIPT)
    offer = {"databases": {"shop": str(folder / "offers.sql")}}
    (folder / "service.json").write_text(json.dumps(offer))
    with langgraph_dev(folder, PLANWEAVE_SERVICE=str(folder / "service.json")) as url:
        yield url


@pytest.fixture
async def client(server: str) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server, api_key=None) as client:
        yield client


async def test_lists_the_graphs_and_their_schemas(client: LangGraphClient) -> None:
    assistants = await client.assistants.search(limit=50)
    assert {assistant["graph_id"] for assistant in assistants} == set(METHODS)
    for assistant in (assistants[0], assistants[-1]):  # all have the same
        schemas: Any = await client.assistants.get_schemas(assistant["assistant_id"])
        assert "messages" in schemas["input_schema"]["properties"]
        assert {"plan", "facts", "answer"} <= {*schemas["output_schema"]["properties"]}
        assert "description" in schemas["context_schema"]["properties"]["database"]


async def test_what_a_person_can_fix_is_said_to_them(client: LangGraphClient) -> None:
    asked: Any = {"messages": [{"role": "user", "content": "Which?"}]}
    parts = client.runs.stream(None, "planrag", input=asked, context={"database": "nowhere.sql"})
    errors = [part.data async for part in parts if part.event == "error"]
    assert ["nowhere.sql" in error["message"] for error in errors] == [True]


def test_the_chat_page_gets_what_it_needs(server: str) -> None:
    """As agent-chat-ui does: a stream of values, the request to approve, the decision."""
    with serving(*scripted(*WHOLE_RUN)) as model:
        example = [sys.executable, str(ROOT / "examples" / "agent_chat_ui.py"), model.name]
        variables = os.environ | {"PLANWEAVE_URL": server}
        address = subprocess.check_output(example, env=variables, text=True, timeout=120).strip()
        query = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
        assert query["apiUrl"] == server
        parts = urlsplit(address)
        headers = {"origin": f"{parts.scheme}://{parts.netloc}"}
        with get_sync_client(url=query["apiUrl"], api_key=None, headers=headers) as client:
            thread = client.threads.create()["thread_id"]
            asked: Any = {"messages": [{"type": "human", "content": "Which offer is cheapest?"}]}
            assistant = query["assistantId"]
            stream = client.runs.stream(thread, assistant, input=asked, stream_mode=["values"])
            request = list(stream)[-1].data["__interrupt__"][0]["value"]
            (action,), (review,) = request["action_requests"], request["review_configs"]
            assert action["args"] == {"plan": PLAN["steps"]}
            assert review["action_name"] == action["name"]
            assert {"approve", "edit", "reject"} <= set(review["allowed_decisions"])
            edited = {"name": action["name"], "args": {"plan": json.dumps(["Mine."])}}
            decision = {"decisions": [{"type": "edit", "edited_action": edited}]}
            done: Any = client.runs.wait(thread, assistant, command={"resume": decision})
    assert done["plan"] == ["Mine."]
    assert "Birch" in done["messages"][-1]["content"]


def test_chat_completions(server: str) -> None:
    asked: Any = [{"role": "user", "content": "Which offer is cheapest?"}]
    with (
        serving(*scripted(*WHOLE_RUN)) as model,
        OpenAI(base_url=f"{server}/v1", api_key="none") as client,
    ):
        settings = {"context": {"model": model.name, "database": "shop"}}
        stream = client.chat.completions.create(
            model="planrag", messages=asked, stream=True, extra_body=settings
        )
        said = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert "**Birch**" in said
    foreign = httpx.get(f"{server}/v1/models", headers={"origin": "https://evil.test"}, timeout=60)
    assert foreign.status_code == 403


async def test_a_page_under_a_name_of_its_own_reads_nothing(server: str) -> None:
    rebound = {"host": f"evil.example:{httpx.URL(server).port}"}  # resolves to this machine
    async with httpx.AsyncClient(base_url=server, headers=rebound, timeout=60) as page:
        for path in ("/studio/api/results", "/assistants/planrag/schemas"):
            assert (await page.get(path)).status_code == 403


@cases(("https://smith.langchain.com", True), ("https://evil.example", False))
async def test_a_foreign_web_page_starts_no_run(origin: str, admitted: bool, server: str) -> None:
    run = {"assistant_id": "planrag", "input": {"question": "Hello!"}}
    plain = {"origin": origin, "content-type": "text/plain"}  # a browser asks nobody before it
    studio = plain | {"x-auth-scheme": "langsmith", "content-type": "application/json"}
    async with httpx.AsyncClient(base_url=server, timeout=60) as page:
        for headers in (plain, studio):
            reply = await page.post("/runs/wait", content=json.dumps(run), headers=headers)
            assert reply.status_code == (200 if admitted else 403)
            listed = await page.post("/threads/search", json={}, headers=headers)
            assert listed.status_code == (200 if admitted else 403)


def test_the_page_asks_it(server: str, browser: Browser, offers: str) -> None:
    with serving(*scripted(*WHOLE_RUN)) as model:
        page = new_page(browser, base_url=server)
        heard = complaints(page)
        chosen = json.dumps({"model": model.name, "database": offers})
        page.add_init_script(f"localStorage.setItem('planweave.settings', {json.dumps(chosen)})")
        page.goto("/studio/")
        page.get_by_role("textbox", name="Ask a question").fill("Which offer is cheapest?")
        page.keyboard.press("Enter")
        answer = page.get_by_role("region", name="Answer")
        expect(answer).to_contain_text("Birch")
    assert heard == []
