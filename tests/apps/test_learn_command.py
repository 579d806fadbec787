"""planweave learn dqa."""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cases import cases
from command_line import CommandLine, assert_one_clear_error, in_process, user_environment

from planweave.learning.paths import read_paths
from planweave.learning.queries.course import Course
from planweave.learning.queries.questions import Worlds

QUICK = ("learn", "dqa", "--quick", "--scenario", "building", "--generations", "2")


@pytest.fixture(scope="module", autouse=True)
def _short() -> Iterator[None]:
    """Courses of fewer and smaller worlds: how much is learned is no matter here."""

    def short(worlds: Worlds, **_: object) -> Course:
        few = replace(worlds, smallest=60, largest=120)
        return Course(worlds=few, lessons=120, trial=60, unseen=60)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("planweave.apps.cli.learn_dqa.Course", short)
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a small course was taken."""
    folder = tmp_path_factory.mktemp("course")
    run = in_process(folder, user_environment(folder))(*QUICK, "--out", str(folder))
    assert run.returncode == 0, run.stderr
    assert "of unseen questions right at the start" in run.stdout.replace("\n", " ")
    return folder


@pytest.fixture
def taken(course: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(course, tmp_path, dirs_exist_ok=True))


def test_a_small_course_is_taken(course: Path) -> None:
    assert [path.task for path in read_paths(course / "dqa-experience.jsonl")] == ["building"] * 2
    card = json.loads((course / "dqa-experience.json").read_text())
    (curve,) = json.loads((course / "curve.json").read_text())
    assert [point[0] for point in curve["points"]] == [0, 1, 2]
    assert card["courses"][0]["questions_answered"] == curve["points"][-1][1]
    assert (course / "curve.png").stat().st_size > 5_000


@pytest.mark.slow
def test_what_other_scenarios_learned_stays(
    planweave: CommandLine, taken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_paths(taken / "dqa-experience.jsonl")
    locating = ("learn", "dqa", "--quick", "--scenario", "locating", "--generations", "1")
    run = planweave(*locating, "--out", str(taken))
    assert run.returncode == 0, run.stderr
    assert "Kept there from other runs: building" in run.stdout
    paths = read_paths(taken / "dqa-experience.jsonl")
    assert paths[:2] == before
    assert [path.task for path in paths[2:]] == ["locating"] * 2
    card = json.loads((taken / "dqa-experience.json").read_text())
    first, second = card["courses"]
    assert (first["scenario"], second["scenario"]) == ("building", "locating")
    assert card["command"] == f"{first['command']} ; {second['command']}"
    assert all(one["seconds"] > 0 for one in card["courses"])
    curves = json.loads((taken / "curve.json").read_text())
    assert [len(curve["points"]) for curve in curves] == [3, 2]
    (taken / "curve.png").unlink()
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    again = planweave(*locating, "--out", str(taken))
    assert again.returncode == 0, again.stderr
    assert read_paths(taken / "dqa-experience.jsonl") == paths  # nothing is doubled
    assert len(json.loads((taken / "dqa-experience.json").read_text())["courses"]) == 2
    assert "curve.png" not in again.stdout  # without matplotlib there is no picture
    assert not (taken / "curve.png").exists()


def test_files_that_cannot_be_added_to_are_told_first(
    planweave: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "curve.json").write_text("{}")
    run = planweave(*QUICK, "--out", str(tmp_path))
    assert_one_clear_error(run, "curve.json", "--out")
    assert not (tmp_path / "dqa-experience.jsonl").exists()


@cases((("--seeds", "one"), "seeds"), (("--scenario", "building,chess"), "chess"))
def test_what_is_wrong_is_said(
    given: tuple[str, ...], word: str, planweave: CommandLine, tmp_path: Path
) -> None:
    run = planweave("learn", "dqa", *given, "--out", str(tmp_path / "out"))
    assert_one_clear_error(run, word)
    assert run.stdout == ""  # nothing was begun
    assert not (tmp_path / "out").exists()


@cases(
    (QUICK, "/proc"),
    (QUICK, "file"),
    (("train", "plan-assessor", "--data", "nowhere"), "file"),
    (("train", "instructrag", "--environment", "alfworld", "--data", "nowhere"), "file"),
    (("bench", "abstention", "nowhere"), "file"),
    (("bench", "environment", "--name", "hotpotqa", "--data", "tasks.json"), "file"),
    (("bench", "instruction-graph", "--data", "nowhere"), "file"),
    (("bench", "mhqa", "--data", "nowhere"), "file"),
    (("bench", "mhqa-retrieval", "--data", "nowhere"), "file"),
    (("bench", "rat-corpus", "--family", "code", "--data", "nowhere"), "file"),
    (("bench", "refusal", "--data", "nowhere"), "file"),
)
def test_a_folder_that_cannot_be_used_is_told_first(
    command: tuple[str, ...], out: str, planweave: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "tasks.json").write_text("[]")
    run = planweave(*command, "--out", out)
    assert_one_clear_error(run, f"{out} cannot be written", "--out")
