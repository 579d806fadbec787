"""Which path is retrieved: tasks, tables, and the commands around the training."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import bag_of_words
import numpy as np
import pytest
from bag_of_words import WordEmbeddings
from bench_command import bench, invoke
from cases import cases
from json_lines import write_lines
from published import published

from planweave import BadInput
from planweave.apps.cli.train import app
from planweave.benchmarks.core.metrics import Estimate
from planweave.benchmarks.suites.paths import measure as suite
from planweave.benchmarks.suites.paths.instruction_graph import sweep
from planweave.benchmarks.suites.paths.tasks import answer_type, goods_type, load, split_tasks
from planweave.learning import agents_file
from planweave.learning.agent_batches import Agents, AgentSettings, to_numpy
from planweave.learning.agents_file import AgentsCard
from planweave.learning.graph_states import FEATURES, PRINTED, Survey
from planweave.learning.guide import make_guide
from planweave.learning.meta_training import Trained, TrainingPoint, new_agents
from planweave.learning.paths import TaskPath, read_paths, write_paths
from planweave.models import register_embeddings

pytestmark = pytest.mark.usefixtures("word_vectors")
paths = partial(bench, "paths", "--environment", "alfworld")
train = partial(invoke, app)


@cases(
    ("Are both in Spain?", "Yes", "yes or no"),
    ("Which is older, Ezhou or Quzhou?", "Quzhou", "choice"),
    ("When was the author born?", "12 May 1943", "date"),
    ("How many films are there?", "16", "number"),
    ("The mayor who left was named how?", "Ann Lee", "person"),
    ("In which city was it formed?", "London", "location"),
    ("What team do they have in common?", "Tampa Bay Buccaneers", "organisation"),
    ("What film has Don Johnson?", "Stull", "work"),
    ("What battle ended it?", "Waterloo", "event"),
    ("What is his nationality?", "American", "adjective"),
    ("What is his profession?", "actor", "common noun"),
    ("What is it called?", "Stull", "proper noun"),
)
def test_the_twelve_answer_types(question: str, answer: str, expected: str) -> None:
    assert answer_type({"question": question, "gold_answer": answer}) == expected
    assert answer_type({"question": question, "gold_answer": answer, "split": "dev"}) == ""


@cases(
    ("a warm striped cardigan for winter", "fashion"),
    ("a small perfume of roses, cheaper than 40 dollars", "beauty"),
    ("gluten free syrup of pears in a large bottle", "grocery"),
    ("a quiet usb microphone on a stand", "electronics"),
    ("a round table of light wood", "home"),
    ("a screwdriver", "home"),  # no word is found inside another
)
def test_the_kinds_of_goods(instruction: str, expected: str) -> None:
    assert goods_type({"question": instruction}) == expected


def trajectories(folder: Path) -> Path:
    """Two tasks with six paths each, a failed one, and one that only answers."""
    records: list[dict[str, object]] = [
        {
            "question": f"get {kind} for person{number}",
            "task_type": kind,
            "success": True,
            "steps": [{"action": f"{verb} {kind}"}, {"action": f"give {kind}"}],
        }
        for kind, verb in (("stone", "dig"), ("fruit", "pick"))
        for number in range(6)
    ]
    records.append({**records[0], "question": "get stone for nobody", "success": False})
    records.append({**records[0], "steps": [{"action": "Finish[yes]"}]})
    return write_lines(folder / "some.jsonl", *records)


def test_half_of_the_tasks_are_seen_and_half_of_each_is_support(tmp_path: Path) -> None:
    given = load("alfworld", trajectories(tmp_path))
    assert len(given) == 13
    made = split_tasks(given, 1)
    assert {task.name for task in (*made.seen, *made.unseen)} == {"stone", "fruit"}
    assert [len(part) for part in (made.seen, made.unseen)] == [1, 1]
    for task in (*made.seen, *made.unseen):
        assert (len(task.support), len(task.query)) == (3, 3)
        asked = {path.question for path in task.support}
        assert asked.isdisjoint(path.question for path in task.query)
    assert made.failed[0].question == "get stone for nobody"
    stored = {path.question: path for task in (*made.seen, *made.unseen) for path in task.support}
    for path in made.failed[1:]:
        assert path.instructions != stored[path.question].instructions
    assert split_tasks(given, 1) == made
    assert {split_tasks(given, seed).seen[0].name for seed in range(8)} == {"stone", "fruit"}


def test_a_task_of_one_question_cannot_be_halved(tmp_path: Path) -> None:
    file = trajectories(tmp_path)
    lines = file.read_text("utf-8").splitlines()
    once = [
        {"task_type": "once", "question": "?", "steps": [{"action": f"go to shelf {number}"}]}
        for number in range(5)
    ]
    file.write_text("\n".join([*lines, *map(json.dumps, once)]), "utf-8")
    made = split_tasks(load("alfworld", file), 1)
    assert {task.name for task in (*made.seen, *made.unseen)} == {"stone", "fruit"}
    file.write_text("\n".join(lines[:6]), "utf-8")
    with pytest.raises(BadInput, match="too few successful paths"):
        load("alfworld", file)


@pytest.mark.published
@cases(("webshop", "webshop_react500", 321, 2, 3), ("hotpotqa", "hotpotqa_success", 40, 6, 6))
def test_published_trajectories_make_tasks(
    name: Literal["webshop", "hotpotqa"], file: str, failed: int, seen: int, unseen: int
) -> None:
    given = load(name, published(f"trajectories/{file}.jsonl.gz"))
    assert "Reflexion" not in {path.origin for path in given}  # questions of the dev split
    made = split_tasks(given, 1)
    assert (len(made.seen), len(made.unseen)) == (seen, unseen)
    assert sum(path.reward < 1 for path in given) == failed


def line(seed: int, part: str, name: str, *f1: float) -> suite.Measured:
    recalls = (0.0, 0.25, 0.5, 0.75, 1.0)
    scores = [suite.PathScore(f"q{place}", value, recalls) for place, value in enumerate(f1)]
    return suite.Measured(seed=seed, part=part, name=name, scores=scores)


LINES = [
    line(1, "ablation", suite.FULL, 0.5, 1.0),
    line(1, "ablation", suite.RAP, 0.0, 1.0),
    line(2, "ablation", suite.FULL, 0.5, 0.5),
    line(2, "ablation", suite.RAP, 0.5, 0.5),
    line(1, "ablation", suite.OUR_RAP, 0.5, 0.5),
    line(1, "ablation", suite.RULE, 0.0, 0.0),
    line(2, "ablation", suite.RULE, 0.0, 1.0),
    line(1, "candidates", "K = 1", 1.0, 1.0),
    line(1, "noise", "RAP, 25%", 0.0, 0.0),
    line(1, "noise", "InstructRAG, 25%", 0.25, 0.25),
]


def test_rows_are_means_over_seeds_compared_with_rap() -> None:
    full, rap, ours, rule, one, noisy_rap, noisy = suite.table_rows(LINES)
    assert (full.questions, full.f1.value, full.by_seed) == (4, 0.625, [0.75, 0.5])
    assert full.f1.low <= 0.625 <= full.f1.high
    assert [each.value for each in full.recalls] == [0, 0.25, 0.5, 0.75, 1]
    assert set(full.over) == {suite.RAP, suite.RULE}  # the others not with the second seed
    assert full.over[suite.RAP].value == pytest.approx(0.125)
    assert full.over[suite.RULE].value == pytest.approx(0.375)
    assert set(rap.over) == {suite.RULE}
    assert rule.over[suite.RAP].value == pytest.approx(-0.25)
    assert ours.over[suite.RAP].value == 0
    assert one.over[suite.OUR_RAP].value == pytest.approx(0.5)
    assert noisy_rap.over == {}
    assert noisy.over == {suite.RAP: Estimate(0.25, 0, 0.25, 0.25, 2, 2)}


def test_measured_lines_are_not_measured_again(tmp_path: Path) -> None:
    data, out = trajectories(tmp_path), tmp_path / "out"
    out.mkdir()
    about = suite.settings_digest(load("alfworld", data), 10)
    mine = [each.model_copy(update={"about": about}) for each in LINES]
    other = line(1, "ablation", suite.FULL, 0.0, 0.0)  # of other paths, or fewer iterations
    kept = "".join(each.model_dump_json() + "\n" for each in (other, *mine))
    (out / "alfworld.jsonl").write_text(kept, "utf-8")
    words = ("--data", data, "--out", out, "--iterations", 10)
    report = json.loads(paths(*words, "--seed", 1, "--seed", 2, "--json").stdout)
    assert report["result"][0]["by_seed"] == [0.75, 0.5]
    assert report["paths"] == 13
    assert str(tmp_path) not in report["command"]
    assert (out / "alfworld.jsonl").read_text("utf-8") == kept
    shown = paths(*words, "--seed", 1).output
    assert "Retrieved paths: ablation" in shown
    assert "…" not in shown  # all figures fit in 80 columns


@pytest.mark.slow
def test_agents_that_were_trained_before_are_tried(tmp_path: Path) -> None:
    data, agents, out = trajectories(tmp_path), saved(tmp_path), tmp_path / "out"
    words = ("--data", data, "--out", out, "--agents", agents, "--seed", 1)
    report = json.loads(paths(*words, "--json").stdout)
    assert report["iterations"] is None
    names = [row["name"] for row in report["result"] if row["part"] == "ablation"]
    assert names == [
        *(suite.FULL, suite.NO_POOL, suite.NO_GRAPH, suite.NO_RL, suite.RULE, suite.NO_ML),
        *(suite.RAP, suite.OUR_RAP, suite.NO_CALIBRATION),
    ]
    recalls = [[each["value"] for each in row["recalls"]] for row in report["result"]]
    assert all(each == sorted(each) and len(each) == suite.MOST for each in recalls)
    kept = (out / "alfworld.jsonl").read_text("utf-8")
    paths(*words)  # nothing is left to measure
    assert (out / "alfworld.jsonl").read_text("utf-8") == kept


Untrained = list[tuple[Survey, AgentSettings, Agents]]


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> Untrained:
    """What was to be trained, with what settings, and the small agents given instead."""
    asked: Untrained = []

    def no_training(
        survey: Survey, _m: object, _e: object, settings: AgentSettings, *_: object, **__: object
    ) -> Trained:
        agents = new_agents(replace(settings, width=8, layers=1), 64)
        asked.append((survey, settings, agents))
        return Trained(agents, [TrainingPoint(0.25, 1.0, 2.0), TrainingPoint(0.5, 0.5, 1.0)])

    monkeypatch.setattr("planweave.learning.meta_training.train", no_training)
    monkeypatch.setattr(suite, "train", no_training)
    return asked  # other tests cover the training


def test_trained_agents_have_a_card(tmp_path: Path, untrained: Untrained) -> None:
    data, out = trajectories(tmp_path), tmp_path / "out"
    words = ("--environment", "alfworld", "--data", data, "--out", out, "--iterations", 2)
    assert "2 iterations on 2 tasks" in train("instructrag", *words).output
    assert sorted(file.name for file in out.iterdir()) == [
        *("instructrag.json", "instructrag.npz", "instructrag.png")
    ]
    ((_, _, agents),) = untrained
    loaded = agents_file.load_agents(out / "instructrag.npz")
    assert loaded.card.rewards == [0.25, 0.5]
    assert loaded.card.tasks == {"stone": 6, "fruit": 6}
    for name, value in to_numpy(agents.rl).items():
        np.testing.assert_array_equal(loaded.rl[name], value)
    for name, value in to_numpy(agents.ml).items():
        np.testing.assert_allclose(loaded.ml[name], value, rtol=1e-3, atol=1e-6)  # half precision


@pytest.mark.slow
def test_as_published_there_are_no_slots(tmp_path: Path, untrained: Untrained) -> None:
    data, out = trajectories(tmp_path), tmp_path / "out"
    words = ("--environment", "alfworld", "--data", data, "--out", out, "--as-published")
    train("instructrag", *words)
    ((survey, _, _),) = untrained
    assert survey.slots is None
    assert {"dig stone", "give fruit"} <= {*survey.texts}
    loaded = agents_file.load_agents(out / "instructrag.npz")
    assert (loaded.card.published, loaded.card.features) == (True, PRINTED)
    guide = make_guide(tuple(load("alfworld", data)), str(out / "instructrag.npz"))
    proposed = guide.propose("get stone for person9", 2)
    assert {path.expected for path in proposed} == {0.0}
    assert guide.shown(proposed[0], "get stone for person9") == proposed[0][0]


@pytest.mark.slow
def test_the_papers_agents_have_a_name(tmp_path: Path, untrained: Untrained) -> None:
    data, out = trajectories(tmp_path), tmp_path / "out"
    words = ("--data", data, "--out", out, "--agents", "as-published", "--seed", 1, "--json")
    report = json.loads(paths(*words).stdout)
    assert (report["iterations"], report["delta"]) == (20, 0.4)
    names = [row["name"] for row in report["result"]]
    assert {f"{suite.FULL}, {tenths}0%" for tenths in (1, 2, 3, 4, 5)} <= {*names}
    assert not {suite.PRINTED, suite.NO_CALIBRATION} & {*names}
    timed = {row["name"] for row in report["result"] if row["seconds"]}
    assert timed == {suite.FULL, *(f"K = {k}" for k in range(1, suite.MOST + 1))}
    paths(*words, "--delta", 0.8)
    assert all(settings.printed for _, settings, _ in untrained)
    assert {settings.threshold for _, settings, _ in untrained} == {0.4, 0.8}
    lines = [json.loads(text) for text in (out / "alfworld.jsonl").read_text().splitlines()]
    assert len({line["about"] for line in lines}) == 2


def test_agents_are_adapted_to_a_task_by_a_few_paths(tmp_path: Path) -> None:
    before, data, out = saved(tmp_path), trajectories(tmp_path), tmp_path / "out"
    words = ("adapt", "--data", data, "--agents", before, "--out", out)
    assert "adapted to 6 of 6 paths" in train(*words, "--task", "stone").output
    old, new = agents_file.load_agents(before), agents_file.load_agents(out / "instructrag.npz")
    assert new.card.tasks == {"stone": 6}
    assert not np.array_equal(old.rl["w1"], new.rl["w1"])
    assert not np.array_equal(old.ml["path.token"], new.ml["path.token"])
    train(*words, "--task", "nothing", fails="too few paths of the task 'nothing'")
    train(*words, "--environment", "webshop", "--task", "stone", fails="types: grocery, home.")
    train(*words, "--environment", "webshop", "--task", "grocery")


def saved(folder: Path) -> Path:
    path = folder / "instructrag.npz"
    agents = new_agents(AgentSettings(width=8, layers=1), 64)
    card = AgentsCard(seed=1, date="2026-11-22", command="", tasks={}, rewards=[])
    agents_file.save(path, to_numpy(agents.rl), to_numpy(agents.ml), card)
    return path


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    card, weights = path.with_suffix(".json"), path.read_bytes()
    good = card.read_text("utf-8")
    for text, data, said in (
        (good.replace(f'"{FEATURES[-1]}"', '"other"'), weights, "another version"),
        (good, weights + b" ", "not the one that its card describes"),
        ("{}", weights, "is damaged"),
        (good, None, "cannot be read"),
    ):
        card.write_text(text, "utf-8")
        path.unlink(missing_ok=True)
        if data:
            path.write_bytes(data)
        with pytest.raises(BadInput, match=said):
            agents_file.load_agents(path)


PATHS = [
    TaskPath("film", "a", ("search director", "search director born", "finish 1956")),
    TaskPath("film", "b", ("search director", "finish 1946")),
    TaskPath("city", "c", ("lookup river", "finish 1956")),
]


def test_the_instruction_graphs_are_measured(tmp_path: Path) -> None:
    register_embeddings("bag", WordEmbeddings)
    file, out = tmp_path / "paths.jsonl", tmp_path / "out"
    write_paths(file, [*PATHS, TaskPath("film", "failed", ("finish",), reward=0.5)])
    words = ["instruction-graph", "--data", str(file), "--embeddings", "bag:1"]
    done = bench(*words, "--out", out, "--json")
    told = json.loads(done.stdout)
    assert told == json.loads((out / "instruction-graph.json").read_text())
    assert told["sweep"]["paths"] == 3
    assert told["sweep"]["lines"][0]["threshold"] == 0
    assert str(tmp_path) not in done.stdout
    write_paths(file, [TaskPath("film", "failed", ("finish",), reward=0.5)])
    bench(*words, fails="path")


@pytest.mark.published
def test_the_published_paths_grow_with_the_threshold() -> None:
    file = published("trajectories/hotpotqa_success.jsonl.gz")
    made = sweep([path for path in read_paths(file) if path.reward == 1], bag_of_words.embed)
    assert (made.paths, made.instructions) == (968, 2265)
    counts = [line.nodes for line in made.lines]
    assert counts == sorted(counts)
    assert counts[0] == 2
