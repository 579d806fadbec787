"""Files that outlast a process, each spoilt in one way.

Whatever state a file is in, a command that needs it works without it or says in one sentence what
is wrong with it; what was spoilt is never written over.
"""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from starlette.testclient import TestClient
from tally import RecordTried

from planweave import PlanweaveError
from planweave.apps import sqlite_file
from planweave.apps.run import run
from planweave.apps.server.app import create_app
from planweave.apps.server.settings import server_settings
from planweave.apps.server.tables import check_database
from planweave.apps.threads import Thread
from planweave.graphs.support.events import AnswerEvent
from planweave.memory import Context

COMMAND_FILES = ("threads/checkpoints.sqlite", "long-term.sqlite")
"""Below the state folder, what a command keeps from one run to the next."""

SERVER_FILES = (
    *("serve.sqlite", "serve.sqlite-wal", "serve.sqlite-shm"),
    *("serve.checkpoints.sqlite", "serve.checkpoints.sqlite-wal", "serve.checkpoints.sqlite-shm"),
    *("serve.memory.sqlite", "serve.memory.sqlite-journal", "serve.turn.sqlite"),
)
"""What a server keeps beside each other."""

_NOISE = random.Random(1).randbytes(20_000)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 1)


def _spoilt_inside(path: Path) -> None:
    """The first page, with the names of the tables, stays; what follows is noise."""
    kept = path.read_bytes()
    path.write_bytes(kept[:4096] + _NOISE[: max(0, len(kept) - 4096)])


def _of_another_program(path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base:
        for table in ("checkpoints", "writes", "store", "planweave_runs", "planweave_threads"):
            base.execute(f"CREATE TABLE {table}(something TEXT)")
        base.commit()


def _a_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    (path / "inside").mkdir(parents=True)


def _a_link_to_nowhere(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.parent / "no such folder" / "file")


SPOILT: Mapping[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "noise": lambda path: path.write_bytes(_NOISE),
    "zeros": lambda path: path.write_bytes(bytes(20_000)),
    "text": lambda path: path.write_text("hello\n"),
    "a header alone": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "cut off": _cut,
    "spoilt inside": _spoilt_inside,
    "of another program": _of_another_program,
    "a folder": _a_folder,
    "a link to nowhere": _a_link_to_nowhere,
}
"""How a file is spoilt."""

OF_CONTENT = ("cut off", "spoilt inside")
"""What needs a file that is there."""
LOCKED = "locked"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """The file as another program keeps it to itself."""
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA locking_mode = EXCLUSIVE")
        base.execute("BEGIN EXCLUSIVE")
        yield


def spoil(path: Path, how: str) -> AbstractContextManager[None]:
    """Spoil a file that there is, for as long as the block lasts or for good."""
    if how == LOCKED:
        return locked(path)
    SPOILT[how](path)
    return nullcontext()


def spoilt_cases(files: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every file with every way in which it can be spoilt."""
    databases = [name for name in files if name.endswith(".sqlite")]
    return [*product(files, SPOILT), *((name, LOCKED) for name in databases)]


HOST = {"host": "127.0.0.1"}
HI: Any = {"assistant_id": "planrag", "input": {"question": "Hi!"}}


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sqlite_file, "LOCK_TIMEOUT_SECONDS", 0.2)
    server_settings.cache_clear()
    yield
    server_settings.cache_clear()


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


async def greeted(thread: str) -> None:
    asked = Thread(id=thread, method="planrag", context=Context())
    *_, last = [event async for event in run(asked, {"question": "Hi!"})]
    assert isinstance(last, AnswerEvent)
    assert last.result.text.startswith("Hello")


@pytest.mark.parametrize(("name", "how"), spoilt_cases(COMMAND_FILES))
async def test_a_command_works_without_or_tells_in_a_sentence(
    state: Path, name: str, how: str
) -> None:
    await greeted("before")
    path = state / name
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that all of it is in one file
    before = path.read_bytes()
    with spoil(path, how):
        try:
            await greeted("after")
        except PlanweaveError as error:
            told = str(error)
        else:
            told = str(path)
        assert str(path) in told
    if how not in (LOCKED, "a folder", "a link to nowhere"):
        await greeted("later")  # what was damaged has been set aside
    if how == LOCKED:
        assert path.read_bytes()[:16] == before[:16]
        await greeted("later")


def test_what_is_damaged_is_kept_aside(state: Path, tmp_path: Path) -> None:
    del state
    path = tmp_path / "some.sqlite"
    SPOILT["noise"](path)
    noise = path.read_bytes()
    aside = sqlite_file.check_or_set_aside(path, {})
    assert aside is not None
    assert aside.read_bytes() == noise
    assert path.read_bytes() == b""
    assert path.stat().st_mode & 0o077 == 0
    assert sqlite_file.check_or_set_aside(path, {}) is None


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a server has kept that was killed: its logs are not written back yet."""
    folder, copy = tmp_path_factory.mktemp("kept"), tmp_path_factory.mktemp("killed") / "copy"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANWEAVE_SERVE_URL", str(folder / "serve.sqlite"))
        server_settings.cache_clear()
        with TestClient(create_app(), headers=HOST) as page:
            assert page.post("/runs/wait", json=HI).is_success
            shutil.copytree(folder, copy)
    server_settings.cache_clear()
    return copy


def test_a_server_starts_without_or_tells_in_a_sentence(
    kept: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    attack_is_full: bool,
    attack_seed: int,
    record_tried: RecordTried,
) -> None:
    every = [
        (name, how)
        for name, how in spoilt_cases(SERVER_FILES)
        if (kept / name).exists() or how not in OF_CONTENT
    ]
    if not attack_is_full:
        every = random.Random(attack_seed).sample(every, 16)
    failed: list[str] = []
    for number, (name, how) in enumerate(every):
        folder = tmp_path / str(number)
        shutil.copytree(kept, folder)
        monkeypatch.setenv("PLANWEAVE_SERVE_URL", str(folder / "serve.sqlite"))
        server_settings.cache_clear()
        if problem := _problem_of_a_server(folder, name, how):
            failed.append(f"{name} {how}: {problem}")
    record_tried(len(every), len(failed))
    assert not failed, "\n".join(failed)


@cases(
    ("CREATE TABLE members(name TEXT)", "has tables of another program, such as members"),
    ("", "is not a SQLite database"),
)
def test_a_file_that_a_server_refuses_stays(statement: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    path.write_text("" if statement else "hello\n")
    path.chmod(0o644)
    with closing(sqlite3.connect(path)) as base:
        base.executescript(statement)
    before = path.read_bytes()
    with pytest.raises(PlanweaveError, match=words):
        check_database(str(path))
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o644
    assert [*tmp_path.iterdir()] == [path]


def _problem_of_a_server(folder: Path, name: str, how: str) -> str:
    """What goes wrong when a server starts and answers, or nothing."""
    with spoil(folder / name, how):
        try:
            check_database(str(folder / "serve.sqlite"))
        except PlanweaveError as error:
            told = str(error)
            return "" if str(folder) in told and "\n" not in told else told
        try:
            with TestClient(create_app(), headers=HOST, raise_server_exceptions=False) as page:
                reply = page.post("/runs/wait", json=HI)
        except PlanweaveError as error:
            return "" if str(folder) in str(error) else str(error)
        except Exception as error:  # whatever it is, it would be a traceback
            return f"{type(error).__name__}: {error}"
    return "" if reply.status_code < 500 and "server's log" not in reply.text else reply.text
