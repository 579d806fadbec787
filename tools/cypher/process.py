"""The parent's side of the worker process: start it, ask it, end it in time."""

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Timer
from typing import IO, cast

from tools.database import DatabaseUnavailable

# -P: the working folder is searched for no module, whatever a stranger has put there.
_COMMAND = (sys.executable, "-P", "-c", "from tools.cypher.worker import main; main()")
_LOADING = 120.0  # seconds
_ENDING = 0.35  # seconds it may take to free the memory of an ended process


class WorkerEnded(Exception):
    """The process is gone; ``late`` tells whether it was ended because its time was over."""

    def __init__(self, *, late: bool) -> None:
        super().__init__()
        self.late = late


class Worker:
    """A process that holds one graph and answers one request at a time."""

    def __init__(self, path: Path) -> None:
        search = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter, a fixed command)
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search, "RUST_BACKTRACE": "0"},
            encoding="utf-8",
        )
        # Both are pipes, as asked for above.
        self._requests = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)
        self.stop = weakref.finalize(self, _end, self._process)
        try:
            self.found = self.ask({"path": str(path)}, _LOADING)
        except WorkerEnded as error:
            reason = "takes too long" if error.late else "needs too much memory"
            raise DatabaseUnavailable(
                f"Loading {path.name} {reason}.", mend="Load it into a Neo4j server instead."
            ) from error
        if "error" in self.found:
            self.stop()
            raise DatabaseUnavailable(
                str(self.found["message"]), mend=str(self.found.get("mend", ""))
            )

    def ask(self, request: Mapping[str, object], seconds: float) -> dict[str, object]:
        """Send a request and wait for its answer, at most ``seconds``.

        Raises:
            WorkerEnded: The time is over, or the process ran out of memory.
        """
        late = Event()
        timer = Timer(max(seconds / 2, seconds - _ENDING), _kill, [self._process, late])
        timer.daemon = True
        timer.start()
        try:
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
            line = self._answers.readline()
        except (BrokenPipeError, ValueError):  # ended, or closed by another thread
            line = ""
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            self.stop()
            raise WorkerEnded(late=late.is_set())
        answer: dict[str, object] = json.loads(line)
        return answer


def _kill(process: "subprocess.Popen[str]", late: Event) -> None:
    late.set()
    process.kill()


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe:
                pipe.close()
        except BrokenPipeError:  # a request that nobody reads any more
            pass
