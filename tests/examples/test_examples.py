"""Every example runs as a person runs it, and answers.

That of the chat page needs ``langgraph dev``: ``tests/apps/test_langgraph_dev.py``.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev_server import ROOT
from offers import WHOLE_RUN, scripted
from openai_server import Script, serving
from serve import serving_planweave
from servers import answering, free_port, running

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
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_planweave(tmp_path_factory.mktemp("served")) as served:
        yield served.url


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, model: Script) -> Iterator[str]:
    """The example of a server."""
    folder = tmp_path_factory.mktemp("own")
    context = {"model": model.name, "database": str(EXAMPLES / "offers.sql")}
    service = folder / "service.json"
    service.write_text(json.dumps({"context": context, "methods": ["planrag"]}))
    port = str(free_port())
    url = f"http://127.0.0.1:{port}"
    command: list[Path | str] = [sys.executable, EXAMPLES / "own_server.py", port]
    variables = os.environ | {"PLANWEAVE_SERVICE": str(service)}
    with running(command, folder / "log", answering(f"{url}/v1/models"), env=variables):
        yield url


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
def test_over_the_servers_protocol(server: str, name: str) -> None:
    with serving(*scripted(*WHOLE_RUN)) as model:
        assert "Birch" in run(name, model.name, PLANWEAVE_URL=server)


@pytest.mark.parametrize("name", OVER_DOORS)
def test_over_the_doors_of_a_server_of_ones_own(own: str, model: Script, name: str) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    said = run(name, PLANWEAVE_URL=own)
    assert "planrag" in said
    assert "Birch" in said
    assert "SELECT" not in said  # a step, which is no part of the answer


def test_the_service_file_of_the_examples_is_one() -> None:
    from planweave.apps.service import Service

    written = Service.model_validate_json((EXAMPLES / "service.json").read_bytes())
    assert Path(ROOT, written.context.database or "").is_file()
