"""A real Bolt server for the tests: ArcadeDB from its wheel, in a process of its own.

Run as a script it starts the server and says ``ready``; it ends when its standard input does.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

import httpx
from servers import free_port

ROOT, READER = ("root", "a-root-password"), ("reader", "a-reader-password")
_UNLIMITED = {"resultSetLimit": -1, "readTimeout": -1}
_GROUP = _UNLIMITED | {"access": [], "types": {"*": {"access": ["readRecord"]}}}
_ADMIN = _UNLIMITED | {
    "access": ["updateSecurity", "updateSchema", "updateDatabaseSettings"],
    "types": {"*": {"access": ["createRecord", "readRecord", "updateRecord", "deleteRecord"]}},
}


@dataclass(frozen=True)
class BoltServer:
    """Where it listens; ``url`` logs in as a user that may only read."""

    port: int

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}/graph"

    @property
    def url(self) -> str:
        return f"bolt://{':'.join(READER)}@{self.address}"


@contextmanager
def bolt_server(folder: Path, statements: list[str]) -> Iterator[BoltServer]:
    """Start a server, fill it as its owner, stop it at the end.

    Raises:
        OSError: It did not become ready.
    """
    groups = {"admin": _ADMIN, "readonly": _GROUP}
    (folder / "config").mkdir()
    (folder / "config" / "server-groups.json").write_text(
        json.dumps({"databases": {"*": {"groups": groups}}, "version": 2})
    )
    http, bolt = free_port(), free_port()
    command = [sys.executable, __file__, str(folder), str(http), str(bolt)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            said = _wait(process.stdout)
            if not said.startswith("ready"):
                raise OSError(f"the graph server did not start: {said[-300:]}")
            Thread(target=process.stdout.read, daemon=True).start()  # else its log fills the pipe
            _create_reader(http)
            _fill(bolt, statements)
            yield BoltServer(bolt)
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(output: IO[str]) -> str:
    said = ""
    for line in output:
        if line.startswith("ready"):
            return line
        said += line
    return said


def _create_reader(http: int) -> None:
    user = {"name": READER[0], "password": READER[1], "databases": {"graph": ["readonly"]}}
    command = {"command": f"create user {json.dumps(user)}"}
    url = f"http://127.0.0.1:{http}/api/v1/server"
    httpx.post(url, json=command, auth=ROOT, timeout=60).raise_for_status()


def _fill(port: int, statements: list[str]) -> None:
    from neo4j import GraphDatabase

    with (
        GraphDatabase.driver(f"bolt://127.0.0.1:{port}", auth=ROOT) as driver,
        driver.session(database="graph") as session,
    ):
        for statement in statements:
            session.run(statement).consume()


def main(folder: str, http: str, bolt: str) -> None:
    """Serve until standard input ends."""
    import arcadedb_embedded

    config = {
        "host": "127.0.0.1",
        "http_port": int(http),
        "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "bolt_port": int(bolt),
    }
    server = arcadedb_embedded.create_server(folder, root_password=ROOT[1], config=config)
    server.start()
    server.create_database("graph")
    sys.stdout.write("\nready\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
