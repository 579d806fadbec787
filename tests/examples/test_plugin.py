"""A package from outside adds a method, a tool and a suite, without an edit here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"
PAGE = "# Tides\n\nThe tide at Hull is highest at noon. Tides follow the moon.\n"
QUOTE = "The tide at Hull is highest at noon."
FINDING = {"page": 1, "quote": QUOTE, "statement": "It is highest at noon."}
ANSWER = {
    "asked": "when",
    "told_by": [1],
    "text": "The tide at Hull is highest at noon [1].",
    "short": "noon",
    "unknown": "",
}


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


@pytest.fixture
def run(installed: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs planweave beside the plugin, with folders of its own."""
    folders = {
        f"PLANWEAVE_{name.upper()}_DIR": str(tmp_path / name) for name in ("state", "data", "cache")
    }
    path = os.pathsep.join((str(installed), str(ROOT)))
    variables = {**os.environ, **folders, "PYTHONPATH": path, "COLUMNS": "200"}

    def planweave(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "planweave", *words],
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return planweave


def script(folder: Path, *replies: object) -> str:
    (folder / "replies.json").write_text(json.dumps(replies), "utf-8")
    return f"script:{folder / 'replies.json'}"


def test_it_is_small() -> None:
    files = [PLUGIN / "pyproject.toml", *(PLUGIN / "planweave_step_back").glob("*.py")]
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files) <= 120


def test_its_method_answers(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert "step_back" in run("methods")
    (tmp_path / "tides.md").write_text(PAGE, "utf-8")
    run("docs", "add", "tides.md", "--embeddings", "none", "--collection", "sea")
    model = script(
        tmp_path,
        {"question": "When are tides highest?"},
        {"findings": [FINDING]},
        {"findings": []},
        ANSWER,
    )
    words = ("--method", "step_back", "--model", model, "--collection", "sea", "--json")
    told = json.loads(
        run("ask", *words, "--setting", "whole_collection=off", "When is the tide highest at Hull?")
    )
    assert told["answer"]["decision"] == "noon"
    assert [turn["input"] for turn in told["turns"]] == [
        "When are tides highest?",
        "When is the tide highest at Hull?",
    ]


def test_its_tool_is_called(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    shutil.copy(ROOT / "examples" / "offers.sql", tmp_path)
    days = json.dumps({"first": "2026-11-23", "last": "2026-11-29"})
    model = script(
        tmp_path,
        {"thought": "Count.", "tool": "working_days", "input": days},
        {"thought": "Done.", "tool": "finish", "input": ""},
        {"why": "Five [1].", "facts": [1], "decision": "5", "unknown": ""},
    )
    words = ("--method", "iter_rag", "--model", model, "--database", "offers.sql", "--json")
    told = json.loads(run("decide", *words, "--setting", "tools=working_days", "How many days?"))
    (fact,) = told["facts"]
    assert (fact["source"], fact["values"]) == ("working_days", {"value": 5})


def test_its_suite_measures(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "tides.md").write_text(PAGE, "utf-8")
    run("docs", "add", "tides.md", "--embeddings", "none", "--collection", "sea")
    item = {"question": "When is the tide highest at Hull?", "answer": "noon", "collection": "sea"}
    (tmp_path / "questions.json").write_text(json.dumps([item]), "utf-8")
    model = script(
        tmp_path,
        {"question": "When are tides highest?"},
        {"findings": [FINDING]},
        {"findings": []},
        ANSWER,
    )
    words = ("--data", "questions.json", "--method", "step_back", "--model", model, "--json")
    assert "short-answers" in run("bench", "--help")
    report = run("bench", "short-answers", *words, "--setting", "whole_collection=off")
    assert '"short_answers"' in report
    (record,) = [
        json.loads(line)
        for file in tmp_path.rglob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
        if '"kind":"sample"' in line.replace(" ", "")
    ]
    assert record["score"]["value"] == 1.0
