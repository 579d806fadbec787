"""``planweave runs``: list, show and remove what was asked before."""

import json
from pathlib import Path

import pytest
from command_line import CommandLine, assert_one_clear_error
from offers import WHOLE_RUN, scripted
from openai_server import serving

from planweave.apps.threads import Thread
from planweave.memory import Context


def test_a_run_is_listed_shown_and_removed(planweave: CommandLine, offers: str) -> None:
    assert "No runs yet" in planweave("runs", "list").stdout
    with serving(*scripted(*WHOLE_RUN)) as model:
        planweave("decide", "--model", model.name, "Which offer?", "--database", offers)
    (kept,) = json.loads(planweave("runs", "list", "--json").stdout)
    assert kept["question"] == "Which offer?"
    assert kept["method"] == "planrag"
    assert kept["verdict"]
    assert kept["thread"] in planweave("runs").stdout
    shown = json.loads(planweave("runs", "show", kept["thread"], "--json").stdout)
    assert shown["facts"]
    assert shown["answer"]["decision"] in planweave("runs", "show", kept["thread"]).stdout
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


def test_a_run_that_is_named_twice_is_removed_once(kept: CommandLine) -> None:
    assert kept("runs", "remove", "mine", "mine").stdout == "Removed: 1\n"
    assert json.loads(kept("runs", "list", "--json").stdout) == []


@pytest.mark.parametrize("name", ["", ".", "../mine", "x" * 300])
def test_what_is_no_name_of_a_run(kept: CommandLine, name: str) -> None:
    for command in (("runs", "remove"), ("runs", "show"), ("decide", "Which?", "--resume")):
        if name or command[0] == "runs":
            assert_one_clear_error(kept(*command, name), f"There is no thread {name!r}")
