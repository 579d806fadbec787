"""The process that confines itself and then runs the program.

It reads a :class:`Request` as JSON from standard input. A child applies the layers to itself and
runs the program. This process, which the program cannot reach, watches the child. It writes a
:class:`SandboxReport` as JSON to the given file descriptor. Only the standard library is available
(``-I -S``).
"""

import gc
import json
import os
import resource
import signal
import sys
import time
import types
from contextlib import suppress
from typing import NamedTuple, TypedDict

from planweave.tools.sandbox import kernel, landlock, syscalls, view

_LOOK = 0.01  # seconds between two checks of the child
_STRANGER = 2_000_000_000  # user numbers from here on have no owner
_NOBODY = 65_534
_PAGE = 4096  # bytes
_KIB = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss


class Request(TypedDict):
    """The program, its input, and its limits in seconds, bytes and counts."""

    program: str
    stdin: str
    files: dict[str, str]
    layers: list[str]
    seconds: float
    cpu: int
    memory: int
    disk: int
    entries: int
    open_files: int
    threads: int


class SandboxReport(TypedDict, total=False):
    """How the program ended; ``refused`` says that it never started, and why."""

    refused: str
    status: int
    reason: str
    seconds: float
    cpu: float
    memory: int


class _End(NamedTuple):
    status: int
    reason: str
    usage: resource.struct_rusage


class Stopped:
    """Whether the parent asked for the end."""

    asked = False


def main() -> None:
    """Carry out the request on standard input."""
    signal.signal(signal.SIGTERM, _stop)
    if sys.platform == "linux":
        kernel.die_with_parent(signal.SIGTERM)
    request: Request = json.load(sys.stdin)
    channel = int(sys.argv[1])
    try:
        report = _carry_out(request, channel)
    except OSError as error:
        report = SandboxReport(refused=str(error))
    os.write(channel, json.dumps(report).encode())


def _stop(_number: int, _frame: types.FrameType | None) -> None:
    Stopped.asked = True


