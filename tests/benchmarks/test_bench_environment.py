"""The benchmark of environments: players without a language model, and samples with one."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from bench_command import bench
from cases import cases
from json_lines import write_lines
from records import record, score
from scripted import Replies, register
from worlds import encyclopedia, shop, small_agents, solved

from planweave import BadInput
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.store import read
from planweave.benchmarks.suites.environment.play import (
    Gold,
    path_followers,
    play,
    play_table,
    summarise,
)
from planweave.benchmarks.suites.environment.players import Reader, Walker
from planweave.benchmarks.suites.environment.suite import EnvironmentTasks
from planweave.learning.guide import make_guide
from planweave.learning.paths import read_paths
from planweave.tools.environments import Observation, episodes, open_environment


@pytest.fixture(autouse=True)
def _vectors(word_vectors: None) -> Iterator[None]:
    yield
    episodes.close_all()


run = partial(bench, "environment", "--name", "hotpotqa")


def results(out: Path) -> list[Record]:
    (file,) = out.glob("*.jsonl")
    return [*read(file).records.values()]


def test_gold_paths_are_replayed(tmp_path: Path) -> None:
    with open_environment("webshop", shop(tmp_path)) as world:
        played = list(play(world, world.tasks(), Gold))
        made = summarise("gold", played, world)
    ends = [(one.score, one.done, one.recall, one.steps) for one in played]
    assert ends == [(1.0, True, 1.0, 4), (1.0, True, 1.0, 3)]
    assert (made.score.value, made.success.n, made.crashes, made.given_up) == (1.0, 2, 0, [])
    assert made.kinds == {"fashion": (1.0, 1), "garden": (1.0, 1)}
    with pytest.raises(BadInput, match="no task to play"):
        summarise("gold", [], world)


@pytest.mark.usefixtures("toy_shop")
def test_crashes_of_the_environment_are_counted_for_players() -> None:
    with open_environment("toy") as world:
        task = replace(world.tasks()[0], gold=("crash", "count", "count"))
        made = summarise("gold", list(play(world, [task], Gold)), world)
    shown = play_table("toy", [made, made])
    assert shown.columns[-2:] == ("steps a second", "environment's crashes")
    assert [row[-1] for row in shown.rows] == [1, 1]


@cases(True, False)
def test_paths_are_followed_in_the_encyclopedia(proposed: bool, tmp_path: Path) -> None:
    guide = make_guide(tuple(read_paths(solved(tmp_path))))
    with open_environment("hotpotqa", encyclopedia(tmp_path)) as world:
        players = path_followers(world, guide, proposed=proposed)
        first, second = play(world, world.tasks(), players)
        assert first.recall == 1.0  # Finlandia is named, Jean Sibelius is found there
        assert second.steps >= 1
        world.name = "chess"
        with pytest.raises(BadInput, match="No policy follows paths in the environment 'chess'"):
            path_followers(world, guide, proposed=proposed)


def nothing() -> tuple[str, ...]:
    return ()


@cases(
    ("Is Oslo a town?", "Oslo lies in Norway.", "yes"),
    ("When was Oslo founded?", "It was founded in 1048.", "1048"),
    ("How many people live in Oslo?", "It has 709,037 people.", "709,037"),
    ("Who is older, Ann Lee or Bob Ray?", "Both are old.", "Ann Lee"),
    ("Who wrote Finlandia?", "Finlandia is by Jean Sibelius.", "Jean Sibelius"),
)
def test_a_reader_answers_by_the_form_asked(question: str, seen: str, answer: str) -> None:
    reader = Reader(question, ["Finish[{answer}]"], ["Ann Lee"])
    assert reader.act(Observation(seen), nothing) == f"Finish[{answer}]"


def test_a_reader_continues_with_what_it_found() -> None:
    path = ["Search[Finlandia {asked}]", "Lookup[{asked}]", "Search[{found}]", "Finish[{answer}]"]
    reader = Reader("Where was the composer of Finlandia born?", path, ["Finlandia"])
    seen = ("", "Could not find [x]. Similar: ['Finlandia (Sibelius)'].", "By Jean S, who")
    done = [reader.act(Observation(one), nothing) for one in seen]
    assert done[:2] == ["Search[Finlandia]", "Search[Finlandia (Sibelius)]"]
    assert str(done[2]).startswith("Lookup[Where was the composer")
    assert reader.act(Observation("By Jean S, who"), nothing) == "Search[Jean S]"


def test_a_walker_looks_elsewhere_and_opens_what_is_closed() -> None:
    path = ["go to shelf 3", "take mug 1 from shelf 3", "go to desk", "move mug 1 to desk 2"]
    walker = Walker(path)
    places = ("go to shelf 1", "go to fridge 1", "go to desk 1")
    rounds = [
        (places, "go to shelf 1"),
        ((*places, "look"), "go to fridge 1"),
        ((*places, "open fridge 1"), "open fridge 1"),
        ((*places, "take mug 2 from fridge 1"), "take mug 2 from fridge 1"),
        (places, "go to desk 1"),
        (("move mug 2 to desk 1",), "move mug 2 to desk 1"),
        (places, None),
    ]
    done = [walker.act(Observation(""), lambda now=now: now) for now, _ in rounds]  # type: ignore[misc]
    assert done == [action for _, action in rounds]
    lost = Walker(["take mug from shelf"])  # it gives up when it was everywhere
    assert [lost.act(Observation(""), lambda: places[:1]) for _ in range(2)] == [places[0], None]


def test_the_command_without_a_model(tmp_path: Path) -> None:
    told = run(
        *("--data", encyclopedia(tmp_path)),
        *("--paths", solved(tmp_path), "--policy", "gold,nearest,form,path", "--split", "dev"),
        *("--agents", small_agents(tmp_path), "--out", tmp_path / "out", "--json"),
    )
    made = json.loads(told.stdout)
    assert made == json.loads((tmp_path / "out" / "hotpotqa.json").read_text())
    assert [one["policy"] for one in made["policies"]] == [*("gold", "nearest", "form", "path")]
    assert made["policies"][0]["score"]["value"] == 1
    assert {one["task"] for one in made["tasks"]["path"]} == {"q1"}
    assert (made["known"], made["split"], made["paths"]) == (3, "dev", "paths.jsonl")
    assert made["agents"] == "agents.npz"


def test_paths_of_the_very_tasks_are_left_out(tmp_path: Path) -> None:
    question = "In which country was the composer of Finlandia born?"
    known = {"question": question, "steps": [{"action": "Finish[Finland]"}], "success": True}
    own = write_lines(tmp_path / "own.jsonl", known)
    words = ("--data", encyclopedia(tmp_path), "--paths", own, "--policy", "path")
    run(*words, fails="There are no paths to follow")
    run(*words, "--agents", "as-published", fails="planweave train instructrag --as-published")


def test_the_command_with_a_model(tmp_path: Path) -> None:
    finish = {"thought": "So.", "action": "Finish[Finland]"}
    script = Replies(action=[finish] * 4)
    command = (
        *("--data", encyclopedia(tmp_path)),
        *("--paths", solved(tmp_path), "--policy", "react,instructrag", "--split", "dev"),
        *("--agents", small_agents(tmp_path)),
        *("--model", register(script), "--out", tmp_path / "out", "--json"),
    )
    made = json.loads(run(*command).stdout)
    assert "environment" in json.dumps(made)
    assert (made["runs"][0]["data"]["chosen"], made["runs"][0]["data"]["questions"]) == (1, 1)
    assert " · 1 of 1 questions · " in (tmp_path / "out" / "hotpotqa" / "report.md").read_text()
    again = run(*command)
    assert "2 done before, 0 to do" in again.stderr
    scores = {one.method: one.score.value for one in results(tmp_path / "out" / "hotpotqa")}
    assert scores == {"react": pytest.approx(0.5), "instructrag": pytest.approx(0.5)}


@pytest.mark.usefixtures("toy_shop")
def test_a_missing_library_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_MISSING", "1")
    words = ("--name", "toy", "--policy", "react,rap", "--model", register(Replies()))
    run(*words, "--out", tmp_path / "out", fails="there is no toy")
    assert not results(tmp_path / "out" / "toy")


@pytest.mark.usefixtures("toy_shop")
def test_crashes_of_the_environment_are_in_the_report(tmp_path: Path) -> None:
    done = ["count", "crash", "hang", "count"]
    script = Replies(action=[{"thought": "So.", "action": action} for action in done])
    words = ("--name", "toy", "--policy", "react", "--model", register(script))
    run(*words, "--out", tmp_path / "out")
    (score,) = (one.score for one in results(tmp_path / "out" / "toy"))
    assert (score.value, score.details["crashes"], score.details["timeouts"]) == (1, 1, 1)
    report = (tmp_path / "out" / "toy" / "report.md").read_text()
    assert "success | environment's crashes | environment's time-outs |" in report
    assert "(1) | 1 | 1 |" in report


def test_models_are_separate_in_the_report() -> None:
    records = [
        record("1", "react", suite="environment", model=model, key=model, score=found)
        for model, found in (
            ("good", score(1, "over", kind="fashion", done=True)),
            ("bad", score(0, "over", kind="fashion", done=True)),
        )
    ]
    (shown,) = EnvironmentTasks().tables(records)
    shares = [(row[0], str(row[2])[:4]) for row in shown.rows]
    assert shares == [("react good", "100."), ("react bad", "0.0%")]


def test_a_purchase_counts_as_an_answer(tmp_path: Path) -> None:
    buys = ["search[scarf]", "click[B000000002]", "click[Buy Now]"] * 2
    script = Replies(action=[{"thought": "So.", "action": action} for action in buys])
    words = ("--name", "webshop", "--data", shop(tmp_path), "--policy", "react")
    run(*words, "--model", register(script), "--out", tmp_path / "out")
    scores = [one.score for one in results(tmp_path / "out" / "webshop")]
    assert [score.answer for score in scores] == ["over"] * 2
    assert all(score.value < 1 for score in scores)
    report = (tmp_path / "out" / "webshop" / "report.md").read_text()
    assert "| react | fashion |" in report
    assert "| react | garden |" in report
