"""The parent's side of the process that reads documents."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, NamedTuple, Self

from planweave.tools.documents.chunks import PageChunk
from planweave.tools.documents.pages import (
    Document,
    DocumentLimits,
    PageText,
    Unreadable,
    check_size,
    kind_of,
)
from planweave.tools.process import PATIENCE, HelperProcess, ProcessEnded

_parallel_limit = BoundedSemaphore(max(2, (os.cpu_count() or 2) // 2))
"""Limits how many documents are read in parallel; each may take gigabytes of memory."""


class Cutting(NamedTuple):
    """How to cut pages into chunks: the tokenizer, and lengths in its tokens."""

    tokenizer: Path
    size: int
    overlap: int


class Parsed(NamedTuple):
    """A document and its chunks."""

    document: Document
    chunks: list[PageChunk]


class Parser:
    """Reads documents, one at a time, in a separate process.

    The process starts with the first document and ends with the ``with`` statement. It also ends
    when a document takes too long or too much memory; the next document gets a new process.
    """

    def __init__(self) -> None:
        self._process: HelperProcess | None = None

    def __enter__(self) -> Self:
        """Start no process yet: an unchanged document is not read."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._stop()

    def read(self, path: Path, limits: DocumentLimits, cutting: Cutting | None = None) -> Parsed:
        """Read a document (:func:`planweave.tools.documents.pages.read`) and cut it into chunks.

        Without ``cutting`` there are no chunks.

        Raises:
            Unreadable: It cannot be read, or not within the limits.
        """
        if kind_of(path) is not None:  # the reader reports an unknown kind better
            check_size(path, limits)
        size = path.stat().st_size if path.is_file() else 0
        seconds, memory = limits.seconds_for(path, size), limits.memory_for(size)
        request = {
            "path": str(path.absolute()),
            "limits": asdict(limits),
            "seconds": seconds,
            "memory": memory,
            "cutting": cutting and (str(cutting.tokenizer), *cutting[1:]),
        }
        with _parallel_limit, self._translate_errors(path, seconds, memory):
            return _join_answers(path.name, list(self._answers(request, PATIENCE * seconds)))

    def _answers(self, request: dict[str, object], seconds: float) -> Iterator[dict[str, Any]]:
        end = time.monotonic() + seconds
        if self._process is None:
            self._process = HelperProcess("planweave.tools.documents.worker")
        more = True
        while more:
            answer = self._process.ask(request, end - time.monotonic())
            if "problem" in answer:
                raise Unreadable(str(answer["problem"]), fix=str(answer["fix"]))
            yield answer
            more, request = bool(answer["more"]), {}

    @contextmanager
    def _translate_errors(self, path: Path, seconds: float, memory: int) -> Iterator[None]:
        try:
            yield
        except ProcessEnded as ended:
            limit = "SECONDS" if ended.late else "MEMORY_MEGABYTES"
            problem = f"{path.name} {ended.why(seconds, memory)}."
            fix = f"Split it, or raise PLANWEAVE_DOCUMENT_{limit}."
            raise Unreadable(problem, fix=fix) from None
        except Unreadable:
            raise
        except BaseException:  # interrupted in the middle of an answer
            self._stop()
            raise
        finally:
            if self._process is not None and not self._process.stop.alive:
                self._process = None

    def _stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None


def read_in_process(path: Path, limits: DocumentLimits) -> Document:
    """Read one document in a separate process.

    Raises:
        Unreadable: See :meth:`Parser.read`.
    """
    with Parser() as parser:
        return parser.read(path, limits).document


def _join_answers(name: str, answers: list[dict[str, Any]]) -> Parsed:
    pages = [PageText(*page) for answer in answers for page in answer["pages"]]
    chunks = [PageChunk(*chunk) for answer in answers for chunk in answer["chunks"]]
    return Parsed(Document(name, pages, answers[-1]["paging"]), chunks)
