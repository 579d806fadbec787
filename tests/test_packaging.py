"""What is built: one importable name, with every file that a package needs and nothing else."""

import ast
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from cases import cases

from planweave.apps.cli.main import COMMANDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
FOLDERS = (
    *("planweave", "apps", "benchmarks", "graphs", "learning", "memory", "models"),
    *("nodes", "prompts", "simulators", "tools"),
)
FOREIGN = ("models.py", "nodes.py", "prompts.py", "tools/__init__.py", "graphs/__init__.py")

SHOP = """
CREATE TABLE delivery(supplier TEXT, days_late INTEGER);
INSERT INTO delivery VALUES ('Prompt Ltd', 0), ('Late & Co', 4), ('Late & Co', 7);
"""
REPLIES = """
planner:
  - steps: [Count the late deliveries of each supplier.]
selector:
  - thought: Count them.
    step: 1
    tool: sql
    input: >-
      SELECT supplier, count(*) AS late FROM delivery WHERE days_late > 0
      GROUP BY supplier ORDER BY late DESC LIMIT 1
  - {thought: Enough., step: 1, tool: finish, input: ""}
replanner:
  - {reason: It is enough., replan: N, steps: []}
answering_machine:
  - why: It is late most often.
    facts: [1]
    decision: Late & Co
    how: highest
    column: late
    unknown: ""
"""
TYPED = """
import planweave
from planweave.testing import ScriptedModel

settings = planweave.Settings(strict=True)
model = ScriptedModel([{"steps": ["Look."]}, "N"])
result = planweave.run("Which?", database="shop.db", model=model, settings=settings)
decision: str | None = result.decision
calls: int = result.usage.calls
for fact in result.facts:
    print(fact["text"].upper(), fact["txt"])  # wrong
for event in planweave.stream("Which?", documents="energy", settings={"pages": 2}):
    if event.type == "answer":
        print(event.result.text.upper())
    if isinstance(event, planweave.FactEvent):
        print(event.fact["number"] + 1)
        print(event.fat)  # wrong
number: int = result.text  # wrong
planweave.run("Which?", databse="shop.db")  # wrong
planweave.run(database="shop.db")  # wrong
planweave.ruin("Which?")  # wrong
error: ValueError = planweave.PlanweaveError("No.")


async def main() -> str:
    run = await planweave.arun("Which?", rules="None.")
    async for event in planweave.astream("Which?", tokens=True):
        print(event.type)
    memory = await planweave.graph("planrag").ainvoke({"question": "?"}, context=settings)
    return run.text + str(memory["answer"])
"""


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
    kept = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=kept | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_every_file_of_the_packages(built: dict[str, Path]) -> None:
    """Below one name; it is made from the source archive, so that one holds them, too."""
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    wanted = {
        path if path.parts[0] == "planweave" else Path("planweave", path)
        for path in tracked()
        if path.parts[0] in FOLDERS
    }
    assert {Path(name) for name in names} == wanted


@pytest.fixture(scope="module")
def installed(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the wheel is installed."""
    site = tmp_path_factory.mktemp("site")
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site))
    run([sys.executable, *words, str(built["wheel"])], site)
    return site


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of somebody else, whose modules have the names of our folders."""
    for name in FOREIGN:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise RuntimeError('a module of somebody else')\n", "utf-8")
    return tmp_path


def test_the_readmes_program_answers_beside_other_code(installed: Path, mine: Path) -> None:
    with closing(sqlite3.connect(mine / "shop.db")) as shop:
        shop.executescript(SHOP)
    (mine / "replies.yaml").write_text(REPLIES, "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    program = program.replace("database=", 'model="script:replies.yaml",\n    database=')
    (mine / "ask.py").write_text(f"{program}print(planweave.__file__)\n", "utf-8")
    shown = run([sys.executable, "ask.py"], mine, PYTHONPATH=str(installed))
    assert shown.startswith("Late & Co {'kind': 'supported'")
    assert str(installed) in shown


@pytest.mark.timeout(900)
@cases("mypy", "basedpyright")
def test_the_public_interface_is_typed(checker: str, installed: Path, mine: Path) -> None:
    """Exactly the lines that end with ``# wrong`` are found wrong."""
    program = shutil.which(checker, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip(f"{checker} is not installed")
    (mine / "typed.py").write_text(TYPED, "utf-8")
    cache = str(ROOT / ".mypy_cache" / "public")  # what is installed beside us seldom changes
    own = ["--strict", "--cache-dir", cache] if checker == "mypy" else []
    python = "--python-executable" if checker == "mypy" else "--pythonpath"
    done = subprocess.run(
        [program, *own, python, sys.executable, "typed.py"],
        cwd=mine,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {int(n) for n in re.findall(r"typed\.py:(\d+)(?::\d+)?(?: -)?:? error", done.stdout)}
    lines = enumerate(TYPED.splitlines(), 1)
    assert found == {number for number, line in lines if line.endswith("# wrong")}, done.stdout


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
    started = "; ".join(f"import planweave.apps.cli.{name}" for name in COMMANDS)
    code = f"import sys; sys.modules.update(dict.fromkeys({sorted(foreign)})); {started}"
    run = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_what_is_imported_is_declared() -> None:
    """What only comes along with another package may stay away with its next version."""
    given = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, dev = given["project"], given["dependency-groups"]["dev"]
    wanted = chain(project["dependencies"], *project["optional-dependencies"].values())
    declared = {"planweave", "psycopg-pool", *map(package, wanted)}  # psycopg[pool]
    in_tests = {*declared, *map(package, dev)}
    homes = packages_distributions()
    for folder, known in [*((folder, declared) for folder in FOLDERS), ("tests", in_tests)]:
        for name in {*_imported(ROOT / folder)}:
            names = {normalised(home) for home in homes.get(name, ())}
            assert not names or names & known, (folder, name)


def test_what_is_declared_is_explained() -> None:
    """The page of dependencies has each one, those of an extra in a row of that extra."""
    given = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    rows = [row.split("|") for row in page.splitlines() if row.startswith("|")]
    groups = {"": given["project"]["dependencies"] + given["dependency-groups"]["dev"]}
    for extra, wanted in (groups | given["project"]["optional-dependencies"]).items():
        told = " ".join(row[-3] + row[-2] for row in rows if f"`{extra}`" in row[1] or not extra)
        words = {normalised(word) for word in re.findall(r"[\w.-]+", told)}
        assert {package(one).removeprefix("pytest-") for one in wanted} <= words, extra


def _imported(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield (node.module or "").partition(".")[0]


def package(requirement: str) -> str:
    return normalised(re.split(r"[\[<>=]", requirement)[0])


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
