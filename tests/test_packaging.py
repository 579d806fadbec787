"""The wheel: every file that a package needs is declared, and nothing besides the packages."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from planweave.apps.cli import COMMANDS, GROUPS

ROOT = Path(__file__).parents[1]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
PACKAGES = {name: ROOT.joinpath(*name.split(".")) for name in SETUPTOOLS["packages"]}
CODE = {".py", ".pyc"}


@pytest.mark.parametrize("package", [name for name in PACKAGES if "." not in name])
def test_what_is_no_code_is_declared(package: str) -> None:
    folder = PACKAGES[package]
    files = {f for f in folder.rglob("*") if f.is_file() and f.suffix not in CODE}
    patterns = SETUPTOOLS["package-data"].get(package, [])
    assert files == {file for pattern in patterns for file in folder.glob(pattern)}


def test_data_belongs_to_packages() -> None:
    assert set(SETUPTOOLS["package-data"]) <= set(PACKAGES)
    assert not [name for name in PACKAGES if name.partition(".")[0] == "tests"]


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
