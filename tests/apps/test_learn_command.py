"""planweave learn dqa."""

import json
from pathlib import Path

import pytest
from command_line import CommandLine, assert_one_clear_error

from learning.paths import read_paths

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
