"""CONTRIBUTING tells the truth about the tree."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_ten_questions_are_answered_by_files_that_define_what_is_looked_for() -> None:
    table = TEXT.partition("## Where is …?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (Where .*\?) \| (.*) \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 10
    for _, files, names in rows:
        named = zip(re.findall(r"`(.+?)`", files), re.findall(r"`(.+?)`", names), strict=True)
        for file, name in named:
            tree = ast.parse((ROOT / file).read_text("utf-8"))
            assert name in {getattr(node, "name", "") for node in tree.body}, (file, name)
            assert len(Path(file).parts) <= 3


def test_every_folder_of_tests_is_named() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert len(folders) > 8
    assert [folder for folder in folders if f"`tests/{folder}`" not in TEXT] == []
