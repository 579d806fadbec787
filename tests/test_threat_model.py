"""The threat model names only tests and files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
FOLDERS = [*(file.parent for file in ROOT.glob("*/__init__.py")), ROOT / "tests"]


def test_every_test_exists() -> None:
    path, missing, count = Path(), [], 0
    for file, name in re.findall(r"`(tests/[\w/]+\.py)?::(\w+)`", PAGE):
        path = ROOT / file if file else path
        count += 1
        if not re.search(rf"^(async )?def {name}\(", path.read_text("utf-8"), re.MULTILINE):
            missing.append(f"{path.name}::{name}")
    assert count > 40
    assert not missing


def test_every_file_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)`", PAGE)
    files = {f.relative_to(ROOT).as_posix() for folder in FOLDERS for f in folder.rglob("*.py")}
    assert not [one for one in named if not any(f"/{file}".endswith(f"/{one}") for file in files)]
