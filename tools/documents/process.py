"""The parent's side of the process in which documents are read."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, NamedTuple, Self

from planweave.tools.documents.chunks import Piece
from planweave.tools.documents.pages import (
    Document,
    DocumentLimits,
    PageText,
    Unreadable,
    check_size,
    kind_of,
)
from planweave.tools.process import HelperProcess, ProcessEnded

_PATIENCE = 6
"""Times the seconds that a document may take of a processor: how long a busy machine may need."""
_at_once = BoundedSemaphore(max(2, (os.cpu_count() or 2) // 2))
"""Documents that this process has read at once: each may take memory by the gigabyte."""


class Cutting(NamedTuple):
    """How pages are cut into chunks: by which tokenizer, and how long in its tokens."""

    tokenizer: Path
    size: int
    overlap: int


class Parsed(NamedTuple):
    """A document and its chunks."""

    document: Document
    chunks: list[Piece]


class Parser:
    """Reads documents, one at a time, in a process of its own.

    The process begins with the first document, serves those that follow, and ends with the
    ``with`` statement, or when a document takes too long or too much memory: the next one gets
    a new process.
    """

    def __init__(self) -> None:
        self._process: HelperProcess | None = None

    def __enter__(self) -> Self:
        """Begin nothing yet: a document that has not changed is not read."""
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
        if kind_of(path) is not None:  # else the reader has the better words for it
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
        with _at_once, self._failing(path, seconds, memory):
            return _joined(path.name, list(self._answers(request, _PATIENCE * seconds)))

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
    def _failing(self, path: Path, seconds: float, memory: int) -> Iterator[None]:
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


def read_apart(path: Path, limits: DocumentLimits) -> Document:
    """Read one document in a process of its own.

    Raises:
        Unreadable: See :meth:`Parser.read`.
    """
    with Parser() as parser:
        return parser.read(path, limits).document


def _joined(name: str, answers: list[dict[str, Any]]) -> Parsed:
    pages = [PageText(*page) for answer in answers for page in answer["pages"]]
    chunks = [Piece(*chunk) for answer in answers for chunk in answer["chunks"]]
    return Parsed(Document(name, pages, answers[-1]["paging"]), chunks)
