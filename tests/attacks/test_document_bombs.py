"""Documents that cost a naive reader minutes or gigabytes: each ends in time, and others go on.

What counts is processor time: others may be busy on the same machine.
"""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from document_bombs import BOMBS
from documents import WordTokens

from planweave.tools.documents.pages import DocumentLimits, Unreadable
from planweave.tools.documents.process import Cutting, Parser

pytestmark = pytest.mark.slow

FULL = os.environ.get("PLANWEAVE_ATTACK") == "full"
SECONDS = 10.0  # of a small file; a large one may take what an honest one of its size takes
PAUSE = 1.0


class Pulse(threading.Thread):
    """Notes for how long at most this process computed and let none of its threads go on."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self._ended = threading.Event()

    def run(self) -> None:
        last = time.process_time()
        while not self._ended.wait(0.005):
            now = time.process_time()
            self.longest, last = max(self.longest, now - last), now

    def end(self) -> None:
        self._ended.set()
        self.join()


def processor_seconds() -> float:
    """What this process has used, and those that it has started and ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@pytest.mark.parametrize("name", BOMBS if FULL else [*BOMBS][::18])
def test_it_ends_in_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    limits = DocumentLimits()
    pulse = Pulse()
    pulse.start()
    start = processor_seconds()
    with Parser() as parser, suppress(Unreadable):
        parsed = parser.read(path, limits, Cutting(WordTokens().path, 100, 0))
        assert len(parsed.document.pages) <= limits.pages
    taken = processor_seconds() - start
    pulse.end()
    print(f"{taken:.1f} s, pause {pulse.longest:.2f} s: {name}")  # noqa: T201 (which is closest)
    assert taken < max(SECONDS, limits.seconds_for(path, path.stat().st_size) + 2)
    assert pulse.longest < PAUSE
