"""The helper process, and the folders that processes leave."""

import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from planweave.tools import process
from planweave.tools.own_folder import OwnFolder
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


HOLDS = "from planweave.tools.own_folder import OwnFolder; f = OwnFolder(); print(f.path); input()"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells of no process that was killed")
def test_folders_of_killed_processes_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        left = Path(other.stdout.readline().strip())
        mine = OwnFolder()
        assert left.is_dir()
        other.kill()
    OwnFolder().remove()
    assert (left.exists(), mine.path.is_dir()) == (False, True)
    mine.remove()
    assert not mine.path.exists()
