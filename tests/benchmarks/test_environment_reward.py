"""Paths rewarded by the environment's score, and agents trained by it."""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from bag_of_words import embed
from bench_command import invoke
from json_lines import write_lines
from typer.testing import Result

from planweave.apps.cli.train import app
from planweave.benchmarks.suites.environment.play import Gold, play
from planweave.benchmarks.suites.environment.reward import EnvironmentReward, PlayedPath
from planweave.learning import agents_file
from planweave.learning.agent_batches import AgentSettings
from planweave.learning.guide import Guide
from planweave.learning.paths import TaskPath
from planweave.tools.environments import EnvironmentFailed, Observation, Task, open_environment
from planweave.tools.environments.base import Environment

WRITERS = {"Alpha": "Ann Lee", "Beta": "Bob Ray", "Gamma": "Cid Fox", "Delta": "Dan Orr"}
WRITERS |= {"Kappa": "Eve Poe", "Sigma": "Fay Hill", "Omega": "Gus Kent", "Theta": "Hal Moss"}
"""Who wrote which book, four for each of two types of question."""


def asked(book: str) -> str:
    return f"Who wrote {book}?" if book in list(WRITERS)[:4] else f"Which club honours {book}?"


def path(book: str, *instructions: str) -> TaskPath:
    return TaskPath("", asked(book), instructions or (f"Search[{book}]", "Finish[it]"))


KNOWN = [path(book) for book in WRITERS]


class Library(Environment):
    """A world where the name of a book has to be searched for; it notes what is begun."""

    name = "hotpotqa"

    def __init__(self, *, breaks: bool = False) -> None:
        self.begun: list[str] = []
        self._breaks, self._score = breaks, 0.0

    def tasks(self, split: str = "") -> Sequence[Task]:
        return [Task(id=f"{n}", kind="", question=asked(book)) for n, book in enumerate(WRITERS)]

    def reset(self, task: Task) -> Observation:
        self.begun.append(task.id)
        self._score = 0.0
        return Observation("")

    def step(self, action: str) -> Observation:
        if self._breaks and action.startswith("Finish"):
            raise EnvironmentFailed("The library burns.")
        self._score += 0.5 * any(action == f"Search[{book}]" for book in WRITERS)
        return Observation("A page.", done=action.startswith("Finish"), score=self._score)

    def admissible(self) -> tuple[str, ...]:
        return ()


def rewarded(
    world: Library, kept: Path, most: int = 9, tasks: slice = slice(None)
) -> EnvironmentReward:
    return EnvironmentReward(
        world, world.tasks()[tasks], Guide(KNOWN, embed), most, kept, print, lambda _: None
    )


def test_a_path_is_worth_what_its_player_scores(tmp_path: Path) -> None:
    counted: list[int] = []
    kept = tmp_path / "kept.jsonl"
    _, games = files(tmp_path)
    with open_environment("hotpotqa", games) as world:
        reward = EnvironmentReward(
            world, world.tasks(), Guide(KNOWN, embed), 9, kept, print, counted.append
        )
        with closing(reward):
            assert reward(path("Alpha"), ("Search[{1}]", "Finish[{answer}]")) == 1
            assert reward(path("Alpha"), ("Finish[{answer}]",)) == 0  # nothing was read
    assert counted == [1, 2]
    first, second = (PlayedPath.model_validate_json(line) for line in read(kept))
    assert first.path == ("Search[Alpha]", "Finish[{answer}]")
    assert (first.environment, first.steps, second.steps) == ("hotpotqa", 2, 1)
    assert first.task == second.task == world.tasks()[0].id


def read(kept: Path) -> list[str]:
    return kept.read_text("utf-8").splitlines()


def test_no_episode_is_played_twice(tmp_path: Path) -> None:
    world, kept = Library(), tmp_path / "kept.jsonl"
    with closing(rewarded(world, kept)) as reward:
        one = reward(path("Alpha"), ("Search[{1}]",))
        assert reward(path("Alpha"), ["Search[{1}]"]) == one == 0.5
        assert reward(path("Beta"), ("Search[{1}]",)) == 0.5  # the same path, filled otherwise
        assert reward(path("Beta"), ("Search[{2} {1}]",)) == 0.5  # another one, filled alike
        assert world.begun == ["0", "1"]
    with closing(rewarded(world, kept)) as again:
        assert (again.known, again(path("Alpha"), ("Search[{1}]",)), again.played) == (2, 0.5, 0)
    assert world.begun == ["0", "1"]
    with closing(rewarded(world, kept, most=1)) as shorter:
        assert shorter(path("Alpha"), ("Lookup[x]", "Search[{1}]")) == 0  # ends before it searches
    assert world.begun == ["0", "1", "0"]


