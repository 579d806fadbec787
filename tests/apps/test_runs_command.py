"""``planweave runs``: list, show and remove what was asked before."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from command_line import CommandLine, assert_one_clear_error
from offers import WHOLE_RUN, scripted
from openai_server import serving

from planweave import BadInput
from planweave.apps.sqlite_file import exclusive_lock
from planweave.apps.threads import Thread, lock_thread
from planweave.memory import Context


def test_a_run_is_listed_shown_and_removed(planweave: CommandLine, offers: str) -> None:
    for folder in ("state", "/dev/null/no/folder"):
        for command, told in (
            ("runs", "No runs yet"),
            ("experience", "There is no experience yet"),
            ("terms", "Nothing has been learned yet"),
        ):
            assert told in planweave(command, "list", PLANWEAVE_STATE_DIR=folder).stdout
    with serving(*scripted(*WHOLE_RUN)) as model:
        planweave("decide", "--model", model.name, "Which offer?", "--database", offers)
    (kept,) = json.loads(planweave("runs", "list", "--json").stdout)
    assert kept["question"] == "Which offer?"
    assert kept["method"] == "planrag"
    assert kept["verdict"]
    assert kept["thread"] in planweave("runs").stdout
    shown = json.loads(planweave("runs", "show", kept["thread"], "--json").stdout)
    assert shown["facts"]
    again = planweave("runs", "show", kept["thread"]).stdout
    assert shown["answer"]["decision"] in again
    assert "Plan" in again
    assert "birch | 5.25" in again
    assert_one_clear_error(planweave("runs", "remove", kept["thread"], "nobody"), "'nobody'")
    assert planweave("runs", "remove", kept["thread"]).stdout == "Removed: 1\n"
    assert json.loads(planweave("runs", "list", "--json").stdout) == []
    assert_one_clear_error(planweave("runs", "show", kept["thread"]), "no thread")


@pytest.fixture
def kept(planweave: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The program with a thread "mine", whose database has a password in its URL."""
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    context = Context(database="postgresql://me:secret@127.0.0.1:1/shop")
    Thread(id="mine", method="planrag", context=context).save()
    return planweave


def test_a_run_is_shown_without_the_password_of_its_database(kept: CommandLine) -> None:
    assert kept("runs", "show", "mine").returncode == 0
    assert_one_clear_error(kept("decide", "--resume", "mine"), "Give --database URL again")


@cases("nobody:knows", "embedded:7b", "embedded:none.gguf", "openai:gpt-4.1")
def test_a_run_without_a_model_is_not_kept(model: str, planweave: CommandLine, offers: str) -> None:
    asked = planweave("ask", "--database", offers, "--model", model, "Which offer?")
    assert_one_clear_error(asked, "odel")
    assert "thread" not in asked.stdout
    assert json.loads(planweave("runs", "list", "--json").stdout) == []


def test_a_run_is_removed_whole_and_not_while_it_goes_on(
    kept: CommandLine, offers: str, tmp_path: Path
) -> None:
    with lock_thread("mine"):
        for command in (("runs", "remove"), ("decide", "--database", offers, "--resume")):
            assert_one_clear_error(kept(*command, "mine"), "Another process is working", "mine")
    assert kept("runs", "remove", "mine", "mine").stdout == "Removed: 1\n"
    assert json.loads(kept("runs", "list", "--json").stdout) == []
    assert not [*(tmp_path / "state" / "threads").glob("mine*")]


def test_a_lock_on_a_removed_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, connect = tmp_path / "mine.lock", sqlite3.connect

    def opened_before_it_is_replaced(*where: Any, **how: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connect(*where, **how)
        path.unlink()
        path.touch()
        return opened

    monkeypatch.setattr(sqlite3, "connect", opened_before_it_is_replaced)
    with pytest.raises(BadInput, match="is held"), exclusive_lock(path, "It is held."):
        pass


@cases("", ".", "../mine", "x" * 300)
def test_what_is_no_name_of_a_run(name: str, kept: CommandLine) -> None:
    for command in (("runs", "remove"), ("runs", "show"), ("decide", "Which?", "--resume")):
        if name or command[0] == "runs":
            assert_one_clear_error(kept(*command, name), f"There is no thread {name!r}")
