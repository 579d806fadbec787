"""Runs that can be taken up again: a checkpoint database and each thread's settings."""

import asyncio
import json
import logging
import re
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from planweave import BadInput
from planweave.apps.sqlite_file import (
    CHECKPOINTS,
    PATIENCE_SECONDS,
    STORE,
    Columns,
    alone,
    check_or_set_aside,
)
from planweave.redact import HIDDEN, without_passwords
from planweave.state import StateSettings, private_folder

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    from planweave.apps.example import Example
    from planweave.memory import Context, WorkingMemory

log = logging.getLogger(__name__)

NAME = re.compile(r"[\w-]{1,64}")
"""What a thread may be called."""


@dataclass(frozen=True, kw_only=True)
class Thread:
    """What it takes to go on with a run besides its checkpoints."""

    id: str
    method: str
    context: "Context"
    example: "Example | None" = None

    def check_models(self) -> None:
        """Make the models once, so that one that is missing is reported before anything is kept."""
        from planweave.graphs import METHODS
        from planweave.models import chat_model

        if METHODS.get(self.method).family == "learned":
            return  # it asks none
        for name in {self.context.model, *self.context.models.values()}:
            chat_model(name)

    def save(self) -> None:
        """Write the settings beside the checkpoints, without the passwords of database URLs."""
        context = self.context.model_dump(mode="json")
        for kind in ("database", "graph"):
            context[kind] = context[kind] and without_passwords(context[kind])
        record = {
            "method": self.method,
            "context": context,
            "example": asdict(self.example) if self.example else None,
        }
        (threads_folder() / f"{self.id}.json").write_text(json.dumps(record), encoding="utf-8")


def new_id() -> str:
    """A short name for a thread."""
    return uuid.uuid4().hex[:12]


def newest() -> list[Path]:
    """The files of all threads, named by their ids, the newest first."""
    return sorted(_folder().glob("*.json"), key=lambda file: -file.stat().st_mtime)


def is_kept(thread: str) -> bool:
    """Whether there is a thread of that name."""
    return NAME.fullmatch(thread) is not None and _settings_file(thread).is_file()


def load_thread(thread: str, urls: Mapping[str, str | None] | None = None) -> Thread:
    """Read a thread's settings, to go on with it by ``urls``, or only to look at it.

    Where URLs of databases are given, they replace those that were kept.
    """
    from planweave.apps.example import Example
    from planweave.memory import Context

    if not is_kept(thread):
        raise BadInput(
            f"There is no thread {thread!r} in {_folder()}.", fix="See `planweave runs`."
        )
    path = _settings_file(thread)
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        given = {kind: url for kind, url in (urls or {}).items() if url}
        example = Example(**record["example"]) if record["example"] else None
        context = Context.model_validate(record["context"] | given)
        method = str(record["method"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput(
            f"The settings of thread {thread!r} in {path} are damaged.",
            fix="Ask the question again without --resume.",
        ) from None
    for kind in ("database", "graph") if urls is not None else ():
        if HIDDEN in (getattr(context, kind) or ""):
            raise BadInput(
                "Passwords of databases are not kept with a thread.",
                fix=f"Give --{kind} URL again, or write ${{NAME}} for the password in it.",
            )
    return Thread(id=thread, method=method, context=context, example=example)


@asynccontextmanager
async def checkpoints() -> AsyncIterator["AsyncSqliteSaver"]:
    """Open the checkpoint database; what is read from it can only become known, harmless types."""
    import aiosqlite
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    path = _sound(threads_folder() / "checkpoints.sqlite", CHECKPOINTS)
    async with aiosqlite.connect(path, timeout=PATIENCE_SECONDS) as connection:
        yield AsyncSqliteSaver(connection, serde=strict)


async def memory_of(thread: str, saver: "AsyncSqliteSaver") -> "WorkingMemory":
    """The last working memory of a thread; empty if it has come nowhere."""
    found = await saver.aget_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})
    values: Any = found.checkpoint["channel_values"] if found else {}
    return cast("WorkingMemory", values)


async def forget(thread: str) -> None:
    """Remove a thread that is kept, with its checkpoints."""
    with being_worked_on(thread):
        async with checkpoints() as saver:
            await saver.setup()  # it may have come to no checkpoint, and no other thread either
            await saver.adelete_thread(thread)
        _settings_file(thread).unlink()
        with suppress(PermissionError):  # Windows removes no file that is open
            _lock_file(thread).unlink()


def memory_now(thread: str) -> "WorkingMemory":
    """As :func:`memory_of`, outside an event loop."""

    async def read() -> "WorkingMemory":
        async with checkpoints() as saver:
            return await memory_of(thread, saver)

    return asyncio.run(read())


@asynccontextmanager
async def long_term_memory() -> AsyncIterator["AsyncSqliteStore"]:
    """Open the store of what owners keep from one thread to the next."""
    import aiosqlite
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    threads_folder()
    path = _sound(_memory_file(), STORE)
    opened = aiosqlite.connect(path, timeout=PATIENCE_SECONDS, isolation_level=None)
    async with opened as connection:
        store = AsyncSqliteStore(connection)
        await store.setup()
        yield store


def remembers() -> bool:
    """Whether anything was ever kept in the long-term memory."""
    return _memory_file().exists()


def being_worked_on(thread: str) -> AbstractContextManager[None]:
    """Hold a thread, so that no two processes go on with it at once."""
    return alone(_lock_file(thread), f"Another process is working on the thread {thread!r}.")


def _lock_file(thread: str) -> Path:
    return threads_folder() / f"{Path(thread).name}.lock"


def _settings_file(thread: str) -> Path:
    return _folder() / f"{Path(thread).name}.json"


def _memory_file() -> Path:
    return _folder().parent / "long-term.sqlite"


def _sound(path: Path, columns: Columns) -> Path:
    if aside := check_or_set_aside(path, columns):
        log.warning("The file %s was damaged; it was moved to %s.", path, aside)
    return path


def threads_folder() -> Path:
    """The folder of runs, made if need be for its owner alone: rows of databases end up in it."""
    return private_folder(_folder(), "runs", "PLANWEAVE_STATE_DIR")


def _folder() -> Path:
    """The same, not made: whoever only looks finds nothing there."""
    return StateSettings().state_dir / "threads"
