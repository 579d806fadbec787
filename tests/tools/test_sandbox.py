"""The sandbox towards honest programs: what they get, how each end is named, when it refuses."""

import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cases import cases

from planweave import BadInput
from planweave.tools import sandbox
from planweave.tools.sandbox import SandboxUnavailable, outside

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not outside._sufficient(sandbox.protection()), reason="programs cannot be confined here"
)


def test_a_program_gets_its_input_its_files_and_an_empty_home() -> None:
    program = """
import os, sys, helper
print(sys.stdin.read(), helper.VALUE, open("data/a.txt").read())
print(sorted(os.environ), os.environ["HOME"] == os.getcwd(), sys.argv, __name__)
open("out", "w").write("x"); os.mkdir("d"); os.rename("out", "d/out"); os.remove("d/out")
"""
    files = {"helper.py": "VALUE = 42", "data/a.txt": "ä"}
    result = sandbox.run(program, stdin="hällo", files=files)
    assert result.stderr == ""
    said = "['HOME', 'LANG', 'TMPDIR'] True ['program.py'] __main__"
    assert result.stdout.splitlines() == ["hällo 42 ä", said]
    assert (result.status, result.reason) == (0, "ok")
    assert 4 << 20 < result.memory < 100 << 20


def test_the_standard_library_is_there() -> None:
    modules = "asyncio csv ctypes decimal hashlib itertools json math multiprocessing numbers"
    modules += " random re sqlite3 ssl statistics unittest xml.dom zoneinfo"
    result = sandbox.run(f"import {', '.join(modules.split())}\nprint('all')")
    assert result.stdout == "all\n", result.stderr


def test_no_package_of_ours_is_there() -> None:
    result = sandbox.run(
        "import sys\nprint([n for n in sys.modules if n.startswith('planweave')])\nimport planweave"
    )
    assert result.stdout == "[]\n"
    assert "ModuleNotFoundError" in result.stderr


@cases(
    ("print(1)", "ok", 0),
    ("raise SystemExit(0)", "ok", 0),
    ("import sys; sys.exit(3)", "error", 3),
    ("1/0", "error", 1),
    ("def f(:", "error", 1),
    ("import ctypes; ctypes.string_at(0)", "killed", -11),
)
def test_the_end_has_a_name(program: str, reason: str, status: int) -> None:
    result = sandbox.run(program)
    assert (result.reason, result.status) == (reason, status), result


def test_a_traceback_shows_the_program_alone() -> None:
    result = sandbox.run("def f():\n    return 1 / 0\nf()")
    shown = ['  File "program.py", line 3, in <module>', "    f()"]
    assert result.stderr.splitlines()[1:3] == shown
    assert "inside.py" not in result.stderr


def test_half_of_a_surrogate_pair_is_a_question_mark() -> None:
    """A model's reply may hold one, and UTF-8 cannot."""
    program = "print('a\ud800', input(), open('f').read())"
    assert sandbox.run(program, stdin="b\ud800", files={"f": "c\ud800"}).stdout == "a? b? c?\n"


@cases("../a", "/etc/a", "a/../../b", "", "a\0b")
def test_files_stay_inside(name: str) -> None:
    with pytest.raises(BadInput, match="outside"):
        sandbox.run("", files={name: "x"})


def test_programs_run_side_by_side() -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda i: sandbox.run(f"print({i})"), range(8)))
    assert [result.stdout for result in results] == [f"{i}\n" for i in range(8)]


def test_it_refuses_where_it_cannot_confine(monkeypatch: pytest.MonkeyPatch) -> None:
    for layers in ((), ("seccomp",), ("namespaces", "landlock")):
        monkeypatch.setattr(outside, "protection", lambda layers=layers: layers)
        with pytest.raises(SandboxUnavailable, match=r"cannot be confined here: .*\. Use Linux"):
            sandbox.run("print(1)")
        assert sandbox.run("print(1)", unprotected=True).stdout == "1\n"


@cases(
    *((call, "OSError(1, 'no')") for call in ("unshare", "mount", "pivot_root", "renounce")),
    *(("syscall", error) for error in ("OSError(1, 'no')", "RuntimeError('no')")),
)
def test_a_layer_that_fails_ends_it(call: str, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = f"""
def fails(*_):
    raise {error}
from planweave.tools.sandbox import kernel
kernel.{call} = fails
"""
    begins = "from planweave.tools.sandbox.inside"
    start = outside._START.replace(begins, f"{fails}{begins}")
    layers = sandbox.protection()
    if "namespaces" not in layers and call in ("unshare", "mount", "pivot_root"):
        pytest.skip("there are no namespaces here")
    monkeypatch.setattr(outside, "_COMMAND", (*outside._COMMAND[:-1], start))
    with pytest.raises(SandboxUnavailable, match=r"could not be confined: .*no\.|ended before"):
        sandbox.run("print(1)")


ORDINARY = """
import os, sys, types
if sys.version_info < (3, 11): sys.exit("too old")
sys.path.insert(0, os.getcwd())
# The imports of planweave.tools itself are not installed there.
sys.modules["planweave.tools"] = types.ModuleType("planweave.tools")
sys.modules["planweave.tools"].__path__ = [os.getcwd() + "/tools"]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
from planweave.tools.sandbox import outside, protection
for layers in (protection(), ("landlock", "seccomp")):
    for program in (
        "import os; print(os.getuid(), os.listdir('.'))",
        "import os; os.listdir('/home')",
        "import os; os.fork()",
        "open('/tmp/../etc/hostname')",
    ):
        print(outside._run(program, "", {}, outside.SandboxLimits(), layers))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user to try")
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no Python for everyone")
@pytest.mark.skipif("landlock" not in sandbox.protection(), reason="there is no Landlock here")
def test_it_confines_for_an_ordinary_user() -> None:
    """A Python that everybody can read, and the packages copied to where everybody can."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("planweave", "tools/sandbox"):
            shutil.copytree(ROOT / name, Path(folder, name), symlinks=True)
        Path(folder).chmod(0o755)
        words = ["/usr/bin/python3", "-c", ORDINARY]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.stderr == "too old\n":
        pytest.skip("the Python for everyone is too old")
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 8
    for ran, *refused in (lines[:4], lines[4:]):
        assert "65534 ['program.py']" in ran
        assert all("PermissionError" in one or "FileNotFoundError" in one for one in refused)
