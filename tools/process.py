"""A helper process of our own: JSON lines over pipes, a time limit for each answer, a sure end.

What may crash, run without end or leak memory works in such a process: it can be ended whatever
it does, with all that it has started, and begun afresh.
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

_ENDING = 0.35  # seconds it may take to free the memory of an ended process
# The packages around the module, without what they import: that would double the start.
_START = """
import sys, types
for name, folder in {packages!r}.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from {module} import main
main()
"""


class ProcessEnded(Exception):
    """The process is gone; ``late`` tells whether its time was over, or its processor time."""

    def __init__(self, *, late: bool) -> None:
        super().__init__()
        self.late = late

    def why(self, seconds: float, memory: int) -> str:
        """What a process did that was allowed so much: the end of a sentence about its file."""
        if self.late:
            return f"takes more than {seconds:,.0f} s of processor time to read"
        return f"made its reader fail, or takes more than {memory / 1e6:,.0f} MB of memory"


class HelperProcess:
    """A process that answers one request at a time.

    Args:
        module: Its ``main()`` is run; it speaks through a :class:`Channel`.
        environment: Variables that are set for it.
        bare: Leave out what the packages around the module import. The module then imports what
            it needs from where it is defined.
    """

    def __init__(
        self,
        module: str,
        environment: Mapping[str, str] = MappingProxyType({}),
        *,
        bare: bool = False,
    ) -> None:
        search = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        # -P: the working folder is searched for no module, whatever a stranger has put there.
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter, a module of ours)
            (sys.executable, "-P", "-c", _start(module, bare=bare)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search, **environment},
            encoding="utf-8",
            start_new_session=True,  # so that it is ended together with its children
        )
        # Both are pipes, as asked for above.
        self._requests = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)
        self.stop = weakref.finalize(self, _end, self._process)
        self._is_asked = False

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked: it runs, and owes no answer."""
        return self.stop.alive and not self._is_asked and self._process.poll() is None

    def ask(self, request: Mapping[str, object], seconds: float) -> dict[str, object]:
        """Send a request and wait for its answer, at most ``seconds``."""
        late = Event()
        timer = Timer(max(seconds / 2, seconds - _ENDING), _kill_late, [self._process, late])
        timer.daemon = True
        timer.start()
        self._is_asked = True
        try:
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
            line = self._answers.readline()
        except (BrokenPipeError, ValueError):  # ended, or closed by another thread
            line = ""
        finally:
            timer.cancel()
            timer.join()  # it may be about to end the process that has just answered
        if late.is_set() or not line.endswith("\n"):
            self.stop()
            used_up = self._process.returncode == -getattr(signal, "SIGXCPU", 0) != 0
            raise ProcessEnded(late=late.is_set() or used_up)
        self._is_asked = False
        answer: dict[str, object] = json.loads(line)
        return answer


class Channel:
    """The helper's side: it takes requests and sends answers until its parent is gone."""

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent to handle
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # nothing that a library prints may reach the protocol
        self._requests: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self) -> dict[str, Any]:
        """The next request."""
        request: dict[str, Any] = json.loads(self._requests.get())
        return request

    def send(self, answer: Mapping[str, object]) -> None:
        """Answer it."""
        print(json.dumps(answer), file=self._answers, flush=True)

    def _read(self) -> None:
        """Pass requests on; when the parent is gone, end even in the middle of one."""
        for line in sys.stdin:
            self._requests.put(line)
        os._exit(0)


def limit_memory(size: int) -> None:
    """Let this process take ``size`` bytes of address space at most, and write no core file.

    What its libraries have set aside already does not count: that may be a gigabyte, and grows
    with the number of processors.
    """
    try:
        import resource
    except ImportError:  # not offered by Windows: there only time is limited
        return
    size += _address_space()
    with suppress(ValueError, OSError):  # a stricter limit holds already
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _address_space() -> int:
    """Bytes of address space of this process; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_no_more_files() -> None:
    """Let this process open no further file, whatever a library in it is asked for."""
    try:
        import resource
    except ImportError:  # not offered by Windows
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def bound(memory: int, seconds: float, *, file_bytes: int | None = None) -> None:
    """Limit the memory of this process, the processor time that it may still take, and its files.

    On a busy machine little of the time that passes is this process's own, so the limit is of
    processor time. It holds even if the parent has died meanwhile.
    """
    try:
        import resource
    except ImportError:  # not offered by Windows: there only the parent's clock holds
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
        with suppress(ValueError, OSError):  # a stricter limit holds already
            resource.setrlimit(which, (most, allowed))


def _start(module: str, *, bare: bool) -> str:
    """The program that a helper process runs."""
    parts = module.split(".")[:-1] if bare else []
    # "planweave" itself is light, and what is imported needs its errors.
    names = [".".join(parts[: number + 1]) for number in range(1, len(parts))]
    packages = {name: next(iter(import_module(name).__path__)) for name in names}
    return _START.format(packages=packages, module=module)


def _kill(process: "subprocess.Popen[str]") -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows knows no process groups; what it started ends with its pipes
        process.kill()


def _kill_late(process: "subprocess.Popen[str]", late: Event) -> None:
    late.set()
    _kill(process)


def _end(process: "subprocess.Popen[str]") -> None:
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):  # a request that nobody reads any more
            if pipe:
                pipe.close()
