"""The real environments with published data: known paths solve them."""

import importlib.util
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from cases import cases
from published import published

from planweave.tools.environments import Environment, Task, open_environment

pytestmark = pytest.mark.published


def solved(world: Environment, tasks: Sequence[Task]) -> list[float]:
    """The score of each task when its gold path is done."""
    scores = []
    for task in tasks:
        world.reset(task)
        seen = [world.step(action) for action in task.gold or ()]
        assert seen[-1].done
        scores.append(seen[-1].score)
    return scores


@cases("dev_distractor_subset", "train_distractor_subset")
def test_hotpotqa(file: str) -> None:
    with open_environment("hotpotqa", published(f"hotpotqa/{file}.jsonl.gz")) as world:
        tasks = world.tasks()
        assert len({task.id for task in tasks}) == len(tasks) > 200
        assert set(solved(world, tasks)) == {1.0}


def test_webshop() -> None:
    with open_environment("webshop", published("webshop")) as world:
        tasks = world.tasks()
        assert len(tasks) > 100
        assert set(solved(world, tasks)) == {1.0}


def test_alfworld() -> None:
    data = published("alfworld")
    if importlib.util.find_spec("alfworld") is None:
        pytest.skip("ALFWorld is not installed: pip install 'alfworld>=0.4.2'")
    with open_environment("alfworld", data) as world:
        tasks = world.tasks("valid_unseen")
        begin = world.reset(tasks[0]).text
        assert begin.startswith("You are in the middle of a room.")
        assert begin.endswith(f"Your task is to: {tasks[0].question}")
        assert world.step("fly to the moon").text == "Nothing happens."
        assert (tasks[0].gold or ("",))[0] in world.admissible()
        assert solved(world, tasks[:1]) == [1.0]


def test_scienceworld() -> None:
    data = published("scienceworld/gold_trajectories.jsonl.gz")
    if shutil.which("java") is None or importlib.util.find_spec("scienceworld") is None:
        pytest.skip("ScienceWorld needs a Java runtime and pip install 'planweave[environments]'")
    before = simulators()
    with open_environment("scienceworld", data) as world:
        tasks = sorted(world.tasks("test"), key=lambda task: len(task.gold or ()) or 1000)
        assert world.reset(tasks[0]).text.startswith("This room is called")
        assert "No known action matches" in world.step("fly to the moon").text
        assert "look around" in world.admissible()
        assert solved(world, tasks[:2]) == [1.0, 1.0]
        (java,) = simulators() - before
        assert b"-Xmx1g" in Path(f"/proc/{java}/environ").read_bytes()
    deadline = time.monotonic() + 30
    while java in simulators():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_scienceworld_without_a_file() -> None:
    if shutil.which("java") is None or importlib.util.find_spec("scienceworld") is None:
        pytest.skip("ScienceWorld needs a Java runtime and pip install 'planweave[environments]'")
    with open_environment("scienceworld") as world:
        tasks = world.tasks("test")
        assert len(tasks) == 1819
        assert len({task.kind for task in world.tasks()}) == 30
        (boil,) = (task for task in tasks if task.id == "boil/21/easy")
        assert "boil lead" in world.described(boil).question
        assert world.reset(boil).text.startswith("This room is called")


def simulators() -> set[int]:
    """The processes that run ScienceWorld's program, whoever started them."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended since
            words = file.read_bytes().split(b"\0")
            if words[0].endswith(b"java") and any(b"scienceworld" in word for word in words):
                found.add(int(file.parent.name))
    return found
