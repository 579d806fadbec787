"""``planweave act``: tasks listed, one solved and told, gone on with, kept as experience."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from cases import cases
from scripted import Replies, register
from typer.testing import CliRunner, Result
from worlds import encyclopedia, solved

from planweave.apps.cli import experience
from planweave.apps.cli.act import act
from planweave.learning.experience import experience_of
from planweave.tools.environments.episodes import close_all

app = typer.Typer()
app.command("act")(act)
app.add_typer(experience.app, name="experience")

GOLD = ("Search[Finlandia]", "Finish[Republic of Finland]")


@pytest.fixture(autouse=True)
def _worlds(word_vectors: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    yield
    close_all()


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def do(*actions: str) -> list[dict[str, str]]:
    return [{"thought": "Next.", "action": action} for action in actions]


def test_tasks_are_listed(tmp_path: Path) -> None:
    told = run("act", "hotpotqa", "--data", encyclopedia(tmp_path), "--split", "dev").stdout
    assert told == "q1  bridge  In which country was the composer of Finlandia born?\n"


def test_a_task_is_told_and_confirmed_as_experience(tmp_path: Path) -> None:
    model = register(Replies(action=do(*GOLD)))
    words = ("act", "hotpotqa", "--data", encyclopedia(tmp_path), "--task", "q1")
    done = run(*words, "--paths", solved(tmp_path), "--agents", "none", "--model", model)
    assert done.exit_code == 0, done.stderr
    for part in (
        "Search[Finlandia …] (…: what is asked)",
        "Finlandia is a tone poem.",
        "score of 1.00",
    ):
        assert part in done.stdout
    thread = done.stdout.partition("thread ")[2].split()[0]
    assert run("experience", "confirm", thread, "--owner", "alice").exit_code == 0
    (entry,) = experience_of("alice").entries()
    assert entry.path.instructions == GOLD
    model = register(Replies(action=do(*GOLD)))
    again = run(*words, "--owner", "alice", "--method", "rap", "--model", model, "--json")
    assert json.loads(again.stdout)["answer"]["decision"] == "Republic of Finland"


DEDUCED = [{"question": "Who?", "answer": "Someone.", "action": action} for action in GOLD]


@cases(
    (
        "reflexion",
        Replies(action=do("Finish[no]", *GOLD), reflect=[{"reflection": "Search first."}]),
        ("trial 1 scored 0.00: Search first.", "in trial 2"),
    ),
    (
        "genground",
        Replies(deduce=DEDUCED, ground=[{"answer": "Jean Sibelius."}]),
        ("grounded: Who? Jean Sibelius.",),
    ),
)
def test_failed_trials_and_groundings_are_told(
    method: str, script: Replies, words: tuple[str, ...], tmp_path: Path
) -> None:
    task = ("act", "hotpotqa", "--data", encyclopedia(tmp_path), "--task", "q1")
    told = run(*task, "--method", method, "--model", register(script)).stdout
    assert [one for one in words if one not in told] == []


def test_wrong_names_are_told(tmp_path: Path) -> None:
    data = encyclopedia(tmp_path)
    assert "no environment 'chess'" in str(run("act", "chess").exception)
    assert "No environment is named. Name one of hotpotqa, " in str(run("act").exception)
    assert "No environment is named" in str(run("act", "--task", "q1").exception)
    missing = run("act", "hotpotqa", "--data", data, "--task", "q9")
    assert "no task 'q9'" in str(missing.exception)
    assert not list((tmp_path / "state").rglob("*.json"))
