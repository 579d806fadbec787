"""A real ``langgraph dev`` process on loopback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers import answering, free_port, running

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
    with running(command, log, answering(f"{url}/ok"), cwd=folder, env=environment):
        yield url
    assert "BlockingError" not in log.read_text()
