"""The simulator benchmark: both implementations agree, and disagreement is told."""

import json
from pathlib import Path

import pytest

from planweave.benchmarks import simulators
from planweave.simulators import registry
from planweave.simulators.published import save


def test_json_lines_for_generated_and_given_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = registry.scenario("locating")
    save([scenario.ask(scenario.generate(9, 80), 1)], tmp_path)
    arguments = ["--size", "80", "--questions", "2", "--data", str(tmp_path), "--json"]
    assert simulators.main(arguments) == 0
    results = json.loads(capsys.readouterr().out)
    assert [(r["scenario"], r["questions"]) for r in results] == [
        ("locating", 2),
        ("building", 2),
        ("locating", 1),
    ]
    assert all(r["disagreements"] == 0 and r["simulate_ms"] > 0 for r in results)


def test_disagreement_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = simulators.plain_building
    monkeypatch.setitem(
        simulators.PLAIN,
        "building",
        lambda world, parameters: {k: v + 1 for k, v in plain(world, parameters).items()},
    )
    assert simulators.main(["--size", "60", "--questions", "1"]) == 1
    assert "1 DISAGREE" in capsys.readouterr().out


@pytest.mark.parametrize("semantics", ["printed", "annotation"])
@pytest.mark.parametrize("name", ["locating", "building"])
def test_both_implementations_agree_on_every_value(name: str, semantics: str) -> None:
    scenario = registry.scenario(name)
    for seed in range(4):
        world, parameters = scenario.generate(seed, 150)
        asked = {**parameters, "semantics": semantics}
        outcome = scenario.simulate(world, asked)
        plain = simulators.PLAIN[name](world, asked)
        assert outcome.values.tolist() == pytest.approx([plain[c] for c in outcome.candidates])


def test_a_wrong_path_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulators.main(["--data", "/nowhere", "--size", "20", "--questions", "1"]) == 1
    assert "There is no file or folder /nowhere." in capsys.readouterr().err
