"""Runs that can be resumed: a checkpoint database, and the settings of each thread."""

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
    LOCK_TIMEOUT_SECONDS,
    STORE,
    Columns,
    check_or_set_aside,
    exclusive_lock,
)
from planweave.redact import HIDDEN, without_passwords
from planweave.state import StateSettings, is_file_name, private_folder

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    from planweave.apps.example import Example
    from planweave.memory import Context, WorkingMemory

log = logging.getLogger(__name__)

NAME = re.compile(r"[\w-]{1,64}")
"""Valid names of threads."""


@dataclass(frozen=True, kw_only=True)
class Thread:
    """The data for resuming a run, besides its checkpoints."""

    id: str
    method: str
    context: "Context"
    example: "Example | None" = None

    def check_models(self) -> None:
        """Make the models, so that a missing one is reported before anything is saved."""
        from planweave.graphs import METHODS
        from planweave.models import chat_model

        if METHODS.get(self.method).family == "learned":
            return  # it uses no model
        for name in {self.context.model, *self.context.models.values()}:
            chat_model(name)

    def save(self) -> None:
        """Save the settings, without the passwords in database URLs."""
        context = self.context.model_dump(mode="json")
        for kind in ("database", "graph"):
            context[kind] = context[kind] and without_passwords(context[kind])
        record = {
            "method": self.method,
            "context": context,
            "example": asdict(self.example) if self.example else None,
        }
        with lock_thread(self.id):  # an active run keeps its settings
            part = threads_folder() / f"{self.id}.part"
            part.write_text(json.dumps(record), encoding="utf-8")
            part.replace(_settings_file(self.id))  # completely, even if the disk is full


def new_id() -> str:
    """Make a short name for a thread."""
    return uuid.uuid4().hex[:12]


def newest_files() -> list[Path]:
    """The files of all threads, named by their ids, newest first."""
    return sorted(_folder().glob("*.json"), key=lambda file: -file.stat().st_mtime)


def is_kept(thread: str) -> bool:
    """Whether there is a thread of this name."""
    return is_file_name(thread, NAME) and _settings_file(thread).is_file()


def load_thread(thread: str, urls: Mapping[str, str | None] | None = None) -> Thread:
    """Load a thread: with ``urls`` to resume it, without to show it.

    Given URLs of databases replace the saved ones.
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
                "Passwords of databases are not saved with a thread.",
                fix=f"Give --{kind} URL again, or write ${{NAME}} for the password in it.",
            )
    return Thread(id=thread, method=method, context=context, example=example)


@asynccontextmanager
async def checkpoints() -> AsyncIterator["AsyncSqliteSaver"]:
    """Open the checkpoint database; it can only be read as known, harmless types."""
    import aiosqlite
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    path = _repaired(threads_folder() / "checkpoints.sqlite", CHECKPOINTS)
    async with aiosqlite.connect(path, timeout=LOCK_TIMEOUT_SECONDS) as connection:
        yield AsyncSqliteSaver(connection, serde=strict)


async def memory_of(thread: str, saver: "AsyncSqliteSaver") -> "WorkingMemory":
    """The last working memory of a thread; empty before its first checkpoint."""
    found = await saver.aget_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})
    values: Any = found.checkpoint["channel_values"] if found else {}
    return cast("WorkingMemory", values)


async def delete_thread(thread: str) -> None:
    """Delete a saved thread with its checkpoints."""
    with lock_thread(thread):
        async with checkpoints() as saver:
            await saver.setup()  # no thread may have reached a checkpoint yet
            await saver.adelete_thread(thread)
        _settings_file(thread).unlink()
        with suppress(PermissionError):  # Windows does not remove open files
            _lock_file(thread).unlink()


def read_memory(thread: str) -> "WorkingMemory":
    """Like :func:`memory_of`, outside an event loop."""

    async def read() -> "WorkingMemory":
        async with checkpoints() as saver:
            return await memory_of(thread, saver)

    return asyncio.run(read())


@asynccontextmanager
async def long_term_memory() -> AsyncIterator["AsyncSqliteStore"]:
    """Open the store that an owner's threads share."""
    import aiosqlite
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    threads_folder()
    path = _repaired(_memory_file(), STORE)
    opened = aiosqlite.connect(path, timeout=LOCK_TIMEOUT_SECONDS, isolation_level=None)
    async with opened as connection:
        store = AsyncSqliteStore(connection)
        await store.setup()
        yield store


def has_memory() -> bool:
    """Whether the long-term memory has ever been written."""
    return _memory_file().exists()


def lock_thread(thread: str) -> AbstractContextManager[None]:
    """Lock a thread, so that only one process at a time works on it."""
    return exclusive_lock(
        _lock_file(thread), f"Another process is working on the thread {thread!r}."
    )


def _lock_file(thread: str) -> Path:
    return threads_folder() / f"{Path(thread).name}.lock"


def _settings_file(thread: str) -> Path:
    return _folder() / f"{Path(thread).name}.json"


def _memory_file() -> Path:
    return _folder().parent / "long-term.sqlite"


def _repaired(path: Path, columns: Columns) -> Path:
    if aside := check_or_set_aside(path, columns):
        log.warning("The file %s was damaged; it was moved to %s.", path, aside)
    return path


def threads_folder() -> Path:
    """The folder of threads; private when it is made, as it stores rows of databases."""
    return private_folder(_folder(), "runs", "PLANWEAVE_STATE_DIR")


def _folder() -> Path:
    """The same folder, without making it."""
    return StateSettings().state_dir / "threads"
