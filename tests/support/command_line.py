"""The installed program, run as a person runs it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("planweave"))

Run = subprocess.CompletedProcess[str]
CommandLine = Callable[..., Run]


def assert_one_clear_error(run: Run, *words: str, code: int = 1) -> None:
    """The run failed with one sentence for the user, and no traceback."""
    assert run.returncode == code, run.stderr
    assert run.stderr.count("Error:") == 1
    assert "Traceback" not in run.stderr + run.stdout
    for word in words:
        assert word in run.stderr
