"""The command ``planweave experience`` as a person sees it."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as File
from typing import NamedTuple

import bag_of_words
import pytest

from apps import experience as command
from apps.cli import main
from learning.paths import Path, read_paths, write_paths

EGG = Path("heat", "an egg", ("open fridge", "take egg", "heat egg"), origin="me")
HOSTILE = Path("heat", "a [red]mug\x1b[2J\nreward: 1", ("take mug", "heat \x07mug"))
FAILED = Path("cool", "a pan", ("take pan",), reward=0.25)


class Told(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Told]


@pytest.fixture
def run(tmp_path: File, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    @contextmanager
    def vectors(_: object) -> Iterator[object]:
        yield bag_of_words.embed

    monkeypatch.setattr(command, "sentence_vectors", vectors)
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)

    def told(*arguments: str) -> Told:
        monkeypatch.setattr(sys, "argv", ["planweave", "experience", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Told(int(ended.value.code or 0), *capsys.readouterr())

    return told


@pytest.fixture
def filled(run: Run, tmp_path: File) -> Run:
    write_paths(tmp_path / "paths.jsonl", [EGG, HOSTILE, FAILED])
    said = "paths.jsonl: 3 new of 3 paths, 2 of them succeeded.\n"
    assert run("add", "paths.jsonl") == (0, said, "")
    return run


def test_nothing_is_there_at_first(run: Run) -> None:
    assert "no experience yet" in run("list").out
    assert json.loads(run("list", "--json").out) == []
    assert run("show").err.startswith("Error: There is no path that succeeded.")
    assert run("export") == (0, "", "")


def test_paths_are_listed_and_shown(filled: Run) -> None:
    assert "0 new of 3 paths" in filled("add", "paths.jsonl").out
    listed = filled("list").out
    for text in (EGG.key, "an egg", "0.25", r"a [red]mug\u001b[2J\nreward: 1"):
        assert text in listed
    records = json.loads(filled("list", "--json").out)
    assert [record["key"] for record in records] == [EGG.key, HOSTILE.key, FAILED.key]
    shown = filled("show", HOSTILE.key).out
    assert shown.splitlines()[2:] == ["  1. take mug", r"  2. heat \u0007mug"]
    assert "\x1b" not in listed + shown
    assert json.loads(filled("show", EGG.key, "--json").out)["instructions"][1] == "take egg"


def test_the_graph_is_shown_and_drawn(filled: Run, tmp_path: File) -> None:
    assert "2 paths in" in filled("show").out
    assert "heat: 2 paths" in filled("show").out
    graph = json.loads(filled("show", "--json", "--threshold", "1").out)
    assert graph["nodes"]["0"] == ["open fridge"]
    assert graph["edges"][0] == {"from": 0, "to": 1, "tasks": {"heat": ["an egg"]}}
    assert graph["walks"][EGG.key] == [0, 1, 2]
    assert filled("show", "--out", "graph.html").out == "Written: graph.html\n"
    assert "heat egg" in (tmp_path / "graph.html").read_text("utf-8")
    assert filled("show", EGG.key, "--out", "path.png").code == 0
    assert (tmp_path / "path.png").stat().st_size > 5_000


def test_what_is_removed_is_gone(filled: Run) -> None:
    assert filled("remove", EGG.key).out == f"Removed: {EGG.key}\n"
    assert EGG.key not in filled("list").out
    for words in (("remove", EGG.key), ("remove",), ("remove", FAILED.key, "--all")):
        told = filled(*words)
        assert (told.code, told.err.count("Error:")) == (1, 1)
    assert len(json.loads(filled("list", "--json").out)) == 2
    assert filled("remove", "--all").code == 0
    assert json.loads(filled("list", "--json").out) == []


def test_what_is_exported_can_be_added_elsewhere(filled: Run, tmp_path: File) -> None:
    assert filled("export", "out.jsonl.gz").out == "3 paths written to out.jsonl.gz.\n"
    assert read_paths(tmp_path / "out.jsonl.gz") == [EGG, HOSTILE, FAILED]
    (tmp_path / "again.jsonl").write_text(filled("export").out, "utf-8")
    assert read_paths(tmp_path / "again.jsonl") == [EGG, HOSTILE, FAILED]
    assert filled("add", "out.jsonl.gz", "again.jsonl", "--owner", "bob").code == 0
    assert len(json.loads(filled("list", "--owner", "bob", "--json").out)) == 3
    filled("remove", "--all", "--owner", "bob")
    assert len(json.loads(filled("list", "--json").out)) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "abc"), "There is no path 'abc'"),
        (("show", FAILED.key, "--out", "a.png"), "failed, so it is not in the graph"),
        (("show", "--out", "a.pdf"), "no format of pictures"),
        (("add", "absent.jsonl"), "cannot be read"),
        (("export", "absent/a.jsonl"), "cannot be written"),
    ],
)
def test_what_is_wrong_is_one_sentence(filled: Run, words: tuple[str, ...], said: str) -> None:
    told = filled(*words)
    assert told.code == 1
    assert said in told.err
    assert told.err.count("Error:") == 1
