"""The command ``planweave experience`` as a person sees it."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import bag_of_words
import pytest
from command_line import CommandLine, assert_one_clear_error
from langchain_core.runnables import RunnableConfig

from planweave.apps.cli import experience as command
from planweave.apps.example import Example
from planweave.apps.threads import Thread, checkpoints
from planweave.graphs import METHODS
from planweave.learning.paths import TaskPath, read_paths, write_paths
from planweave.memory import Answer, Context, Tool, Turn

EGG = TaskPath("heat", "an egg", ("open fridge", "take egg", "heat egg"), origin="me")
HOSTILE = TaskPath("heat", "a [red]mug\x1b[2J\nreward: 1", ("take mug", "heat \x07mug"))
FAILED = TaskPath("cool", "a pan", ("take pan",), reward=0.25)


@pytest.fixture
def run(planweave: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    @contextmanager
    def vectors(_: object, *, kept: bool) -> Iterator[object]:
        assert not kept  # or what is removed would stay in the cache
        yield bag_of_words.embed

    monkeypatch.setattr(command, "sentence_vectors", vectors)
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    return partial(planweave, "experience", COLUMNS="120")


@pytest.fixture
def filled(run: CommandLine, tmp_path: Path) -> CommandLine:
    write_paths(tmp_path / "paths.jsonl", [EGG, HOSTILE, FAILED])
    said = "paths.jsonl: 3 new of 3 paths, 2 of them succeeded.\n"
    assert run("add", "paths.jsonl").stdout == said
    return run


def test_nothing_is_there_at_first(run: CommandLine) -> None:
    assert "no experience yet" in run("list").stdout
    assert json.loads(run("list", "--json").stdout) == []
    assert run("show").stderr.startswith("Error: There is no successful path.")
    assert run("export").stdout == ""


def test_paths_are_listed_and_shown(filled: CommandLine) -> None:
    assert "0 new of 3 paths" in filled("add", "paths.jsonl").stdout
    listed = filled("list").stdout
    for text in (EGG.key, "an egg", "0.25", r"a [red]mug\u001b[2J\nreward: 1"):
        assert text in listed
    records = json.loads(filled("list", "--json").stdout)
    assert [record["key"] for record in records] == [EGG.key, HOSTILE.key, FAILED.key]
    shown = filled("show", HOSTILE.key).stdout
    assert shown.splitlines()[2:] == ["  1. take mug", r"  2. heat \u0007mug"]
    assert "\x1b" not in listed + shown
    assert json.loads(filled("show", EGG.key, "--json").stdout)["instructions"][1] == "take egg"
    assert_one_clear_error(filled("show", "abc"), "There is no path 'abc'")


def test_the_graph_is_shown(filled: CommandLine) -> None:
    assert "2 paths in" in filled("show").stdout
    assert "heat: 2 paths" in filled("show").stdout
    graph = json.loads(filled("show", "--json", "--threshold", "1").stdout)
    assert graph["nodes"]["0"] == ["open fridge"]
    assert graph["edges"][0] == {"from": 0, "to": 1, "tasks": {"heat": ["an egg"]}}
    assert graph["walks"][EGG.key] == [0, 1, 2]


def test_what_is_removed_is_gone(filled: CommandLine) -> None:
    assert filled("remove", EGG.key).stdout == f"Removed: {EGG.key}\n"
    assert EGG.key not in filled("list").stdout
    for words in (("remove", EGG.key), ("remove",), ("remove", FAILED.key, "--all")):
        told = filled(*words)
        assert (told.returncode, told.stderr.count("Error:")) == (1, 1)
    assert len(json.loads(filled("list", "--json").stdout)) == 2
    assert filled("remove", "--all").returncode == 0
    assert json.loads(filled("list", "--json").stdout) == []


def test_what_is_exported_can_be_added_elsewhere(filled: CommandLine, tmp_path: Path) -> None:
    assert filled("export", "out.jsonl.gz").stdout == "3 paths written to out.jsonl.gz.\n"
    assert read_paths(tmp_path / "out.jsonl.gz") == [EGG, HOSTILE, FAILED]
    (tmp_path / "again.jsonl").write_text(filled("export").stdout, "utf-8")
    assert read_paths(tmp_path / "again.jsonl") == [EGG, HOSTILE, FAILED]
    assert filled("add", "out.jsonl.gz", "again.jsonl", "--owner", "bob").returncode == 0
    assert len(json.loads(filled("list", "--owner", "bob", "--json").stdout)) == 3
    filled("remove", "--all", "--owner", "bob")
    assert len(json.loads(filled("list", "--json").stdout)) == 3


def ended(thread: Thread, answer: Answer | None, *turns: Turn) -> None:
    """Leave the checkpoint of a run that did ``turns`` and came to ``answer``."""

    async def leave() -> None:
        async with checkpoints() as saver:
            graph = METHODS.get(thread.method).compiled(checkpointer=saver)
            config: RunnableConfig = {"configurable": {"thread_id": thread.id}}
            memory = {"question": "Where?", "turns": list(turns), "answer": answer}
            await graph.aupdate_state(config, memory, as_node="closing")

    thread.save()
    asyncio.run(leave())


def turn(tool: Tool, text: str, facts: list[int], problem: str = "") -> Turn:
    done = {"iteration": 1, "step": 1, "thought": "", "seconds": 0.1}
    return cast("Turn", done | {"tool": tool, "input": text, "facts": facts, "problem": problem})


def test_a_confirmed_thread_is_kept(run: CommandLine) -> None:
    example = Example("locating", 1, 30)
    thread = Thread(id="abc", method="planrag", context=Context(owner="alice"), example=example)
    answer = Answer(decision="here", why="so", facts=[1], unknown="")
    turns = (
        turn("sql", "SELECT\n  1", [1]),
        turn("sql", "SELECT 2", [], "no such table"),
        turn("thinking", "hm", []),
        turn("calculator", "1 + 1", [2]),
    )
    ended(thread, answer, *turns)
    assert run("confirm", "abc").stdout.startswith("Saved as ")
    (kept,) = json.loads(run("list", "--owner", "alice", "--json").stdout)
    assert kept["instructions"] == ["sql[SELECT\n  1]", "calculator[1 + 1]"]
    assert (kept["task"], kept["question"], kept["reward"]) == ("locating", "Where?", 1)
    assert kept["origin"] == "thread abc"
    assert run("confirm", "abc", "--wrong").returncode == 0
    assert [
        one["reward"] for one in json.loads(run("list", "--owner", "alice", "--json").stdout)
    ] == [0]
    assert run("confirm", "abc", "--owner", "bob").returncode == 0
    assert len(json.loads(run("list", "--owner", "bob", "--json").stdout)) == 1
    for name, said, did in (("b", None, turns), ("c", answer, turns[1:3])):
        ended(replace(thread, id=name, example=None), said, *did)
        assert "no answer from an action" in run("confirm", name).stderr
    assert len(json.loads(run("list", "--owner", "alice", "--json").stdout)) == 1


def test_a_wrong_answer_is_confirmed_with_the_right_query(run: CommandLine, tmp_path: Path) -> None:
    script = tmp_path / "plants.sql"
    script.write_text("CREATE TABLE plant(name TEXT); INSERT INTO plant VALUES ('Bonn');")
    thread = Thread(id="d", method="single_rag", context=Context(database=str(script)))
    ended(thread, None)
    right = ("confirm", "d", "--query", " SELECT name FROM plant\nWHERE name = 'Bonn'")
    assert run(*right).returncode == 0
    (kept,) = json.loads(run("list", "--json").stdout)
    assert (kept["question"], kept["reward"]) == ("Where?", 1)
    assert kept["instructions"] == ["sql[SELECT name FROM plant\nWHERE name = 'Bonn']"]
    assert "Leave out --wrong" in run(*right, "--wrong").stderr
    for query, problem in (("SELECT town FROM plant", "town"), ("DROP TABLE plant", "read")):
        failed = run("confirm", "d", "--query", query)
        assert failed.returncode
        assert problem in failed.stderr
    assert run("confirm", "d", "--query", "").returncode
    graph = tmp_path / "plants.cql"
    graph.write_text("CREATE (:Plant {name: 'Bonn'});")
    ended(replace(thread, id="f", context=Context(database=str(script), graph=str(graph))), None)
    assert run("confirm", "f", "--owner", "g", "--query", "MATCH (p:Plant) RETURN p.name").stdout
    (kept,) = json.loads(run("list", "--owner", "g", "--json").stdout)
    assert kept["instructions"] == ["cypher[MATCH (p:Plant) RETURN p.name]"]
    ended(replace(thread, id="e", context=Context()), None)
    assert "no database" in run("confirm", "e", "--query", "SELECT 1").stderr
    assert len(json.loads(run("list", "--json").stdout)) == 1
