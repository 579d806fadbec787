"""The caller's side: starts the confined process, reads its output, and ends it in time."""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from planweave import BadInput, PlanweaveError

if TYPE_CHECKING:
    from planweave.tools.sandbox.inside import SandboxReport

Reason: TypeAlias = Literal["ok", "error", "time", "cpu", "memory", "output", "files", "killed"]

_TOOLS = str(Path(__file__).resolve().parents[1])
# Creates the packages without their __init__, whose imports -S does not find.
_START = f"""
import sys, types
for name, path in (
    ("planweave", ""),
    ("planweave.tools", {_TOOLS!r}),
    ("planweave.tools.sandbox", {_TOOLS + "/sandbox"!r}),
):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path] if path else []
from planweave.tools.sandbox.inside import main
main()
"""
_COMMAND = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _START)
_LAYERS = ("namespaces", "landlock", "seccomp")
_GRACE = 30.0  # seconds to start Python and apply the layers, on a busy machine
_CHUNK = 65_536
_NO_FILES: Mapping[str, str] = MappingProxyType({})
# The last line that Python prints at a limit.
_LAST_WORDS: tuple[tuple[str, Reason], ...] = (
    ("MemoryError", "memory"),
    ("OSError: [Errno 12]", "memory"),  # cannot allocate memory
    ("OSError: [Errno 24]", "files"),  # too many open files
    ("OSError: [Errno 27]", "files"),  # file too large
    ("OSError: [Errno 28]", "files"),  # no space left
)


class SandboxUnavailable(PlanweaveError):
    """This machine cannot confine a program."""

    exit_code = 5


@dataclass(frozen=True, kw_only=True)
class SandboxLimits:
    """Limits of one program.

    Attributes:
        cpu: Whole seconds of processor time.
        memory: Bytes of address space, including the interpreter's own 30 MB.
        output: Bytes of standard output and, separately, of standard error.
        entries: Files and folders beyond the given ones.
        threads: Threads, including the main one. If the kernel counts them for the whole user
            or not at all (root whose Python others cannot read), only the main one is allowed.
    """

    seconds: float = 10.0
    cpu: int = 10
    memory: int = 512 << 20
    output: int = 1 << 20
    disk: int = 16 << 20
    entries: int = 256
    open_files: int = 64
    threads: int = 16


@dataclass(frozen=True, kw_only=True)
class SandboxResult:
    """How a program ended.

    Attributes:
        status: Exit status; negative: minus the signal that ended it.
        reason: ``ok`` (status 0), ``error`` (another status), ``killed`` (a signal that we
            did not send, such as for a crash), or the limit that it reached.
        seconds: Wall time of the program alone.
        memory: Peak memory in bytes.
    """

    stdout: str
    stderr: str
    status: int
    reason: Reason
    seconds: float
    memory: int


def run(
    program: str,
    *,
    stdin: str = "",
    files: Mapping[str, str] = _NO_FILES,
    limits: SandboxLimits | None = None,
    unprotected: bool = False,
) -> SandboxResult:
    """Run a Python program that may be hostile, with nothing but the standard library.

    It starts in an empty temporary folder, which is also its home, without environment variables,
    network, or a way to start another program.

    Args:
        program: Python source.
        stdin: Its standard input.
        files: Texts by relative path, written into its folder.
        limits: Its limits; None for the defaults.
        unprotected: Run it even if this machine cannot confine it, with the layers that it has.
            For programs that you trust as your own.

    Raises:
        SandboxUnavailable: The program cannot be confined here, and was not started.
        BadInput: A path in ``files`` leads outside.
    """
    layers = protection()
    if os.name != "posix":
        raise SandboxUnavailable("Programs cannot be run apart here.", fix="Use Linux.")
    if not unprotected and not _sufficient(layers):
        raise SandboxUnavailable(
            f"Programs cannot be confined here: {_missing(layers)}.",
            fix="Use Linux 6.2 or newer, or allow user namespaces, or pass unprotected=True for "
            "programs that you trust.",
        )
    return _run(program, stdin, files, limits or SandboxLimits(), layers)


@lru_cache(maxsize=1)
def protection() -> tuple[str, ...]:
    """The layers that work on this machine: ``namespaces``, ``landlock``, ``seccomp``.

    Each is tested once, on a program that does nothing. The limits work everywhere. Only seccomp
    and one of the others together keep a program from the network and from other files.
    """
    found = []
    for layer in _LAYERS if sys.platform == "linux" else ():
        with suppress(SandboxUnavailable):
            _run("", "", _NO_FILES, SandboxLimits(), (layer,))
            found.append(layer)
    return tuple(found)


