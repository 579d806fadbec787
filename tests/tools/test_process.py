"""The helper process: an answer that comes just when its time is over."""

import subprocess
import sys
from threading import Timer

import pytest

from planweave.tools import process
from planweave.tools.process import Channel, HelperProcess, ProcessEnded


def main() -> None:
    """The helper's side: it answers at once."""
    channel = Channel()
    while True:
        channel.send(channel.receive())


def test_an_answer_at_the_time_limit_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next request would be sent to a process that has been ended, and be blamed."""

    class Last(Timer):
        """Its time is over after the answer, and before it is told so."""

        def cancel(self) -> None:
            self.function(*self.args)
            super().cancel()

    helper = HelperProcess(__name__)
    assert helper.ask({"ask": 1}, 60) == {"ask": 1}
    monkeypatch.setattr(process, "Timer", Last)
    with pytest.raises(ProcessEnded) as ended:
        helper.ask({"ask": 2}, 60)
    assert ended.value.late


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")
def test_reserved_address_space_does_not_count() -> None:
    program = (
        "import mmap\n"
        "from planweave.tools.process import limit_memory\n"
        "aside = mmap.mmap(-1, 1 << 30)\n"
        "limit_memory(256 << 20)\n"
        "bytearray(100 << 20)\n"
        "try: bytearray(400 << 20)\n"
        "except MemoryError: print('bounded')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert ran.stdout == "bounded\n", ran.stderr