def _carry_out(request: Request, channel: int) -> SandboxReport:
    folder = os.getcwd()
    own_view = "namespaces" in request["layers"]
    if own_view:
        view.enter(folder, *_available_room(request))
    user = _find_unused_user()
    gc.collect()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.close(channel)
        _run_as_child(request, user, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        refused = pipe.read().decode()
    if refused:
        os.waitpid(child, 0)
        return SandboxReport(refused=refused)
    start = time.monotonic()
    end = _watch(child, start + request["seconds"], "" if own_view else folder, request)
    return SandboxReport(
        status=os.waitstatus_to_exitcode(end.status),
        reason=end.reason,
        seconds=time.monotonic() - start,
        cpu=end.usage.ru_utime + end.usage.ru_stime,
        memory=end.usage.ru_maxrss * _KIB,
    )


def _watch(child: int, deadline: float, folder: str, request: Request) -> _End:
    """Wait for the child; end it if it is late, on request, or if ``folder`` is too full."""
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            return _End(status, "", usage)
        reason = "time" if time.monotonic() > deadline else "killed" if Stopped.asked else ""
        if folder and not reason and _is_overfull(folder, request):
            reason = "files"
        if reason:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            return _End(status, reason, usage)
        time.sleep(_LOOK)


def _is_overfull(folder: str, request: Request) -> bool:
    """Whether a folder contains too many files or bytes, or files that hide from us."""
    entries, size, folders = 0, 0, [folder]
    most_bytes, most_entries = _available_room(request)
    try:
        while folders:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entries > most_entries:
                        return True
    except FileNotFoundError:  # removed in the meantime
        return False
    except OSError:
        return True
    return size > most_bytes


def _available_room(request: Request) -> tuple[int, int]:
    """Bytes and entries of the program's folder: its files in whole pages, and the limits."""
    texts = [request["program"], request["stdin"], *request["files"].values()]
    given = sum(len(text.encode()) // _PAGE + 1 for text in texts) * _PAGE
    folders = {parent for name in request["files"] for parent in _parents(name)}
    return request["disk"] + given, request["entries"] + len(texts) + len(folders) + 1


def _parents(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _find_unused_user() -> int:
    """A user without files for the program, if this is root and others can read Python."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return 0
    readable = os.stat(os.__file__).st_mode & 0o004
    if not (readable and _is_reachable(os.__file__) and _is_reachable(os.getcwd())):
        return 0
    for user in (_STRANGER + os.getpid(), _NOBODY):
        with suppress(OSError):
            os.chown(".", user, user)
            return user
    return 0


def _is_reachable(path: str) -> bool:
    """Whether everybody may pass through the parent folders."""
    above = os.path.dirname(path)
    open_to_all = bool(os.stat(above).st_mode & 0o001)
    return open_to_all and (above == "/" or _is_reachable(above))


def _run_as_child(request: Request, user: int, writer: int) -> None:
    """Runs in the child until it exits; reports what fails before the program starts."""
    try:
        _write_files(request)
        _confine(request, user)
    except Exception as error:  # after any error the program must not run
        os.write(writer, (str(error) or type(error).__name__).encode())
        os._exit(1)
    os.closerange(3, 4096)  # closes the report to the parent: the program starts
    _execute(request["program"])


def _write_files(request: Request) -> None:
    """Write the files, and replace standard input by a read-only file."""
    for name, text in {**request["files"], "program.py": request["program"]}.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    with open(".stdin", "w", encoding="utf-8") as file:
        file.write(request["stdin"])
    source = os.open(".stdin", os.O_RDONLY)
    os.unlink(".stdin")
    os.dup2(source, 0)


def _confine(request: Request, user: int) -> None:
    layers, folder = request["layers"], os.getcwd()
    if user:
        for path, folders, files in os.walk("."):
            for name in (*folders, *files):
                os.chown(os.path.join(path, name), user, user)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _limit(request)
    os.environ.clear()
    os.environ |= {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}
    os.umask(0o077)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform != "linux":
        return
    kernel.die_with_parent(signal.SIGKILL)  # after the change of user, which would undo it
    kernel.renounce()
    if "landlock" in layers:
        landlock.restrict([*view.runtime(), *view.DEVICES], [folder, "/dev/null"])
    if "seccomp" in layers:
        # The kernel does not count root's threads, so root may start none.
        syscalls.refuse(metadata="namespaces" in layers, threads=os.geteuid() != 0)


def _limit(request: Request) -> None:
    limits = {
        "RLIMIT_CPU": request["cpu"],
        "RLIMIT_AS": request["memory"],
        "RLIMIT_FSIZE": request["disk"],
        "RLIMIT_NOFILE": request["open_files"],
        "RLIMIT_NPROC": request["threads"] + 1,  # the parent has the same user
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_STACK": 8 << 20,
    }
    for name, most in limits.items():
        if not hasattr(resource, name):
            continue
        which = getattr(resource, name)
        _, allowed = resource.getrlimit(which)
        if allowed == resource.RLIM_INFINITY or most < allowed:
            with suppress(ValueError):  # macOS cannot limit address space
                resource.setrlimit(which, (most, most))


def _execute(program: str) -> None:
    """Run the program as if this interpreter had run nothing else."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "planweave"]:
        del sys.modules[name]
    sys.argv = ["program.py"]
    sys.path.insert(0, os.getcwd())
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - the program's for good
    module = types.ModuleType("__main__")
    module.__dict__["__file__"] = "program.py"
    sys.modules["__main__"] = module
    try:
        exec(compile(program, "program.py", "exec"), module.__dict__)  # noqa: S102 - our purpose
    except Exception as error:
        trace = error.__traceback__
        own = error.with_traceback(trace.tb_next if trace else None)
        sys.excepthook(type(own), own, own.__traceback__)
        sys.exit(1)
    sys.exit(0)