def _sufficient(layers: Sequence[str]) -> bool:
    return "seccomp" in layers and ("namespaces" in layers or "landlock" in layers)


def _missing(layers: Sequence[str]) -> str:
    if sys.platform != "linux":
        return f"{sys.platform} offers none of the protections of Linux"
    if "seccomp" not in layers:
        return "the kernel takes no filter of system calls (seccomp) on this kind of machine"
    return "the kernel offers neither namespaces to this user nor Landlock of version 3"


def _run(
    program: str,
    stdin: str,
    files: Mapping[str, str],
    limits: SandboxLimits,
    layers: Sequence[str],
) -> SandboxResult:
    """Run under exactly these layers; if a layer fails, the program does not start."""
    bounds: dict[str, object] = asdict(limits)
    bounds.pop("output")
    request = bounds | {
        "program": program,
        "stdin": stdin,
        "files": {_inside(name): text for name, text in files.items()},
        "layers": list(layers),
    }
    # Lone surrogates, which a model's reply may contain, become question marks.
    asked = json.dumps(request, ensure_ascii=False).encode(errors="replace")
    with _folder() as folder:
        stdout, stderr, report_text = _communicate(folder, asked, limits)
    report: SandboxReport = json.loads(
        report_text or '{"refused": "its process ended before it began"}'
    )
    if "refused" in report:
        raise SandboxUnavailable(
            f"The program could not be confined: {report['refused']}.",
            fix="It was not started; see docs/sandbox.md for what the machine must allow.",
        )
    texts = [out[: limits.output].decode("utf-8", "replace") for out in (stdout, stderr)]
    full = max(len(stdout), len(stderr)) > limits.output
    return SandboxResult(
        stdout=texts[0],
        stderr=texts[1],
        status=report["status"],
        reason="output" if full else _reason(report, limits, texts[1]),
        seconds=report["seconds"],
        memory=report["memory"],
    )


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise BadInput(
            f"The file {name!r} would lie outside the program's folder.",
            fix="Give a relative path without '..'.",
        )
    return str(path)


def _reason(report: "SandboxReport", limits: SandboxLimits, stderr: str) -> Reason:
    if report["reason"] == "time":
        return "time"
    if report["reason"] == "files":
        return "files"
    status = report["status"]
    if status < 0:
        # The kernel counts in ticks, and on a shared processor it counts more than were used.
        over = status == -signal.SIGKILL and report["cpu"] > limits.cpu / 2
        return "cpu" if over else "killed"
    if status == 0:
        return "ok"
    last = stderr.rstrip().rpartition("\n")[2]
    return next((reason for words, reason in _LAST_WORDS if last.startswith(words)), "error")


def _communicate(folder: str, request: bytes, limits: SandboxLimits) -> tuple[bytes, bytes, bytes]:
    """Send the request; return what arrived on standard output, standard error and the channel."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as channel:
        try:
            process = subprocess.Popen(  # noqa: S603 (our own interpreter, a fixed command)
                [*_COMMAND, str(writer)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(writer,),
                cwd=folder,
                env={k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"},
                start_new_session=True,
            )
        finally:
            os.close(writer)
        with process:
            try:
                # All three are pipes, as requested above.
                assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018
                with suppress(BrokenPipeError), process.stdin as requests:
                    requests.write(request)
                streams = (process.stdout.fileno(), process.stderr.fileno(), channel.fileno())
                return _read_streams(process, streams, limits)
            finally:
                # Until the process is waited for, nothing else can get its number, which is also
                # its group's.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)


def _read_streams(
    process: "subprocess.Popen[bytes]", streams: tuple[int, int, int], limits: SandboxLimits
) -> tuple[bytes, bytes, bytes]:
    """Read all three to their ends; request an end if the program prints too much."""
    outputs = {stream: bytearray() for stream in streams}
    deadline = time.monotonic() + limits.seconds + _GRACE
    asked = False
    with selectors.DefaultSelector() as waiting:
        for stream in streams:
            waiting.register(stream, selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < deadline:
            for key, _ in waiting.select(deadline - time.monotonic()):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    waiting.unregister(key.fd)
                elif len(outputs[key.fd]) <= limits.output:
                    outputs[key.fd] += chunk
                elif not asked:
                    asked = True
                    os.kill(process.pid, signal.SIGTERM)
    stdout, stderr, report_text = (bytes(outputs[stream]) for stream in streams)
    return stdout, stderr, report_text


@contextmanager
def _folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="planweave-sandbox-")
    try:
        yield folder
    finally:
        try:
            os.rmdir(folder)
        except OSError:
            # A program may leave files that are nested too deep, or locked, for shutil.
            for words in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
                subprocess.run([*words, folder], check=False, capture_output=True)  # noqa: S603
