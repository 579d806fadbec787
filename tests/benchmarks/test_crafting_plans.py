"""The benchmark of the executor of plans: right plans, and what comes of spoiling them."""

import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from published import published

from planweave.benchmarks.suites.rat import crafting_plans
from planweave.benchmarks.suites.rat.crafting_plans import AS_OFTEN, FEWER, LACKING, RIGHT, run
from planweave.tools.crafting import load_world

KEPT = Path(__file__).parents[2] / "results" / "crafting.json"


def made(kind: str, item: str, count: int, **needs: int) -> dict[str, object]:
    return {"type": kind, "output": {item: count}, "precondition": needs, "tool_any": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A world: of a log come four planks; a chest takes eight of them, a sign three."""
    actions = [
        made("mine", "log", 1),
        made("craft", "planks", 4, log=1),
        made("craft", "chest", 1, planks=8),
        made("craft", "sign", 1, planks=3),
    ]
    goals = [{"item": "chest"}, {"item": "sign"}]
    for name, rows in (("actions", actions), ("items", []), ("goals", goals)):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "smelting.json").write_text('{"fuel_items_per_unit": {"log": 1.5}}')
    return tmp_path


def test_the_plans_of_each_kind_are_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "out.json"
    assert crafting_plans.main(["--data", str(folder), "--output", str(out)]) == 0
    told = json.loads(out.read_text())
    assert [(row["kind"], row["accepted"], row["plans"]) for row in told["result"]] == [
        (RIGHT, 2, 2),
        (LACKING, 0, 6),
        (AS_OFTEN, 1, 1),
        (FEWER, 0, 2),
    ]
    assert not any(row["unexpected"] for row in told["result"])
    assert str(folder) not in out.read_text()
    assert "2 of 2     accepted" in capsys.readouterr().out


def test_a_verdict_that_is_not_expected_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crafting_plans, "make_plan", lambda goal, world: None)
    right, *others = run(load_world(folder))
    assert (right.plans, right.accepted, right.unexpected) == (2, 0, ["chest: ", "sign: "])
    assert [one.plans for one in others] == [0, 0, 0]


def test_without_a_world_there_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crafting_plans.main(["--data", str(tmp_path)]) == 1
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.published
def test_the_published_world_comes_to_what_was_kept() -> None:
    found = run(load_world(published("minecraft")))
    assert [asdict(one) for one in found] == json.loads(KEPT.read_text("utf-8"))["result"]
