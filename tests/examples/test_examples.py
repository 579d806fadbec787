"""Every example runs as a person runs it, and answers."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from dev_server import ROOT, langgraph_dev, wait_until_ready
from langgraph_sdk import get_sync_client
from offers import PLAN, WHOLE_RUN, scripted
from openai_server import Script, serving
from servers import free_port

pytestmark = pytest.mark.server

EXAMPLES = ROOT / "examples"
ALONE = ("library", "mcp_tool")
OVER_PROTOCOL = ("remote_graph", "sdk_client")
OVER_DOORS = ("a2a_agent", "openai_client")
SERVERS = ("own_server", "agent_chat_ui")


def run(name: str, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *arguments],
        check=False,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with langgraph_dev(tmp_path_factory.mktemp("dev")) as url:
        yield url


@pytest.fixture(scope="module")
def model() -> Iterator[Script]:
    with serving(*scripted(*WHOLE_RUN)) as model:
        yield model


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, model: Script) -> Iterator[str]:
    """The example of a server."""
    folder = tmp_path_factory.mktemp("own")
    context = {"model": model.name, "database": str(EXAMPLES / "offers.sql")}
    service = folder / "service.json"
    service.write_text(json.dumps({"context": context, "methods": ["planrag"]}))
    port, log = str(free_port()), folder / "server.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [sys.executable, EXAMPLES / "own_server.py", port],
            env=os.environ | {"PLANWEAVE_SERVICE": str(service)},
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/v1/models", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def test_each_is_short_and_tried() -> None:
    names = {path.stem: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert set(names) == {*ALONE, *OVER_PROTOCOL, *OVER_DOORS, *SERVERS}
    assert max(names.values()) <= 25


@pytest.mark.parametrize("name", ALONE)
def test_without_a_server(name: str) -> None:
    with serving(*scripted(*WHOLE_RUN)) as model:
        said = run(name, model.name)
    assert "birch" in said.lower()
    assert "5.25" in said


@pytest.mark.parametrize("name", OVER_PROTOCOL)
def test_over_the_servers_protocol(dev: str, name: str) -> None:
    with serving(*scripted(*WHOLE_RUN)) as model:
        assert "Birch" in run(name, model.name, PLANWEAVE_URL=dev)


@pytest.mark.parametrize("name", OVER_DOORS)
def test_over_the_doors_of_a_server_of_ones_own(own: str, model: Script, name: str) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    said = run(name, PLANWEAVE_URL=own)
    assert "planrag" in said
    assert "Birch" in said


def test_the_service_file_of_the_examples_is_one() -> None:
    from planweave.apps.service import Service

    written = Service.model_validate_json((EXAMPLES / "service.json").read_bytes())
    assert Path(ROOT, written.context.database or "").is_file()


def test_the_chat_page_gets_what_it_needs(dev: str) -> None:
    """As agent-chat-ui does: a stream of values, the request to approve, the decision."""
    with serving(*scripted(*WHOLE_RUN)) as model:
        address = run("agent_chat_ui", model.name, PLANWEAVE_URL=dev).strip()
        query = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
        assert query["apiUrl"] == dev
        headers = {"origin": _origin(address)}
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


def test_chat_completions_of_langgraph_dev(dev: str) -> None:
    with serving(*scripted(*WHOLE_RUN)) as model:
        context = {"model": model.name, "database": str(EXAMPLES / "offers.sql")}
        asked = {"model": "planrag", "context": context, "stream": True}
        messages = [{"role": "user", "content": "Which offer is cheapest?"}]
        reply = httpx.post(
            f"{dev}/v1/chat/completions", json=asked | {"messages": messages}, timeout=60
        )
    chunks = [
        json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")
    ]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "**Birch**" in "".join(delta.get("content", "") for delta in deltas)
    assert any(PLAN["steps"][0] in delta.get("reasoning_content", "") for delta in deltas)
    assert chunks[-1]["planweave"]["answer"]["decision"] == "Birch"
    unasked = {"role": "tool", "tool_call_id": f"call_{'0' * 32}", "content": "yes"}
    refused = httpx.post(
        f"{dev}/v1/chat/completions", json=asked | {"messages": [unasked], "stream": False}
    )
    assert refused.status_code == 400, refused.text
    foreign = httpx.get(f"{dev}/v1/models", headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
