"""planweave learn dqa."""

import json
import os
from pathlib import Path

import pytest
from command_line import CommandLine, assert_one_clear_error

from planweave.learning.paths import read_paths

QUICK = ("learn", "dqa", "--quick", "--scenario", "building", "--generations", "2")


def test_a_small_course_is_taken_and_goes_on(planweave: CommandLine, tmp_path: Path) -> None:
    run = planweave(*QUICK, "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert "of unseen questions right at first" in run.stdout.replace("\n", " ")
    assert [path.task for path in read_paths(tmp_path / "dqa-experience.jsonl")] == ["building"] * 2
    card = json.loads((tmp_path / "dqa-experience.json").read_text())
    (curve,) = json.loads((tmp_path / "curve.json").read_text())
    assert [point[0] for point in curve["points"]] == [0, 1, 2]
    assert card["courses"][0]["questions_answered"] == curve["points"][-1][1]
    assert (tmp_path / "curve.png").stat().st_size > 5_000


def test_without_matplotlib_there_is_no_picture(program: CommandLine, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "matplotlib.py").write_text("raise ImportError\n")
    path = os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", "")])
    run = program(*QUICK, "--out", str(tmp_path), PYTHONPATH=path)
    assert run.returncode == 0, run.stderr
    assert "curve.png" not in run.stdout
    assert not (tmp_path / "curve.png").exists()
    assert len(read_paths(tmp_path / "dqa-experience.jsonl")) == 2


def test_what_other_scenarios_learned_stays(planweave: CommandLine, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path))
    assert planweave(*QUICK, *out).returncode == 0
    before = read_paths(tmp_path / "dqa-experience.jsonl")
    locating = ("learn", "dqa", "--quick", "--scenario", "locating", "--generations", "1")
    run = planweave(*locating, *out)
    assert run.returncode == 0, run.stderr
    assert "Kept there, of other runs: building" in run.stdout
    paths = read_paths(tmp_path / "dqa-experience.jsonl")
    assert paths[:2] == before
    assert [path.task for path in paths[2:]] == ["locating"] * 2
    card = json.loads((tmp_path / "dqa-experience.json").read_text())
    first, second = card["courses"]
    assert (first["scenario"], second["scenario"]) == ("building", "locating")
    assert card["command"] == f"{first['command']} ; {second['command']}"
    assert all(one["seconds"] > 0 for one in card["courses"])
    curves = json.loads((tmp_path / "curve.json").read_text())
    assert [len(curve["points"]) for curve in curves] == [3, 2]
    again = planweave(*locating, *out)  # done before: nothing is learned, nothing doubled
    assert again.returncode == 0, again.stderr
    assert read_paths(tmp_path / "dqa-experience.jsonl") == paths
    assert json.loads((tmp_path / "dqa-experience.json").read_text())["courses"] == card["courses"]


def test_files_that_cannot_be_added_to_are_told_first(
    planweave: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "curve.json").write_text("{}")
    run = planweave(*QUICK, "--out", str(tmp_path))
    assert_one_clear_error(run, "curve.json", "--out")
    assert not (tmp_path / "experience.sqlite").exists()


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (("--seeds", "one"), "seeds"),
        (("--scenario", "chess"), "chess"),
    ],
)
def test_what_is_wrong_is_said(
    given: tuple[str, ...], word: str, planweave: CommandLine, tmp_path: Path
) -> None:
    assert_one_clear_error(planweave("learn", "dqa", *given, "--out", str(tmp_path)), word)
