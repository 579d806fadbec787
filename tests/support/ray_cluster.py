"""A Ray cluster of two nodes on loopback, either of which can be killed with all that it runs."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from servers import free_port

_MEMORY = 80_000_000  # bytes of a node's object store, about the least that Ray takes
_NODE = ["--node-ip-address=127.0.0.1", "--num-cpus=1", f"--object-store-memory={_MEMORY}"]


class Node(NamedTuple):
    """A node: the processes of one session; each of its workers leads a group of its own."""

    session: int

    def working(self) -> bool:
        """Whether one of its workers runs something."""
        return any(b"ray::_run_in_worker" in _words(process) for process in self._processes())

    def kill(self) -> None:
        """End all of it at once, as a power cut does."""
        for process in self._processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _processes(self) -> list[int]:
        return [process for process in _all() if _session(process) == self.session]


class RayCluster(NamedTuple):
    """Its address, and the node that can be lost: the other one is its head."""

    address: str
    other: Node


@contextmanager
def ray_cluster(python_path: str) -> Iterator[RayCluster]:
    """Start both nodes; workers find modules on ``python_path``, too."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # paths of sockets must be short
    address = f"127.0.0.1:{free_port()}"
    environment = os.environ | {"PYTHONPATH": python_path, "RAY_USAGE_STATS_ENABLED": "0"}
    port = address.partition(":")[2]
    client = f"--ray-client-server-port={free_port()}"
    head = ["--head", f"--port={port}", client, f"--temp-dir={folder}", "--include-dashboard=false"]
    nodes: list[Node] = []
    try:
        nodes.append(_start([*head, *_NODE], environment))
        nodes.append(_start([f"--address={address}", *_NODE], environment))
        yield RayCluster(address, nodes[1])
    finally:
        for node in nodes:
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _start(words: list[str], environment: dict[str, str]) -> Node:
    with tempfile.TemporaryFile() as said:  # no pipe: the node's processes keep it open
        command = Path(sys.executable).with_name("ray")
        process = subprocess.Popen(
            [command, "start", *words],
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        node = Node(process.pid)
        with suppress(subprocess.TimeoutExpired):
            process.wait(140)
        if process.poll() != 0:
            node.kill()
            process.wait()
            said.seek(0)
            raise RuntimeError(f"the node did not start: {said.read()[-800:]!r}")
    return node


def _all() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def _session(process: int) -> int:
    with suppress(ProcessLookupError):
        return os.getsid(process)
    return 0


def _words(process: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""
