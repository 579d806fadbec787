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
from typing import NamedTuple

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
CALLS = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"


class World(NamedTuple):
    """What there is to attack, by the names that programs use in braces."""

    secret: str
    folder: str
    parent: str
    tcp: str
    udp: str
    unix: str
    shm: str


READING = {
    "secret file": "print('ESCAPED', open({secret!r}).read())",
    "list the user's folder": "import os; print('ESCAPED', os.listdir({folder!r}))",
    "ssh keys and passwords": """
import glob, os, pathlib
for path in ["/etc/shadow", "/etc/passwd", "/root/.bashrc", *glob.glob("/home/*/.ssh/*")]:
    try: print("ESCAPED", len(open(path).read()))
    except OSError: pass
""",
    "symbolic link to a secret": """
import os; os.symlink({secret!r}, "link"); print("ESCAPED", open("link").read())
""",
    "hard link to a secret": """
import os; os.link({secret!r}, "link"); print("ESCAPED", open("link").read())
""",
}
WRITING = {
    "write outside": "open({folder!r} + '/new', 'w').write('x'); print('ESCAPED')",
    "write by a path upwards": """
import os; open("../" * 20 + {folder!r} + "/new", "w").write("x"); print("ESCAPED")
""",
    "write by a link": """
import os; os.symlink({folder!r}, "d"); open("d/new", "w").write("x"); print("ESCAPED")
""",
    "delete the user's files": """
import os, shutil
shutil.rmtree({folder!r}, ignore_errors=True)
if os.path.isdir(os.path.dirname({folder!r})) and not os.path.exists({folder!r}): print("ESCAPED")
""",
    "truncate": "import os; os.truncate({secret!r}, 0); print('ESCAPED')",
    "rename": "import os; os.rename({secret!r}, {secret!r} + '2'); print('ESCAPED')",
    "change the mode": "import os; os.chmod({secret!r}, 0o777); print('ESCAPED')",
    "change the times": "import os; os.utime({secret!r}, (1, 1)); print('ESCAPED')",
    "shared memory": "open({shm!r}, 'w').write('x'); print('ESCAPED')",
}
REACHING = {
    "TCP": "import socket; socket.create_connection(('127.0.0.1', {tcp})); print('ESCAPED')",
    "UDP": """
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {udp}))
print("ESCAPED")
""",
    "Unix socket": """
import socket; socket.socket(socket.AF_UNIX).connect({unix!r}); print("ESCAPED")
""",
    "abstract Unix socket": """
import socket; socket.socket(socket.AF_UNIX).connect("\\0" + {unix!r}); print("ESCAPED")
""",
    "listening": "import socket; socket.create_server(('127.0.0.1', 0)); print('ESCAPED')",
    "name look-up of this machine": """
import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); print("ESCAPED")
""",
    "asynchronous input": f"""{CALLS}
import platform
context = ctypes.c_ulong(0)
number = 206 if platform.machine() == "x86_64" else 0
if libc.syscall(number, 4, ctypes.byref(context)) == 0: print("ESCAPED")
""",
    "watching": f"{CALLS}if libc.inotify_init1(0) >= 0: print('ESCAPED')",
    "fork": "import os\nif os.fork() == 0: os._exit(0)\nprint('ESCAPED')",
    "subprocess": "import subprocess; subprocess.run(['true']); print('ESCAPED')",
    "shell by exec": "import os; os.execv('/bin/sh', ['sh', '-c', 'echo ESCAPED'])",
    "shell by system": "import os; print('ESCAPED' if os.system('true') == 0 else '')",
    "multiprocessing": """
import multiprocessing as m
m.get_context("fork").Process(target=print).start(); print("ESCAPED")
""",
    "own session": """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: open({folder!r} + "/new", "w").write("x")
    os._exit(0)
os.wait(); print("ESCAPED")
""",
    "parent's limits": """
import resource; print("ESCAPED", resource.prlimit({parent}, resource.RLIMIT_NOFILE))
""",
    "signal 0 to the parent": "import os; os.kill({parent}, 0); print('ESCAPED')",
    "signals by descriptor": f"""{CALLS}
import fcntl
a, b = os.pipe()
fcntl.fcntl(a, 8, {{parent}})  # F_SETOWN
print("ESCAPED")
""",
    "kept memory": f"""{CALLS}
if (key := libc.shmget(0, 4096, 0o1666)) >= 0:
    libc.shmctl(key, 0, 0); print("ESCAPED")
""",
    "unnamed files in memory": "import os; os.memfd_create('x'); print('ESCAPED')",
    "outliving the parent": f"{CALLS}\nif libc.prctl(1, 0, 0, 0, 0) == 0: print('ESCAPED')",
    "process descriptors": f"{CALLS}\nif libc.syscall(434, {{parent}}, 0) >= 0: print('ESCAPED')",
}
# Not tried without protection: they would hurt, or need what not every user and machine has.
DANGEROUS = {
    "extended attributes": "import os; os.setxattr({secret!r}, 'user.x', b'x'); print('ESCAPED')",
    "new namespaces": f"{CALLS}\nif libc.unshare(0x10000000) == 0: print('ESCAPED')",
    "environment of the parent": """
print("ESCAPED", open("/proc/{parent}/environ").read())
""",
    "environment by /proc": """
import glob
for path in glob.glob("/proc/[0-9]*/environ"):
    try: text = open(path).read()
    except OSError: continue
    if {secret!r}.rpartition("/")[2] in text or "HOME=/" in text: print("ESCAPED")
""",
    "memory of process 1": "print('ESCAPED', open('/proc/1/maps').read()[:1])",
    "open file by inherited descriptors": """
import os
for fd in range(3, 256):
    try: os.fstat(fd)
    except OSError: continue
    print("ESCAPED", fd)
""",
    "parent's priority": """
import os
os.setpriority(os.PRIO_PROCESS, {parent}, os.getpriority(os.PRIO_PROCESS, {parent}))
print("ESCAPED")
""",
    "parent's processor": """
import os; os.sched_setaffinity({parent}, os.sched_getaffinity({parent})); print("ESCAPED")
""",
    "attach to the parent": f"""{CALLS}
if libc.ptrace(0x4206, {{parent}}, 0, 0) == 0:  # PTRACE_SEIZE
    libc.ptrace(17, {{parent}}, 0, 0); print("ESCAPED")
""",
    "io_uring": f"""{CALLS}
if libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0: print("ESCAPED")
""",
    "kill the parent": "import os; os.kill({parent}, 9); print('ESCAPED')",
    "kill the watcher": "import os; os.getppid() and [os.kill(os.getppid(), 9), print('ESCAPED')]",
    "kill the group": "import os; os.killpg(0, 9); print('ESCAPED')",
    "kill everyone": "import os; os.kill(-1, 9); print('ESCAPED')",
    "kill by raw call": f"""{CALLS}
import platform
number = 62 if platform.machine() == "x86_64" else 129
if libc.syscall(number, {{parent}}, 9) == 0: print("ESCAPED")
""",
    "mount": f"{CALLS}\nif libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0) == 0: print('ESCAPED')",
    "unmount": f"{CALLS}\nif libc.umount2(b'/', 2) == 0: print('ESCAPED')",
    "chroot": """
import os
os.mkdir("d"); os.chroot("d")
for _ in range(50): os.chdir("..")
os.chroot("."); print("ESCAPED")
""",
    "pivot root": f"{CALLS}\nif libc.pivot_root(b'.', b'.') == 0: print('ESCAPED')",
    "set-uid program": "import os; os.execv('/bin/su', ['su', '-c', 'echo ESCAPED'])",
    "become root": """
import os
for call in (os.setuid, os.seteuid):
    try: call(0 if os.getuid() else 1); print("ESCAPED")
    except OSError: pass
""",
    "device file": "import os; os.mknod('d', 0o20666, os.makedev(1, 1)); print('ESCAPED')",
    "disk device": "open('/dev/vda', 'rb').read(1); print('ESCAPED')",
    "kernel settings": "open('/proc/sys/kernel/core_pattern', 'w').write('x'); print('ESCAPED')",
    "process 1": "open('/proc/1/oom_score_adj', 'w').write('0'); print('ESCAPED')",
    "control groups": "import os; os.mkdir('/sys/fs/cgroup/x'); print('ESCAPED')",
    "host name": "import socket; socket.sethostname('x'); print('ESCAPED')",
    "clock": "import time; time.clock_settime(time.CLOCK_REALTIME, 0); print('ESCAPED')",
    "32-bit calls": f"{CALLS}\nif libc.syscall(0x40000000 + 57) >= 0: print('ESCAPED')",
    "change Python for others": """
import os
open(os.__file__, "a").write("#"); print("ESCAPED")
""",
}
EXHAUSTING = {
    "fork bomb": ("error", "import os\nwhile True: os.fork()"),
    "infinite loop": ("cpu", "while True: pass"),
    "loop in C": ("cpu", "import itertools; sum(itertools.repeat(1))"),
    "cpu limit signal ignored": (
        "cpu",
        """
import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True: pass
""",
    ),
    "sleep for ever": ("time", "import time; time.sleep(10**6)"),
    "ignoring SIGTERM": (
        "time",
        """
import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM): signal.signal(number, signal.SIG_IGN)
while True: time.sleep(1)
""",
    ),
    "waiting for input": ("ok", "import sys; sys.stdin.read()"),
    "10 GB": ("memory", "x = bytearray(10 << 30)"),
    "memory bit by bit": ("memory", "x = []\nwhile True: x.append(bytearray(1 << 20))"),
    "shared memory mapping": ("memory", "import mmap; x = mmap.mmap(-1, 1 << 31)"),
    "nested power": ("cpu", "9**9**9"),
    "endless output": ("output", "while True: print('x' * 1000)"),
    "endless errors": ("output", "import sys\nwhile True: sys.stderr.write('x' * 1000)"),
    "output by the descriptor": ("output", "import os\nwhile True: os.write(1, b'x' * 1000)"),
    "one large file": ("files", "f = open('f', 'wb')\nwhile True: f.write(bytes(1 << 20))"),
    "fill the disk": (
        "files",
        """
import itertools
for i in itertools.count(): open(str(i), "wb").write(bytes(1 << 20))
""",
    ),
    "a million files": ("files", "for i in range(10**6): open(str(i), 'x').close()"),
    "a million folders": (
        "files",
        """
import os
while True: os.mkdir("d" * 200); os.chdir("d" * 200)
""",
    ),
    "locked folders": (
        None,
        """
import os
os.makedirs("a/b"); open("a/b/c", "w").close(); os.mkdir("z", 0)
import time; time.sleep(0.2)
""",
    ),
    "open files": ("files", "x = [open('f', 'w') for _ in range(10**5)]"),
    "threads": (
        None,
        """
import threading, time
while True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
""",
    ),
    "deep recursion": (
        None,
        """
import sys; sys.setrecursionlimit(10**8)
def f(): f()
f()
""",
    ),
    "closing the streams": ("ok", "import os; os.closerange(0, 256); os._exit(0)"),
    "closed streams, sleeping": ("time", "import os, time\nos.closerange(0, 99); time.sleep(99)"),
    "catching everything": (
        "cpu",
        """
while True:
    try:
        while True: pass
    except BaseException: pass
""",
    ),
}


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
        yield World(
            secret=str(secret),
            folder=str(folder),
            parent=str(os.getpid()),
            tcp=str(tcp.getsockname()[1]),
            udp=str(udp.getsockname()[1]),
            unix=unix,
            shm=f"/dev/shm/{folder.parent.name}",
        )
    Path(unix).unlink()


