"""The command line as a person uses it: the installed program, or its code in this process."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from planweave.apps.cli.main import main
from planweave.apps.server.settings import server_settings
from planweave.apps.service import service
from planweave.models.settings import process_settings

PROGRAM = str(Path(sys.executable).with_name("planweave"))

Run = subprocess.CompletedProcess[str]
CommandLine = Callable[..., Run]


def user_environment(folder: Path) -> dict[str, str]:
    """The variables of a user who keeps everything in ``folder``."""
    ours = ("_API_KEY", "_STRICT_MSGPACK")  # a user's environment has neither
    kept = {name: value for name, value in os.environ.items() if not name.endswith(ours)}
    return kept | {
        "PLANWEAVE_STATE_DIR": str(folder / "state"),
        "PLANWEAVE_CACHE_DIR": str(folder / "cache"),
        "PLANWEAVE_DATA_DIR": str(folder / "data"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PLANWEAVE_RESPONSE_CACHE": "off",
        "PLANWEAVE_RETRIES": "0",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def in_process(folder: Path, environment: Mapping[str, str]) -> CommandLine:
    """Commands in ``folder``, without the three seconds in which a program loads its libraries."""

    def run(*arguments: str, stdin: str = "", **variables: str) -> Run:
        output, errors, code = StringIO(), StringIO(), 0
        with ExitStack() as stack:
            stack.enter_context(patch.dict(os.environ, {**environment, **variables}, clear=True))
            stack.enter_context(patch.object(sys, "argv", [PROGRAM, *arguments]))
            stack.enter_context(patch.object(sys, "stdin", StringIO(stdin)))
            stack.enter_context(chdir(folder))
            stack.enter_context(redirect_stdout(output))
            stack.enter_context(redirect_stderr(errors))
            for settings in (process_settings, server_settings, service):
                settings.cache_clear()
                stack.callback(settings.cache_clear)
            try:
                main()
            except SystemExit as ended:
                code = int(ended.code or 0)
        return Run(arguments, code, output.getvalue(), errors.getvalue())

    return run


def assert_one_clear_error(run: Run, *words: str, code: int = 1) -> None:
    """The run failed with one sentence for the user, and no traceback."""
    assert run.returncode == code, run.stderr
    assert run.stderr.count("Error:") == 1
    assert "Traceback" not in run.stderr + run.stdout
    for word in words:
        assert word in run.stderr
