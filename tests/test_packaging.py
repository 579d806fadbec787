"""The wheel: every file that a package needs is declared, and nothing besides the packages."""

import tomllib
from pathlib import Path

import pytest

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