def filled(program: str, world: World) -> str:
    return program.format(**world._asdict())


def state(world: World) -> tuple[object, ...]:
    """All of this machine that an attack aims at."""
    about = Path(world.secret).stat()
    return (
        sorted(os.listdir(world.folder)),
        Path(world.secret).read_text(),
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


def children() -> set[str]:
    """This process's children, zombies included, and whatever else runs in a sandbox of ours."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = re.search(r"^PPid:\s+(\d+)", (path / "status").read_text(), re.MULTILINE)
        except OSError:
            continue
        if parent and int(parent[1]) == os.getpid():
            found.add(path.name)
    return found


def attack(
    program: str, world: World, layers: tuple[str, ...], limits: SandboxLimits = LIMITS
) -> sandbox.SandboxResult:
    if missing := set(layers) - set(sandbox.protection()):
        pytest.skip(f"this machine does not offer {', '.join(sorted(missing))}")
    before, family, open_before = state(world), children(), descriptors()
    result = outside._run(filled(program, world), "", {}, limits, layers)
    assert state(world) == before
    assert children() <= family
    until = time.monotonic() + 5  # other threads of the whole suite open files for a moment
    while (left_open := descriptors() - open_before) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left_open
    assert SECRET not in result.stdout + result.stderr
    return result


def test_the_page_says_how_many_they_are() -> None:
    harmless = len(READING) + len(WRITING) + len(REACHING)
    page = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8")
    assert f"{harmless + len(DANGEROUS)} programs that try to escape" in page
    assert f"without the sandbox, {harmless} of them succeed" in page
    assert f"{len(EXHAUSTING)} that exhaust a resource" in page


@pytest.mark.parametrize("layers", PAIRS, ids="+".join)
@pytest.mark.parametrize("name", [*READING, *WRITING, *REACHING, *DANGEROUS])
def test_it_does_not_escape(name: str, world: World, layers: tuple[str, ...]) -> None:
    result = attack({**READING, **WRITING, **REACHING, **DANGEROUS}[name], world, layers)
    assert "ESCAPED" not in result.stdout
    assert "SyntaxError" not in result.stderr
    assert "NameError" not in result.stderr


@pytest.mark.parametrize("layers", [ALL, PAIRS[1]], ids="+".join)
@pytest.mark.parametrize("name", EXHAUSTING)
def test_it_ends_in_time(name: str, world: World, layers: tuple[str, ...]) -> None:
    reason, program = EXHAUSTING[name]
    limits = replace(LIMITS, seconds=1) if reason in ("time", None) else LIMITS
    if reason == "memory":  # a loaded machine can need a second of its processor for 256 MB
        limits = replace(LIMITS, cpu=20)
    result = attack(program, world, layers, limits)
    assert reason in (None, result.reason), result
    assert len(result.stdout) <= LIMITS.output
    assert result.memory < LIMITS.memory + (20 << 20)


@pytest.mark.parametrize("name", [*READING, *WRITING, *REACHING])
def test_the_attack_works_without_protection(name: str, world: World) -> None:
    result = outside._run(
        filled({**READING, **WRITING, **REACHING}[name], world), "", {}, LIMITS, ()
    )
    Path(world.shm).unlink(missing_ok=True)
    assert "ESCAPED" in result.stdout, result.stderr


@pytest.mark.skipif(
    "namespaces" not in sandbox.protection(), reason="names are not apart on this machine"
)
def test_the_machine_has_no_name(world: World) -> None:
    result = attack("import os; print(os.uname().nodename, end='')", world, PAIRS[0])
    assert result.stdout == "sandbox"
    assert socket.gethostname() != "sandbox"


def test_a_forged_result_stays_output() -> None:
    forged = '{"status": 0, "reason": "", "seconds": 0, "cpu": 0, "memory": 0}'
    program = f"""
import os
for fd in range(256):
    try: os.write(fd, {forged.encode()!r})
    except OSError: pass
os._exit(7)
"""
    result = sandbox.run(program)
    assert (result.status, result.reason) == (7, "error")


def test_a_program_dies_with_its_caller(tmp_path: Path) -> None:
    """The caller is killed; nothing that could clean up is left but the kernel."""
    caller = (
        "from planweave.tools import sandbox; sandbox.protection(); print('ready', flush=True); "
    )
    caller += (
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
    try:
        below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [found for one in map(int, below) for found in (one, *descendants(one))]


def alive(process: int) -> bool:
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return not re.search(r"^State:\s+[ZX]", text, re.MULTILINE)
