"""A real ``langgraph dev`` process on loopback."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from servers import free_port

ROOT = Path(__file__).parents[2]


@contextmanager
def langgraph_dev(folder: Path, **variables: str) -> Iterator[str]:
    """Serve the graphs, offline and with its state in ``folder``; gives the address."""
    port = free_port()
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
        **variables,
    }
    url = f"http://127.0.0.1:{port}"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            wait_until_ready(f"{url}/ok", process, log)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=120)
    assert "BlockingError" not in log.read_text()


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers at ``url``."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    pytest.fail(f"The server was not ready in two minutes.\n{log.read_text()[-3000:]}")