def test_a_broken_episode_counts_as_far_as_it_came(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    with closing(rewarded(Library(breaks=True), kept)) as reward:
        assert reward(path("Alpha"), ("Search[{1}]",)) == 0.5
        assert reward.given_up == ["The library burns."]
    with closing(rewarded(Library(), kept)) as again:
        assert again.given_up == ["The library burns."]


def test_what_a_failed_beginning_took_is_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Library):
        def reset(self, task: Task) -> Observation:
            raise EnvironmentFailed("There is no library.")

    world = Gone()
    (played,) = play(world, world.tasks()[:1], Gold)
    assert played.error == "There is no library."
    assert played.reset_seconds > 0
    assert (played.choice_seconds, played.step_seconds) == (0, 0)


def files(folder: Path) -> tuple[Path, Path]:
    """Paths of two types of question, and the questions in HotpotQA's form.

    Those of the second type have an answer that the player does not find.
    """
    pages = [[book, [f"{book} is a book.", f" It is by {name}."]] for book, name in WRITERS.items()]
    games = [
        {
            "question": asked(book),
            "answer": name if asked(book).startswith("Who") else "nobody",
            "context": pages,
        }
        for book, name in WRITERS.items()
    ]
    paths = [
        {
            "question": asked(book),
            "gold_answer": name,
            "steps": [{"action": f"Search[{book}]"}, {"action": f"Finish[{name}]"}],
            "success": True,
        }
        for book, name in WRITERS.items()
    ]
    return write_lines(folder / "paths.jsonl", *paths), write_lines(folder / "games.jsonl", *games)


Train = Callable[..., Result]


@pytest.fixture
def train(word_vectors: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Train:
    """``planweave train instructrag`` on small agents and few steps."""
    small = partial(AgentSettings, width=8, layers=1, warm_steps=20, pre_steps=5)
    monkeypatch.setattr("planweave.learning.agent_batches.AgentSettings", small)
    data, _ = files(tmp_path)
    words = ("--environment", "hotpotqa", "--data", data, "--out", tmp_path / "out")
    few = ("--iterations", 2, "--questions", 2, "--others", 2)
    without = ("--without", "pre-training,fine-tuning")  # which see no score
    return partial(invoke, app, "instructrag", *words, *few, *without)


@pytest.mark.slow
def test_agents_are_trained_by_the_score(train: Train, tmp_path: Path) -> None:
    words = ("--reward", "environment", "--games", tmp_path / "games.jsonl")
    told = train(*words).output
    assert "4 of 4 questions are tasks of the environment" in told
    lines = read(tmp_path / "out" / "episodes.jsonl")
    assert f"{len(lines)} episodes played, 0 known from before" in told
    assert {PlayedPath.model_validate_json(line).score for line in lines} == {0, 1}
    agents = tmp_path / "out" / "instructrag.npz"
    card = agents_file.load_agents(agents).card
    assert card.reward == "environment"
    assert all(0 < each < 1 for each in card.rewards)
    again = train(*words).output  # trained again, with stored episodes
    assert f"0 episodes played, {len(lines)} known from before" in again
    assert read(tmp_path / "out" / "episodes.jsonl") == lines
    assert agents_file.load_agents(agents).card.rewards == card.rewards


@pytest.mark.slow
def test_questions_without_a_task_are_not_asked(train: Train, tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    lines = read(games)
    games.write_text("\n".join(lines[:4]), "utf-8")  # of one type of question
    words = ("--reward", "environment", "--games", games)
    told = train(*words).output
    assert "2 of 4 questions are tasks of the environment; the others are left out." in told
    assert agents_file.load_agents(tmp_path / "out" / "instructrag.npz").card.tasks == {"person": 4}
    games.write_text(json.dumps({**json.loads(lines[0]), "question": "Who?"}), "utf-8")
    train(*words, fails="None of the questions of these paths is a task")


def test_the_score_and_its_tasks_come_together(train: Train) -> None:
    for words in (("--reward", "environment"), ("--games", "games.jsonl")):
        train(*words, fails="Only the reward environment needs tasks")
