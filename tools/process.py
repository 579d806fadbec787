"""Helper processes: JSON lines over pipes, and a time limit for each answer.

Code that may crash, hang or leak memory runs in such a process, which can always be killed with its
children and started again.
"""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Timer
from types import MappingProxyType
from typing import IO, Any, cast

resource: Any = import_module("resource") if sys.platform != "win32" else None
"""Limits of a process; on Windows only the parent's clock limits it."""

PATIENCE = 6
"""Factor from seconds of processor time to seconds on a busy machine."""
_ENDING = 0.35  # seconds for freeing the memory of a killed process
# Creates the module's packages without running their imports, which would double the start time.
_START = """
import sys, types
for name, folder in {packages!r}.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from {module} import main
main()
"""


class ProcessEnded(Exception):
    """The process has ended; ``late`` if it exceeded its time or its processor time.

    ``reason`` is the end of a sentence about what the process did.
    """

    def __init__(self, *, late: bool) -> None:
        super().__init__()
        self.late = late
        self.reason = "takes too long" if late else "needs too much memory"

    def why(self, seconds: float, memory: int) -> str:
        """The end of a sentence about a file that the process read, within these limits."""
        if self.late:
            return f"takes more than {seconds:,.0f} s of processor time to read"
        return f"made its reader fail, or takes more than {memory / 1e6:,.0f} MB of memory"


class HelperProcess:
    """A process that answers one request at a time.

    Args:
        module: The module whose ``main()`` runs and communicates through a :class:`Channel`.
        environment: Environment variables of the process.
        bare: Whether to skip the imports of the packages that contain the module. The module must
            then import each name from the module that defines it.
    """

    def __init__(
        self,
        module: str,
        environment: Mapping[str, str] = MappingProxyType({}),
        *,
        bare: bool = False,
    ) -> None:
        search = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        # -P: no module is imported from the working folder, which may contain untrusted files.
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter, a module of ours)
            (sys.executable, "-P", "-c", _start(module, bare=bare)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search, **environment},
            encoding="utf-8",
            start_new_session=True,  # so that it is ended together with its children
        )

        self._requests = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)
        self.stop = weakref.finalize(self, _end, self._process)
        self._is_asked = False

    @property
    def is_ready(self) -> bool:
        """Whether it can take a request: it runs, and has answered the last one."""
        return self.stop.alive and not self._is_asked and self._process.poll() is None

    def ask(self, request: Mapping[str, object], seconds: float) -> dict[str, object]:
        """Send a request and wait for its answer, at most ``seconds``.

        Raises:
            ProcessEnded: The process ended or took too long.
        """
        late = Event()
        timer = Timer(max(seconds / 2, seconds - _ENDING), _kill_late, [self._process, late])
        timer.daemon = True
        timer.start()
        self._is_asked = True
        try:
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
            line = self._answers.readline()
        except (BrokenPipeError, ValueError):  # it has ended, or another thread closed it
            line = ""
        finally:
            timer.cancel()
            timer.join()  # it may be about to kill the process that has just answered
        if late.is_set() or not line.endswith("\n"):
            self.stop()
            used_up = self._process.returncode == -getattr(signal, "SIGXCPU", 0) != 0
            raise ProcessEnded(late=late.is_set() or used_up)
        self._is_asked = False
        answer: dict[str, object] = json.loads(line)
        return answer


class Channel:
    """The helper's side: it takes requests and sends answers until its parent ends."""

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent to handle
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # keeps the prints of libraries out of the protocol
        self._requests: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self) -> dict[str, Any]:
        """Wait for the next request."""
        request: dict[str, Any] = json.loads(self._requests.get())
        return request

    def send(self, answer: Mapping[str, object]) -> None:
        """Send the answer."""
        print(json.dumps(answer), file=self._answers, flush=True)

    def _read(self) -> None:
        """Pass requests on; when the parent ends, exit even during a request."""
        for line in sys.stdin:
            self._requests.put(line)
        os._exit(0)


def limit_memory(size: int) -> None:
    """Limit this process to ``size`` further bytes of address space, and disable core files.

    Address space that libraries have reserved already does not count; it may be a gigabyte, and
    grows with the number of processors.
    """
    if resource is None:
        return
    size += _address_space()
    with suppress(ValueError, OSError):  # a stricter limit applies already
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _address_space() -> int:
    """Bytes of address space of this process; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def forbid_new_files() -> None:
    """Forbid this process and its libraries to open further files."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def limit_process(memory: int, seconds: float, *, file_bytes: int | None = None) -> None:
    """Limit this process: bytes of memory, further seconds of processor time, bytes of a file.

    Processor time is limited, since on a busy machine the process gets only a part of the elapsed
    time. The limit also applies after the parent has died.
    """
    if resource is None:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: math.ceil(usage.ru_utime + usage.ru_stime + seconds),
    }
    if file_bytes is not None:
        wanted[resource.RLIMIT_FSIZE] = file_bytes
    for which, most in wanted.items():
        _, allowed = resource.getrlimit(which)
        with suppress(ValueError, OSError):  # a stricter limit applies already
            resource.setrlimit(which, (most, allowed))


def _start(module: str, *, bare: bool) -> str:
    """The program that a helper process runs."""
    parts = module.split(".")[:-1] if bare else []
    # "planweave" itself is imported as usual: it is small, and the modules need its errors.
    names = [".".join(parts[: number + 1]) for number in range(1, len(parts))]
    packages = {name: next(iter(import_module(name).__path__)) for name in names}
    return _START.format(packages=packages, module=module)


def _kill(process: "subprocess.Popen[str]") -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows has no process groups; children end with their pipes
        process.kill()


def _kill_late(process: "subprocess.Popen[str]", late: Event) -> None:
    late.set()
    _kill(process)


def _end(process: "subprocess.Popen[str]") -> None:
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):  # an unread request
            if pipe:
                pipe.close()
