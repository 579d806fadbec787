"""The sandbox towards hostile programs: each prints ESCAPED if it gets anywhere.

Every program runs under each set of layers that suffices. Those that do no lasting harm also run
without any, and must then escape: an attack that fails by itself would prove nothing.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from planweave.tools import sandbox
from planweave.tools.sandbox import SandboxLimits, outside

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "seccomp" not in sandbox.protection(), reason="programs cannot be confined here"
    ),
]
ALL = ("namespaces", "landlock", "seccomp")
PAIRS = [("namespaces", "seccomp"), ("landlock", "seccomp")]
LIMITS = SandboxLimits(
    seconds=60, cpu=1, memory=256 << 20, output=10_000, disk=4 << 20, entries=100
)
SECRET = "the-secret-of-this-user"
PRELUDE = """
import ctypes, fcntl, glob, os, platform, resource, shutil, signal, socket, time
libc = ctypes.CDLL(None, use_errno=True)
def works(call, *given):
    try: call(*given)
    except OSError: return False
    return True
"""
"""What every program begins with; one that gets to its end prints ESCAPED."""


World = dict[str, str]
"""What there is to attack, by the names that programs use in braces."""


READING = {
    "secret file": "print(open({secret!r}).read())",
    "list the user's folder": "print(os.listdir({folder!r}))",
    "ssh keys and passwords": "keys = glob.glob('/home/*/.ssh/*'); "
    "assert any(works(open, path) for path in ['/etc/shadow', '/etc/passwd', *keys])",
    "symbolic link to a secret": "os.symlink({secret!r}, 'link'); print(open('link').read())",
    "hard link to a secret": "os.link({secret!r}, 'link'); print(open('link').read())",
}
WRITING = {
    "write outside": "open({folder!r} + '/new', 'w').write('x')",
    "write by a path upwards": "open('../' * 20 + {folder!r} + '/new', 'w').write('x')",
    "write by a link": "os.symlink({folder!r}, 'd'); open('d/new', 'w').write('x')",
    "delete the user's files": "shutil.rmtree({folder!r}, ignore_errors=True); "
    "assert os.path.isdir(os.path.dirname({folder!r})) and not os.path.exists({folder!r})",
    "truncate": "os.truncate({secret!r}, 0)",
    "rename": "os.rename({secret!r}, {secret!r} + '2')",
    "change the mode": "os.chmod({secret!r}, 0o777)",
    "change the times": "os.utime({secret!r}, (1, 1))",
    "shared memory": "open({shm!r}, 'w').write('x')",
}
REACHING = {
    "TCP": "socket.create_connection(('127.0.0.1', {tcp}))",
    "UDP": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))",
    "Unix socket": "socket.socket(socket.AF_UNIX).connect({unix!r})",
    "abstract Unix socket": "socket.socket(socket.AF_UNIX).connect('\\0' + {unix!r})",
    "listening": "socket.create_server(('127.0.0.1', 0))",
    "name look-up of this machine": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "asynchronous input": "number = 206 if platform.machine() == 'x86_64' else 0; "
    "assert libc.syscall(number, 4, ctypes.byref(ctypes.c_ulong(0))) == 0",
    "watching": "assert libc.inotify_init1(0) >= 0",
    "fork": "os.fork() or os._exit(0)",
    "subprocess": "import subprocess; subprocess.run(['true'])",
    "shell by exec": "os.execv('/bin/sh', ['sh', '-c', 'echo ESCAPED'])",
    "shell by system": "assert os.system('true') == 0",
    "parent's limits": "resource.prlimit({parent}, resource.RLIMIT_NOFILE)",
    "signal 0 to the parent": "os.kill({parent}, 0)",
    "signals by descriptor": "fcntl.fcntl(os.pipe()[0], 8, {parent})  # F_SETOWN",
    "kept memory": "key = libc.shmget(0, 4096, 0o1666); assert key >= 0; libc.shmctl(key, 0, 0)",
    "unnamed files in memory": "os.memfd_create('x')",
    "outliving the parent": "assert libc.prctl(1, 0, 0, 0, 0) == 0",
    "process descriptors": "assert libc.syscall(434, {parent}, 0) >= 0",
}
# Not tried without protection: they would hurt, or need what not every user and machine has.
DANGEROUS = {
    "extended attributes": "os.setxattr({secret!r}, 'user.x', b'x')",
    "new namespaces": "assert libc.unshare(0x10000000) == 0",
    "environment of the parent": "open('/proc/{parent}/environ').read()",
    "environment by /proc": "assert any(works(open, path) for path in "
    "glob.glob('/proc/[0-9]*/environ') if path.split('/')[2] != str(os.getpid()))",
    "memory of process 1": "open('/proc/1/maps').read()",
    "open file by inherited descriptors": "assert any(works(os.fstat, fd) for fd in range(3, 256))",
    "parent's priority": "os.setpriority(0, {parent}, os.getpriority(0, {parent}))",
    "parent's processor": "os.sched_setaffinity({parent}, os.sched_getaffinity({parent}))",
    "attach to the parent": "assert libc.ptrace(0x4206, {parent}, 0, 0) == 0; "  # PTRACE_SEIZE
    "libc.ptrace(17, {parent}, 0, 0)",
    "io_uring": "assert libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0",
    "kill the parent": "os.kill({parent}, 9)",
    "kill the watcher": "assert os.getppid(); os.kill(os.getppid(), 9)",
    "kill the group": "os.killpg(0, 9)",
    "kill everyone": "os.kill(-1, 9)",
    "kill by raw call": "number = 62 if platform.machine() == 'x86_64' else 129; "
    "assert libc.syscall(number, {parent}, 9) == 0",
    "fork by raw call": "assert libc.syscall(57) >= 0",
    "mount": "assert libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0) == 0",
    "unmount": "assert libc.umount2(b'/', 2) == 0",
    "chroot": "os.mkdir('d'); os.chroot('d'); [os.chdir('..') for _ in range(50)]; os.chroot('.')",
    "pivot root": "assert libc.pivot_root(b'.', b'.') == 0",
    "set-uid program": "os.execv('/bin/su', ['su', '-c', 'echo ESCAPED'])",
    "become root": "other = 0 if os.getuid() else 1; "
    "assert works(os.setuid, other) or works(os.seteuid, other)",
    "device file": "os.mknod('d', 0o20666, os.makedev(1, 1))",
    "disk device": "open('/dev/vda', 'rb').read(1)",
    "kernel settings": "open('/proc/sys/kernel/core_pattern', 'w').write('x')",
    "process 1": "open('/proc/1/oom_score_adj', 'w').write('0')",
    "control groups": "os.mkdir('/sys/fs/cgroup/x')",
    "host name": "socket.sethostname('x')",
    "clock": "time.clock_settime(time.CLOCK_REALTIME, 0)",
    "32-bit calls": "assert libc.syscall(0x40000000 + 57) >= 0",
    "change Python for others": "open(os.__file__, 'a').write('#')",
}
HARMLESS = READING | WRITING | REACHING
FOREVER = "\nwhile True: pass"
EXHAUSTING = {
    "ok": {
        "waiting for input": "import sys; sys.stdin.read()",
        "closing the streams": "os.closerange(0, 256); os._exit(0)",
    },
    "error": {"fork bomb": "while True: os.fork()"},
    "cpu": {
        "infinite loop": FOREVER,
        "loop in C": "import itertools; sum(itertools.repeat(1))",
        "cpu limit signal ignored": f"signal.signal(signal.SIGXCPU, signal.SIG_IGN){FOREVER}",
    },
    "time": {
        "sleep for ever": "time.sleep(10**6)",
        "ignoring SIGTERM": "for one in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM): "
        "signal.signal(one, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        "closed streams, sleeping": "os.closerange(0, 99); time.sleep(99)",
    },
    "memory": {
        "10 GB": "x = bytearray(10 << 30)",
        "memory bit by bit": "x = []\nwhile True: x.append(bytearray(1 << 20))",
        "shared memory mapping": "import mmap; x = mmap.mmap(-1, 1 << 31)",
    },
    "output": {
        "endless output": "while True: print('x' * 1000)",
        "endless errors": "import sys\nwhile True: sys.stderr.write('x' * 1000)",
        "output by the descriptor": "while True: os.write(1, b'x' * 1000)",
    },
    "files": {
        "one large file": "f = open('f', 'wb')\nwhile True: f.write(bytes(1 << 20))",
        "fill the disk": "for i in range(10**6): open(str(i), 'wb').write(bytes(1 << 20))",
        "a million files": "for i in range(10**6): open(str(i), 'x').close()",
        "a million folders": "while True: os.mkdir('d' * 200); os.chdir('d' * 200)",
        "open files": "x = [open('f', 'w') for _ in range(10**5)]",
    },
    "any": {
        "locked folders": "os.makedirs('a/b'); open('a/b/c', 'w').close(); os.mkdir('z', 0); "
        "time.sleep(0.2)",
        "threads": "import threading\n"
        "while True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
        "deep recursion": "import sys; sys.setrecursionlimit(10**8)\ndef f(): f()\nf()",
    },
}
"""Programs that end for each reason."""
OUTSIDE_OF_LAYERS = ("cpu", "memory", "output")
"""Bounds of the process and of its pipes, whatever layers there are."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A secret, servers and shared memory of this user; untouched and unreached afterwards."""
    monkeypatch.setenv("PLANWEAVE_TEST_SECRET", SECRET)
    own = tmp_path / "temporary"
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    folder = tmp_path / "precious"
    folder.mkdir()
    secret = folder / "id_rsa"
    secret.write_text(SECRET)
    unix = tempfile.mktemp(prefix="planweave-", dir="/tmp")  # a path that a socket can have
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        udp.bind(("127.0.0.1", 0))
        for server, name in ((named, unix), (abstract, "\0" + unix)):
            server.bind(name)
            server.listen()
        ports = {"tcp": str(tcp.getsockname()[1]), "udp": str(udp.getsockname()[1])}
        paths = {"secret": str(secret), "folder": str(folder), "unix": unix}
        shm = f"/dev/shm/{folder.parent.name}"
        yield {"parent": str(os.getpid()), "shm": shm} | ports | paths
    Path(unix).unlink()


