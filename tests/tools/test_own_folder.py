"""What is left of a process that was killed goes with the next one's first folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from planweave.tools.own_folder import OwnFolder

HOLDS = "from planweave.tools.own_folder import OwnFolder; f = OwnFolder(); print(f.path); input()"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells of no process that was killed")
def test_only_folders_of_killed_processes_are_removed() -> None:
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
