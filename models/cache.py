"""A response cache on disk: each request is paid for only once.

LangGraph's own node cache is not used, because its key ignores the runtime context. This cache sits
at the model; its key covers everything that the model receives.
"""

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from langchain_core.caches import BaseCache
from langchain_core.messages import message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, Generation

from planweave.texts import digest

FROM_CACHE = "planweave_from_cache"
"""Key in a message's ``response_metadata`` for replies from the cache."""

R = TypeVar("R")
Generations: TypeAlias = Sequence[Generation]

_KEPT = 100_000
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT UNIQUE, reply TEXT NOT NULL)"
_log = logging.getLogger(__name__)


class ResponseCache(BaseCache):
    """Replies in one SQLite file, shared by threads and processes.

    The key is the SHA-256 of the model's full name, the serialised messages and every parameter
    (temperature, seed, response format …). The newest 100 000 replies are stored. An unusable cache
    never stops a run: a damaged file is moved aside; any other error is logged once and turns the
    cache off.
    """

    def __init__(self, path: Path, model: str, *, fresh: bool = False) -> None:
        self._path = path
        self._model = model
        self._fresh = fresh
        self._off = False

    def lookup(self, prompt: str, llm_string: str) -> Generations | None:
        """The stored reply to this exact request, marked as cached, or None."""
        if self._fresh:
            return None
        query, key = "SELECT reply FROM replies WHERE key = ?", self._key(prompt, llm_string)
        row: tuple[str] | None = self._run_on_file(
            lambda base: base.execute(query, (key,)).fetchone()
        )
        return None if row is None else _decode(row[0])

    def update(self, prompt: str, llm_string: str, return_val: Generations) -> None:
        """Store the reply to this exact request."""
        reply = _encode(return_val)
        if reply is None:
            return
        key = self._key(prompt, llm_string)

        def keep(base: sqlite3.Connection) -> None:
            done = base.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, reply))
            oldest = (done.lastrowid or 0) - _KEPT
            base.execute("DELETE FROM replies WHERE rowid <= ?", (oldest,))

        self._run_on_file(keep)

    def clear(self, **_: object) -> None:
        """Forget every reply of every model."""
        self._run_on_file(lambda base: base.execute("DELETE FROM replies"))

    def _key(self, prompt: str, llm_string: str) -> str:
        return digest(json.dumps([self._model, prompt, llm_string]), 64)

    def _run_on_file(self, work: Callable[[sqlite3.Connection], R]) -> R | None:
        """Do ``work`` on the open file; if that fails, log it and return None."""
        if self._off:
            return None
        try:
            # A connection for each call costs 0.3 ms and makes threads, processes and forks safe.
            with closing(self._open()) as base, base:
                return work(base)
        except (sqlite3.Error, OSError) as error:
            self._handle_failure(error)
            return None

    def _open(self) -> sqlite3.Connection:
        new = not self._path.exists()
        if new:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        database = sqlite3.connect(self._path, timeout=10)
        try:
            with suppress(sqlite3.OperationalError):  # others may be switching to WAL now
                database.execute("PRAGMA journal_mode=WAL")
            database.execute(_TABLE)
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _handle_failure(self, error: Exception) -> None:
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError | sqlite3.IntegrityError | sqlite3.ProgrammingError
        )
        if damaged:
            aside = self._path.with_suffix(".damaged")
            _log.warning("The response cache was damaged; it was moved to %s.", aside)
            try:
                self._path.replace(aside)
            except OSError:
                self._off = True
            for rest in ("-wal", "-shm"):
                Path(f"{self._path}{rest}").unlink(missing_ok=True)
        else:
            self._off = True
            _log.warning("The response cache %s is not used: %s.", self._path, error)


def _encode(generations: Generations) -> str | None:
    """JSON of the messages; None for anything that is not a chat reply."""
    if not all(isinstance(generation, ChatGeneration) for generation in generations):
        return None
    messages = [g.message for g in generations if isinstance(g, ChatGeneration)]
    return json.dumps([message_to_dict(message) for message in messages])


def _decode(reply: str) -> Generations | None:
    try:
        messages = messages_from_dict(json.loads(reply))
    except (ValueError, KeyError, TypeError):
        return None
    for message in messages:
        message.response_metadata[FROM_CACHE] = True
    return [ChatGeneration(message=message) for message in messages]