def filled(program: str, world: World) -> str:
    return f"{PRELUDE}{program.format(**world)}\nprint('ESCAPED')"


def state(world: World) -> tuple[object, ...]:
    """All of this machine that an attack aims at."""
    about = Path(world["secret"]).stat()
    return (
        sorted(os.listdir(world["folder"])),
        Path(world["secret"]).read_text(),
        (about.st_mode, about.st_mtime, about.st_nlink, about.st_uid),
        os.listdir(tempfile.gettempdir()),
        Path("/proc/sys/kernel/core_pattern").read_text(),
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getaffinity(0),
    )


def descriptors() -> set[tuple[str, str]]:
    """What this process has open: number and file of each descriptor."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the listing itself is closed by now
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return found


def attack(
    program: str, world: World, layers: tuple[str, ...], limits: SandboxLimits = LIMITS
) -> sandbox.SandboxResult:
    if missing := set(layers) - set(sandbox.protection()):
        pytest.skip(f"this machine does not offer {', '.join(sorted(missing))}")
    before, family, open_before = state(world), {*descendants(os.getpid())}, descriptors()
    result = outside._run(filled(program, world), "", {}, limits, layers)
    assert state(world) == before
    for _ in range(100):  # a server of other tests may start a process for a moment
        if {*descendants(os.getpid())} <= family:
            break
        time.sleep(0.05)
    assert {*descendants(os.getpid())} <= family
    until = time.monotonic() + 5  # other threads of the whole suite open files for a moment
    while (left_open := descriptors() - open_before) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left_open
    assert SECRET not in result.stdout + result.stderr
    return result


def test_the_page_says_how_many_they_are() -> None:
    exhausting = sum(map(len, EXHAUSTING.values()))
    page = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8")
    assert f"{len(HARMLESS | DANGEROUS)} programs that try to escape" in page
    assert f"without the sandbox, {len(HARMLESS)} of them succeed" in page
    assert f"{exhausting} that exhaust a resource" in page


@pytest.mark.parametrize("layers", PAIRS, ids="+".join)
@pytest.mark.parametrize("name", HARMLESS | DANGEROUS)
def test_it_does_not_escape(name: str, world: World, layers: tuple[str, ...]) -> None:
    result = attack((HARMLESS | DANGEROUS)[name], world, layers)
    assert "ESCAPED" not in result.stdout
    assert "SyntaxError" not in result.stderr
    assert "NameError" not in result.stderr


@pytest.mark.parametrize(
    ("layers", "reason", "program"),
    [
        pytest.param(layers, reason, program, id=f"{name}-{'+'.join(layers)}")
        for reason, programs in EXHAUSTING.items()
        for name, program in programs.items()
        for layers in ([ALL] if reason in OUTSIDE_OF_LAYERS else [ALL, PAIRS[1]])
    ],
)
def test_it_ends_in_time(layers: tuple[str, ...], reason: str, program: str, world: World) -> None:
    limits = replace(LIMITS, seconds=0.4) if reason in ("time", "any") else LIMITS
    if reason == "memory":  # a loaded machine can need a second of its processor for 256 MB
        limits = replace(LIMITS, cpu=20)
    result = attack(program, world, layers, limits)
    assert reason in ("any", result.reason), result
    assert len(result.stdout) <= LIMITS.output
    assert result.memory < LIMITS.memory + (20 << 20)


@pytest.mark.parametrize("name", HARMLESS)
def test_the_attack_works_without_protection(name: str, world: World) -> None:
    result = outside._run(filled(HARMLESS[name], world), "", {}, LIMITS, ())
    Path(world["shm"]).unlink(missing_ok=True)
    assert "ESCAPED" in result.stdout, result.stderr


@pytest.mark.skipif(
    "namespaces" not in sandbox.protection(), reason="names are not apart on this machine"
)
def test_the_machine_has_no_name(world: World) -> None:
    result = attack("print(os.uname().nodename)", world, PAIRS[0])
    assert result.stdout == "sandbox\nESCAPED\n"
    assert socket.gethostname() != "sandbox"


def test_a_forged_result_stays_output() -> None:
    forged = b'{"status": 0, "reason": "", "seconds": 0, "cpu": 0, "memory": 0}'
    write = f"[works(os.write, fd, {forged!r}) for fd in range(256)]; os._exit(7)"
    result = sandbox.run(PRELUDE + write)
    assert (result.status, result.reason) == (7, "error")


def test_a_program_dies_with_its_caller(tmp_path: Path) -> None:
    """The caller is killed; nothing that could clean up is left but the kernel."""
    caller = (
        "from planweave.tools import sandbox; sandbox.protection(); print('ready', flush=True); "
        "sandbox.run('import time; time.sleep(100)', limits=sandbox.SandboxLimits(seconds=99))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", caller], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        deadline = time.monotonic() + 20
        while len(found := descendants(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(found) == 2
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(alive(one) for one in found) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(one) for one in found)


def descendants(process: int) -> list[int]:
    below = [
        int(child)
        for file in Path(f"/proc/{process}/task").glob("*/children")
        for child in read(file).split()
    ]
    return [found for one in below for found in (one, *descendants(one))]


def alive(process: int) -> bool:
    return bool(re.search(r"^State:\s+[^ZX]", read(f"/proc/{process}/status"), re.MULTILINE))


def read(path: Path | str) -> str:
    """A file of /proc; empty where the process is gone."""
    with suppress(OSError):
        return Path(path).read_text()
    return ""
