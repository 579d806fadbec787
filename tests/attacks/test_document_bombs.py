"""Documents that cost a naive reader minutes or gigabytes: each ends in time, and others go on."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from document_bombs import BOMBS
from documents import WordTokens

from planweave.tools.documents.pages import Limits, Unreadable
from planweave.tools.documents.process import Cutting, Parser

FULL = os.environ.get("PLANWEAVE_ATTACK") == "full"
SECONDS, PAUSE = (10.0, 1.0) if FULL else (60.0, 10.0)  # the tests may share the machine


class Pulse(threading.Thread):
    """Notes the longest time for which this process could do nothing else."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self._ended = threading.Event()

    def run(self) -> None:
        last = time.monotonic()
        while not self._ended.wait(0.005):
            now = time.monotonic()
            self.longest, last = max(self.longest, now - last), now

    def end(self) -> None:
        self._ended.set()
        self.join()


@pytest.mark.parametrize("name", BOMBS if FULL else [*BOMBS][::9])
def test_it_ends_in_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    limits = Limits()
    pulse = Pulse()
    pulse.start()
    start = time.monotonic()
    with Parser() as parser, suppress(Unreadable):
        parsed = parser.read(path, limits, Cutting(WordTokens().path, 100, 0))
        assert len(parsed.document.pages) <= limits.pages
    taken = time.monotonic() - start
    pulse.end()
    assert taken < SECONDS
    assert pulse.longest < PAUSE


def test_there_are_enough() -> None:
    assert len(BOMBS) >= 44
