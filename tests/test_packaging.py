"""What is built: one importable name, with every file that a package needs and nothing else."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from planweave.apps.cli import COMMANDS, GROUPS

ROOT = Path(__file__).parents[1]
FOLDERS = (
    *("planweave", "apps", "benchmarks", "graphs", "learning", "memory", "models"),
    *("nodes", "prompts", "simulators", "tools"),
)
FOREIGN = {
    "models.py": "raise RuntimeError('the models of somebody else')\n",
    "nodes.py": "raise RuntimeError('the nodes of somebody else')\n",
    "prompts.py": "raise RuntimeError('the prompts of somebody else')\n",
    "tools/__init__.py": "raise RuntimeError('the tools of somebody else')\n",
    "graphs/__init__.py": "raise RuntimeError('the graphs of somebody else')\n",
}


def tracked() -> list[Path]:
    """Files of the checkout that git knows or would add, but links and what is deleted."""
    words = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (Path(name) for name in listed.split("\0") if name)
    return [path for path in paths if (ROOT / path).is_file() and not (ROOT / path).is_symlink()]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Wheel and source archive of a copy without links, as a download on Windows would be."""
    room = tmp_path_factory.mktemp("built")
    for path in tracked():
        if path.parts[0] in FOLDERS or len(path.parts) == 1:
            (room / "copy" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, room / "copy" / path)
    build = "from setuptools import build_meta as b; print(b.build_sdist('..'))"
    run([sys.executable, "-c", build], room / "copy")
    (source,) = room.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(room / "source", filter="data")
    (unpacked,) = (room / "source").iterdir()
    run([sys.executable, "-c", build.replace("sdist('..')", "wheel('../..')")], unpacked)
    (wheel,) = room.glob("*.whl")
    return {"wheel": wheel, "source": source}


def run(command: list[str], folder: Path, **variables: str) -> str:
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_every_file_of_the_packages(built: dict[str, Path]) -> None:
    """It is made from the source archive, so that one holds them, too."""
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    wanted = {
        path if path.parts[0] == "planweave" else Path("planweave", path)
        for path in tracked()
        if path.parts[0] in FOLDERS
    }
    assert {Path(name) for name in names} == wanted


def test_it_works_beside_other_code(built: dict[str, Path], tmp_path: Path) -> None:
    """The ten lines of the README, in a folder whose own modules have the names of our folders."""
    site = tmp_path / "site"
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site))
    run([sys.executable, *words, str(built["wheel"])], tmp_path)
    (record,) = site.glob("planweave-*.dist-info/RECORD")
    files = [line.partition(",")[0] for line in record.read_text("utf-8").splitlines()]
    tops = {file.split("/")[0] for file in files if not file.endswith("bin/planweave")}
    assert tops == {"planweave", record.parent.name}
    mine = tmp_path / "mine"
    for name, text in FOREIGN.items():
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text(text, "utf-8")
    shutil.copy(ROOT / "examples" / "offers.sql", mine)
    program = mine / "ask.py"
    program.write_text(readme_program(), "utf-8")
    shown = run([sys.executable, "ask.py"], mine, PYTHONPATH=str(site))
    assert str(site) in shown


def readme_program() -> str:
    """The README's program without the question, which would need a model."""
    text = (ROOT / "README.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    imports = re.findall(r"^(?:from|import) .*$", program, re.MULTILINE)
    assert imports
    return "\n".join([*imports, "import planweave", "print(planweave.__file__)"])


def test_commands_start_with_what_a_run_installs() -> None:
    """What only extras bring is imported where it is used: `planweave bench` needs no JAX."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    installed = {normalised(name) for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    foreign = {
        module
        for module, names in packages_distributions().items()
        if not {normalised(name) for name in names} & {*installed, "planweave"}
    }
    assert {"jax", "optax", "matplotlib", "pytest"} <= foreign
    started = "; ".join(f"import planweave.apps.{name}" for name in (*COMMANDS, *GROUPS))
    code = f"import sys; sys.modules.update(dict.fromkeys({sorted(foreign)})); {started}"
    run = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
