"""Nothing leaves the machine that its user did not ask for: no name is looked up, no report sent.

Each program runs in a network where every packet is seen, without ``CI`` in its environment:
libraries that report to their makers are often silent where that is set.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
import watched_network
from command_line import PROGRAM, user_environment
from market import needs_minilm
from tiny_onnx import write_model
from watched_network import Watched, watched

Watch = Callable[..., Watched]

_WHY_NOT = watched_network.why_not()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(_WHY_NOT), reason=_WHY_NOT)]

_QUIET = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "DO_NOT_TRACK", "LANGSMITH_TRACING")
_CHOSEN = ("ORT_DISABLE_TELEMETRY", "RAY_USAGE_STATS_ENABLED", "HF_HUB_DISABLE_TELEMETRY")
_LIBRARIES = (
    *("bm25s", "bs4", "docx", "faiss", "jax", "kglite", "langchain", "langchain_community"),
    *("langchain_openai", "langgraph.graph", "langsmith", "mcp", "neo4j", "openai", "optax"),
    *("opentelemetry.sdk", "pint", "pypdf", "psycopg", "ray", "scienceworld", "scipy.stats"),
    *("sqlalchemy", "sqlglot", "starlette", "tokenizers", "uvicorn", "xllamacpp"),
)
_ENCODE = """
import sys, time
from pathlib import Path
from planweave.models.embeddings import MiniLM
folder = Path(sys.argv[1])
model = MiniLM(folder / "model.onnx", folder / "tokenizer.json", threads=1)
assert len(model.embed_documents(["hydrogen costs money"])) == 1
time.sleep(15)  # a report is sent by another thread, in its own time
"""
_REPORTED = "microsoft"
_REPORT = """
import os, sys, time
os.environ.pop("ORT_DISABLE_TELEMETRY", None)
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
time.sleep(120)  # it is ended when it has reported
"""
_DOCUMENTS = """
import os
from pathlib import Path
from command_line import in_process
run = in_process(Path.cwd(), os.environ)
for words in (
    ("docs", "add", "note.txt", "--embeddings", "minilm"),
    ("docs", "search", "What does hydrogen cost?"),
):
    print(run(*words).stdout)
"""
_DECIDE = f"""
import subprocess, sys
from offers import WHOLE_RUN, scripted
from openai_server import serving
with serving(*scripted(*WHOLE_RUN)) as model:
    command = [{PROGRAM!r}, "decide", *sys.argv[1:], "--model", model.name]
    sys.exit(subprocess.run(command).returncode)
"""
_SERVE = """
import sys, time
from pathlib import Path
import httpx
from serve import serving_planweave
with serving_planweave(Path.cwd()) as served:
    place = {"collection": "energy", "name": "note.txt", "embeddings": sys.argv[1]}
    url = f"{served.url}/studio/api/documents"
    reply = httpx.put(url, params=place, content=b"Losses fell.", timeout=60)
    assert reply.json()["chunks"] == 1, reply.text
    time.sleep(15)
"""


def _watched(folder: Path, *command: str, enough: str = "") -> Watched:
    kept = {n: v for n, v in user_environment(folder).items() if n not in _QUIET + _CHOSEN}
    kept["PYTHONPATH"] = os.pathsep.join(sys.path)
    kept["RES_OPTIONS"] = "timeout:1 attempts:1"  # nobody answers who is asked for a name
    return watched(command, folder, kept, enough=enough)


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    """Runs a command in a network that is watched."""
    return lambda *command: _watched(tmp_path, *command)


def _program(name: str, folder: Path) -> tuple[str, ...]:
    if name == "libraries":
        there = [one for one in _LIBRARIES if find_spec(one.partition(".")[0])]
        load = f"import time, {', '.join(there)}; time.sleep(5)"
        room = "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384"  # for the threads of so many
        return ("env", room, sys.executable, "-W", "ignore", "-c", load)
    if name == "server":
        return (sys.executable, "-c", _SERVE, "minilm")
    model = write_model(folder / "tiny")
    if name == "report":
        return (sys.executable, "-c", _REPORT, str(model / "model.onnx"))
    return (sys.executable, "-c", _ENCODE, str(model))


class Waiting(NamedTuple):
    """A program that waits for what libraries report in their own time."""

    run: Future[Watched]
    folder: Path


@pytest.fixture(scope="module", autouse=True)
def waiting(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Waiting]]:
    """All that wait, at the same time and beside the other tests."""
    names = ["libraries"] + ["report", "model"] * bool(find_spec("onnxruntime"))
    names += ["server"] * any(
        test_a_server_is_quiet.__name__ == i.name for i in request.session.items
    )
    folders = {name: tmp_path_factory.mktemp(name) for name in names}

    def watch_on(name: str, folder: Path) -> Watched:
        return _watched(folder, *_program(name, folder), enough=_REPORTED * (name == "report"))

    with ThreadPoolExecutor(len(names)) as pool:
        yield {
            name: Waiting(pool.submit(watch_on, name, folder), folder)
            for name, folder in folders.items()
        }


def quiet(run: Watched) -> bool:
    assert run.code == 0, run.output
    assert run.sent == []
    return True


def test_a_name_and_an_address_are_seen(watch: Watch) -> None:
    """Else every test below would pass whatever was sent."""
    look_up = "try: socket.getaddrinfo('example.org', 443)\nexcept OSError: pass"
    connect = "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.7', 9))"
    program = f"import socket\n{look_up}\n{connect}"
    name, address = watch(sys.executable, "-c", program).sent
    assert name.endswith(" 53 example.org")
    assert address == "udp 192.0.2.7 9"


@needs_minilm
def test_documents_are_added_and_searched_quietly(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Hydrogen costs 2.4 EUR per kilogram.")
    found = watch(sys.executable, "-c", _DOCUMENTS)
    assert quiet(found)
    assert "2.4 EUR" in found.output


def test_a_query_is_quiet(watch: Watch, offers: str) -> None:
    run = watch(PROGRAM, "query", "--database", offers, "SELECT name FROM offer")
    assert quiet(run)
    assert "birch" in run.output


def test_a_decision_asks_its_model_alone(watch: Watch, offers: str) -> None:
    asked = ("Which offer?", "--database", offers, "--candidates", "SELECT name FROM offer")
    run = watch(sys.executable, "-c", _DECIDE, *asked)
    assert quiet(run)
    assert "birch" in run.output


def test_a_report_of_the_runtime_is_seen(waiting: dict[str, Waiting]) -> None:
    """Without the switch it reports; the day it does not, the switch may go."""
    pytest.importorskip("onnxruntime", reason="the extra `documents` is not installed")
    assert _REPORTED in " ".join(waiting["report"].run.result().sent)


def test_a_model_in_the_process_is_quiet(waiting: dict[str, Waiting]) -> None:
    pytest.importorskip("onnxruntime", reason="the extra `documents` is not installed")
    run, folder = waiting["model"]
    assert quiet(run.result())
    assert not [*(folder / "cache").rglob("Microsoft*")]  # where it would keep an identifier


def test_libraries_are_quiet(waiting: dict[str, Waiting]) -> None:
    assert quiet(waiting["libraries"].run.result())


@needs_minilm
@pytest.mark.server
def test_a_server_is_quiet(waiting: dict[str, Waiting]) -> None:
    pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
    assert quiet(waiting["server"].run.result())
