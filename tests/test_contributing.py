"""CONTRIBUTING tells the truth about the tree."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_ten_questions_are_answered_by_files_that_exist() -> None:
    table = TEXT.partition("## Where is …?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (Where .*\?|.*\?) \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 10
    for _, files in rows:
        for file in re.findall(r"`([^`]+)`", files):
            assert (ROOT / file).exists(), file
            assert len(Path(file).parts) <= 3


def test_every_folder_of_tests_is_named() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if (path / "__init__.py").exists()}
    assert all(f"`tests/{folder}`" in TEXT for folder in folders)
