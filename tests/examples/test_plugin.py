"""A package from outside adds a method, a tool and a suite, without an edit here."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import user_environment

from planweave.benchmarks.core.store import read

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"
PAGE = "# Tides\n\nThe tide at Hull is highest at noon. Tides follow the moon.\n"
QUOTE = "The tide at Hull is highest at noon."
FINDING = {"page": 1, "quote": QUOTE, "statement": "It is highest at noon."}
SAID = "The tide at Hull is highest at noon [1]."
ANSWER = {"asked": "when", "told_by": [1], "text": SAID, "short": "noon", "unknown": ""}


_RUN = """
import json, os, sys
from pathlib import Path
from command_line import in_process
run, said = in_process(Path(sys.argv[1]), os.environ), []
for words in json.loads(sys.argv[2]):
    done = run(*words)
    said.append({"out": done.stdout, "errors": done.stderr})
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin, as pip installs it."""
    room = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, room / "source", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run(
        [sys.executable, *words, "--target", str(room / "site"), str(room / "source")],
        check=True,
        capture_output=True,
    )
    return room / "site"


def run(installed: Path, folder: Path, *commands: tuple[str, ...]) -> list[dict[str, str]]:
    """Run commands of planweave beside the plugin, in one process with folders of its own."""
    path = os.pathsep.join((str(installed), str(ROOT), str(ROOT / "tests" / "support")))
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(folder), json.dumps(commands)],
        env=user_environment(folder) | {"PYTHONPATH": path, "COLUMNS": "200"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said: list[dict[str, str]] = json.loads(done.stdout)
    return said


def script(folder: Path, name: str, *replies: object) -> str:
    (folder / f"{name}.json").write_text(json.dumps(replies), "utf-8")
    return f"script:{folder / name}.json"


def test_it_is_small() -> None:
    files = [PLUGIN / "pyproject.toml", *(PLUGIN / "planweave_step_back").glob("*.py")]
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files) <= 120


def test_its_method_answers_its_suite_measures_and_its_tool_is_called(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "tides.md").write_text(PAGE, "utf-8")
    item = {"question": "When is the tide highest at Hull?", "answer": "noon", "collection": "sea"}
    (tmp_path / "questions.json").write_text(json.dumps([item]), "utf-8")
    shutil.copy(ROOT / "examples" / "offers.sql", tmp_path)
    asked = {"question": "When are tides highest?"}
    replies: tuple[object, ...] = (asked, {"findings": [FINDING]}, {"findings": []}, ANSWER)
    words = ("--method", "step_back", "--model", script(tmp_path, "replies", *replies), "--json")
    whole = ("--setting", "whole_collection=off")
    days = json.dumps({"first": "2026-11-23", "last": "2026-11-29"})
    counting = script(
        tmp_path,
        "counting",
        {"thought": "Count.", "tool": "working_days", "input": days},
        {"thought": "Done.", "tool": "finish", "input": ""},
        {"why": "Five [1].", "facts": [1], "decision": "5", "unknown": ""},
    )
    count = ("--method", "iter_rag", "--model", counting, "--database", "offers.sql", "--json")
    done = run(
        installed,
        tmp_path,
        ("methods",),
        ("docs", "add", "tides.md", "--embeddings", "none", "--collection", "sea"),
        ("ask", *words, *whole, "--collection", "sea", "When is the tide highest at Hull?"),
        ("bench", "--help"),
        ("bench", "short-answers", "--data", "questions.json", *words, *whole),
        ("decide", *count, "--setting", "tools=working_days", "How many days?"),
        ("bench", "short-answers", "--data", "none.json", *words),
    )
    methods, _, answered, help_, report, counted, missing = done
    assert [one["errors"] for one in done[:-1] if "Error" in one["errors"]] == []
    assert "step_back" in methods["out"]
    told = json.loads(answered["out"])
    assert told["answer"]["decision"] == "noon"
    inputs = [turn["input"] for turn in told["turns"]]
    assert inputs == ["When are tides highest?", "When is the tide highest at Hull?"]
    assert "short-answers" in help_["out"]
    assert '"short_answers"' in report["out"]
    (file,) = (tmp_path / "results").rglob("*.jsonl")
    assert [record.score.value for record in read(file).records.values()] == [1.0]
    (fact,) = json.loads(counted["out"])["facts"]
    assert (fact["source"], fact["values"]) == ("working_days", {"value": 5})
    assert re.search(r"none\.json cannot be read.*--data FILE", missing["errors"])
