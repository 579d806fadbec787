"""Environments: tasks, actions, what they show, the score, and processes that end."""

import importlib.util
import json
import lzma
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from json_lines import write_lines
from published import published
from toy_world import ToyShop
from worlds import GOALS, PRODUCTS, QUESTIONS, encyclopedia, published_shop, shop

from planweave import BadInput
from planweave.tools.environments import (
    ENVIRONMENTS,
    Environment,
    EnvironmentFailed,
    EnvironmentUnavailable,
    Task,
    episodes,
    open_environment,
)
from planweave.tools.environments.base import first_action, one_action
from planweave.tools.environments.episodes import Episode
from planweave.tools.environments.scienceworld import ScienceWorld
from planweave.tools.environments.webshop import Goal, Product, reward

ANYTHING = st.one_of(
    st.text(),
    st.sampled_from(["Search", "Lookup", "Finish", "click", "search"]).flatmap(
        lambda verb: st.text().map(lambda words: f"{verb}[{words}]")
    ),
)


LABORATORY = """
class ScienceWorldEnv:
    def __init__(self, *_, **__): self.server = self
    def get_task_names(self): return ["boil", "melt"]
    def load(self, name, variation, simplification): self.loaded = name, variation, simplification
    def get_variations_train(self): return [0, 1]
    def get_variations_dev(self): return [2]
    def get_variations_test(self): return [3]
    def get_task_description(self): return "Do {} {} {}.".format(*self.loaded)
    def reset(self): pass
    def freeActionLook(self): return f"You {self.loaded[0]}."
    def step(self, action): return action
    def getCompleted(self): return False
    def getScore(self): return 0.5
"""


def play(environment: Environment, task: Task, actions: Sequence[str]) -> float:
    """Do the actions; returns the score, and sees that only the last one ends the task."""
    environment.reset(task)
    *earlier, last = [environment.step(action) for action in actions]
    assert not any(seen.done for seen in earlier)
    assert last.done
    return last.score


def test_gold_paths_of_the_encyclopedia(tmp_path: Path) -> None:
    with open_environment("hotpotqa", encyclopedia(tmp_path)) as world:
        tasks = world.tasks()
        assert [play(world, task, task.gold or ()) for task in tasks] == [1, 1]
        gold = ("Search[Finlandia]", "Search[Jean Sibelius]", "Finish[the Republic of Finland]")
        assert tasks[0].gold == gold
        assert [task.question for task in world.tasks("train")] == [QUESTIONS[1]["question"]]
        again = open_environment("hotpotqa", encyclopedia(tmp_path))
        assert world.tasks()[1].id == again.tasks()[1].id
        world.reset(tasks[0])
        assert world.admissible() == ("Search[…]", "Finish[…]")


def test_the_official_file_of_hotpotqa_is_read(tmp_path: Path) -> None:
    kept = ("question", "answer", "type", "supporting_facts", "context")
    official = [{"_id": f"5a{n}", **{k: q[k] for k in kept}} for n, q in enumerate(QUESTIONS)]
    file = tmp_path / "hotpot_dev_distractor_v1.json.xz"
    file.write_bytes(lzma.compress(json.dumps(official).encode()))
    with open_environment("hotpotqa", file) as world:
        tasks = world.tasks()
        assert [task.id for task in tasks] == ["5a0", "5a1"]
        assert [play(world, task, task.gold or ()) for task in tasks] == [1, 1]
        with pytest.raises(BadInput, match=r"'dev'\. .* no splits: leave it out"):
            world.tasks("dev")


def test_search_lookup_finish(tmp_path: Path) -> None:
    world = open_environment("hotpotqa", encyclopedia(tmp_path))
    world.reset(world.tasks()[0])
    shown = {
        "Lookup[birches]": "There is no page to look in. Search first.",
        "Search[the finlandia!]": "Finlandia is a tone poem. It is by Jean Sibelius, who liked "
        "birches.",
        "Lookup[Sibelius]": "(Result 1 / 1) It is by Jean Sibelius, who liked birches.",
        "Open[door]": "Invalid action. Write Search[…], Lookup[…] or Finish[…].",
    }
    assert {action: world.step(action).text for action in shown} == shown
    assert "Lookup[…]" in world.admissible()  # a page is open
    assert world.step("Lookup[sibelius]").text == "No more results."
    unknown = world.step("Search[Norway town]").text
    assert unknown == "Could not find [Norway town]. Similar: ['Oslo']."
    world.step("Search[Sweden]")
    assert world.step("Lookup[sibelius]").text == "No more results."
    half = world.step("finish[Finland]")
    assert half.done
    assert half.score == pytest.approx(0.5)


@cases(
    ("search [ Oslo ]", ("search", "Oslo")),
    ("Search[Oslo], which is in Norway, then Finish[yes]", ("search", "Oslo")),
    ("I will Finish[a [small] town].", ("finish", "a [small] town")),
    ("Finish[50% [of it]", ("finish", "50% [of it")),
    ("Search[Oslo", None),
    ("Research[Oslo]", None),
    ("Search Oslo", None),
)
def test_one_action_is_done_of_several(text: str, action: tuple[str, str] | None) -> None:
    assert first_action(text, ("search", "finish")) == action


@cases(
    ("go to kitchen, look around", "go to kitchen"),
    ("Look around; then go to hallway.", "Look around"),
    ("look around.\nopen fridge", "look around"),
    ("take plate 1 from shelf 2", "take plate 1 from shelf 2"),
    ("First, Search[Oslo, Norway], then Finish[yes].", None),  # found by its brackets
    (", ", ""),
)
def test_of_actions_without_brackets_the_first_is_done(text: str, action: str | None) -> None:
    assert one_action(text) == (text if action is None else action)


def test_gold_paths_of_the_shop(tmp_path: Path) -> None:
    with open_environment("webshop", shop(tmp_path)) as world:
        tasks = world.tasks()
        assert [play(world, task, task.gold or ()) for task in tasks] == [1, 1]
        assert tasks[0].question.endswith("machine washable, and price lower than 20.00 dollars")
        assert [task.kind for task in tasks] == ["fashion", "garden"]


@cases(False, True)
def test_the_published_files_of_the_shop_are_joined(packed: bool, tmp_path: Path) -> None:
    with open_environment("webshop", published_shop(tmp_path, packed=packed)) as world:
        tasks = world.tasks()
        assert [task.kind for task in tasks] == ["fashion", "garden"]  # asked without attributes
        assert [play(world, task, task.gold or ()) for task in tasks] == [1, 1]
        assert tasks[0].question.startswith("i need a red scarf that is machine washable, and")
        limits = [float(task.question.split()[-2]) for task in tasks]
        assert limits[0] in (30, 40, 50)
        assert limits[1] in (120, 130, 140)  # above 100, where no price is given
        world.reset(tasks[0])
        world.step("search[scarf]")
        assert "size [small | tall]" in world.step("click[B000000001]").text
    again = open_environment("webshop", tmp_path).tasks()
    assert [task.question for task in again] == [task.question for task in tasks]


def test_a_published_shop_without_a_file_is_told(tmp_path: Path) -> None:
    goals = published_shop(tmp_path) / "items_human_ins.json"
    for content, problem in {
        "{}": "no goals for the products",
        '{"B1": [{"asin": "B1"}]}': r"human_ins\.json .*B1\.0\.instruction: Field req",
        "": r"has not both.*items_human_ins\.json",
    }.items():
        goals.write_text(content) if content else goals.unlink()
        with pytest.raises(BadInput, match=problem):
            open_environment("webshop", tmp_path)


def test_walking_through_the_shop(tmp_path: Path) -> None:
    world = open_environment("webshop", shop(tmp_path))
    begin = world.reset(world.tasks()[0]).text
    assert begin.startswith("WebShop\nInstruction:\ni need a warm red scarf")
    assert world.admissible() == ("search[…]",)
    results = world.step("search[cotton scarf]").text
    assert results == (
        "[Back to Search]\nPage 1 (Total results: 2)\n[B000000002]\nScarf of Cotton\n$30.00\n"
        "[B000000001]\nWarm Scarf of Merino Wool\n$15.00"
    )
    assert "Click [Back to Search]" in world.step("search[lamp]").text
    assert "no [B000000003] here" in world.step("click[B000000003]").text
    item = world.step("click[b000000001]").text
    assert "color [red][navy blue]\nsize [small][large]\nWarm Scarf" in item
    assert world.admissible()[-1] == "click[Back to Search]"
    assert world.step("click[Features]").text.endswith("machine washable")
    assert world.step("click[< Prev]").text == item
    assert world.step("click[< Prev]").text == results
    world.step("click[B000000001]")
    world.step("click[Navy Blue]")
    bought = world.step("click[Buy Now]")
    assert bought.done
    assert bought.score == pytest.approx(2 / 3)


def test_turning_pages_in_the_shop(tmp_path: Path) -> None:
    many = [PRODUCTS[0] | {"asin": f"A{n:09}"} for n in range(12)]
    write_lines(tmp_path / "products.jsonl", *many)
    write_lines(tmp_path / "goals.jsonl", GOALS[0] | {"asin": "A000000000"})
    world = open_environment("webshop", tmp_path)
    world.reset(world.tasks()[0])
    first = world.step("search[scarf]").text
    assert first.count("Warm Scarf") == 10
    assert world.step("click[Next >]").text.count("Warm Scarf") == 2
    assert "no [Next >] here" in world.step("click[Next >]").text
    assert world.step("click[< Prev]").text == first


YARN = PRODUCTS[0] | {"query": "yarn", "product_category": "Craft", "name": "Ball of Yarn"}


@cases(
    (PRODUCTS[0], ["red"], 1.0),
    (PRODUCTS[0], [], 2 / 3),
    (PRODUCTS[0], ["light red"], 1.0),  # one holds the words of the other
    (PRODUCTS[1], ["red"], 1 / 3),  # too dear, not washable
    (PRODUCTS[2], ["red"], 0.0),  # another thing altogether
    (YARN, ["red"], 0.5),  # of another type
)
def test_rewards_of_purchases(bought: dict[str, object], chosen: list[str], score: float) -> None:
    name = "Warm Scarf of Red Merino Wool Yarn"
    wanted, one = (Product.model_validate(p) for p in (PRODUCTS[0] | {"name": name}, bought))
    goal = Goal.model_validate(GOALS[0])
    assert reward(one, chosen, goal, wanted) == pytest.approx(score)


@settings(max_examples=30)
@given(actions=st.lists(ANYTHING, max_size=6))
@cases("hotpotqa", "webshop")
def test_no_action_breaks_it(
    name: str, actions: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp(name)
    world = open_environment(name, encyclopedia(folder) if name == "hotpotqa" else shop(folder))
    world.reset(world.tasks()[0])
    for action in actions:
        seen = world.step(action)
        assert seen.text
        assert 0 <= seen.score <= 1


@cases(
    ("chess", None, "no environment 'chess'"),
    *((name, None, "needs") for name in ("hotpotqa", "webshop", "alfworld")),
    ("hotpotqa", "wrong.jsonl", r"Line 1 .* \(question: Field required\)"),
    ("webshop", "", "has not both"),
    ("alfworld", "", "has no games"),
    ("scienceworld", "broken.jsonl.gz", "cannot be read"),
)
def test_wrong_data_is_told(name: str, data: str | None, said: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.jsonl").write_text('{"answer": "x", "context": [["a", ["b"]]]}\n')
    (tmp_path / "broken.jsonl.gz").write_bytes(b"\x1f\x8b\x08 no")
    with pytest.raises(BadInput, match=said):
        open_environment(name, None if data is None else tmp_path / data)


def test_a_plug_in_that_fails_to_open_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(data: Path | None) -> Environment:
        raise RuntimeError(f"no board\nin {data}")

    monkeypatch.setitem(ENVIRONMENTS._known, "chess", connect)
    sentence = rf"chess of {__name__} cannot be opened \(RuntimeError: no board in None\)\. "
    with pytest.raises(EnvironmentUnavailable, match=sentence):
        open_environment("chess")


def no_board(*_: object) -> None:
    raise RuntimeError("no board")


METHODS = ("tasks", "described", "reset", "step", "admissible", "close")
Broken: Any = type("Broken", (Environment,), {"name": "chess", **dict.fromkeys(METHODS, no_board)})


def test_errors_of_a_plug_in_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENVIRONMENTS._known, "chess", lambda _: Broken())
    task = Task(id="1", kind="", question="Mate in two.")
    with open_environment("chess") as world:
        calls: dict[str, Callable[[], object]] = {
            "describe its task": lambda: world.described(task),
            "begin its task": lambda: world.reset(task),
            "go on with its task": lambda: world.step("e4"),
            "list the actions of its task": world.admissible,
            "list its tasks": world.tasks,
        }
        for what, call in calls.items():
            sentence = rf"chess of {__name__} cannot {what} \(RuntimeError: no board\)\. "
            kind = EnvironmentUnavailable if call == world.tasks else EnvironmentFailed
            with pytest.raises(kind, match=sentence):
                call()


def test_a_split_or_product_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no tasks of a split 'test'.* dev, train"):
        open_environment("hotpotqa", encyclopedia(tmp_path)).tasks("test")
    with pytest.raises(BadInput, match="no splits"):
        open_environment("webshop", shop(tmp_path)).tasks("test")
    write_lines(tmp_path / "goals.jsonl", GOALS[0] | {"asin": "B9"})
    with pytest.raises(BadInput, match="names the product B9"):
        open_environment("webshop", tmp_path)


class Remote(ToyShop):
    """The toy world in its process."""

    step_seconds = 1.5
    tasks_a_process = 2
    variables: ClassVar[dict[str, str]] = {}


@cases(("crash", (1, 0)), ("hang", (0, 1)))
def test_a_process_that_dies_or_hangs_is_begun_afresh(
    trouble: str, counted: tuple[int, int], tmp_path: Path
) -> None:
    with Remote(tmp_path) as world:
        first = world.reset(world.tasks()[0]).text
        assert [world.step(a).text for a in ("count", trouble, "count")] == ["1", "2", "3"]
        assert (world.crashes, world.timeouts) == counted
        assert world.admissible() == ("count", "3")
        assert world.reset(world.tasks()[0]).text != first


def test_what_fails_twice_is_told(tmp_path: Path) -> None:
    with Remote(tmp_path) as world:
        with pytest.raises(BadInput, match="No task has begun"):
            world.step("count")
        world.reset(world.tasks()[0])
        world.step("count")
        with pytest.raises(EnvironmentFailed, match="crashes, in a fresh process too"):
            world.step("always")
        assert world.crashes == 2
        assert world.step("count").text == "2"  # it stands where it was before
        assert world.step("count").score == 1  # a score beyond 1 is cut


def test_a_process_serves_some_tasks_only(tmp_path: Path) -> None:
    with Remote(tmp_path) as world:
        begun = [world.reset(world.tasks()[0]).text for _ in range(4)]
    assert begun[0] == begun[1] != begun[2] == begun[3]
    pid = int(begun[3].split()[-1])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_missing_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Remote, "variables", {"TOY_MISSING": "1"})
    with Remote(tmp_path) as world, pytest.raises(EnvironmentUnavailable, match="pip install toy"):
        world.reset(world.tasks()[0])


def test_episodes_go_on_wherever_they_were(tmp_path: Path) -> None:
    data = str(shop(tmp_path))
    one, other = Episode("webshop", data, "0"), Episode("webshop", data, "1")
    assert episodes.find_task(one).kind == "fashion"
    words = ["search[scarf]", "click[B000000001]", "click[red]"]
    shown = [episodes.observe(one, words[:n]).text for n in range(4)]
    assert episodes.observe(other, ["search[lamp]"]).text.count("Lamp") == 1
    assert [episodes.observe(one, words[:n]).text for n in range(4)] == shown  # forked, resumed
    assert "click[Buy Now]" in episodes.admissible(one, words)
    assert episodes.observe(one, [*words, "click[Buy Now]"]).score == 1
    episodes.leave(one)
    with pytest.raises(BadInput, match=r"no task '7'.*named like these: 0, 1"):
        episodes.find_task(one._replace(task="7"))
    episodes.close_all()


def test_an_episode_steps_once_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Noted(Remote):
        def step(self, action: str) -> object:  # type: ignore[override]
            done.append(action)
            return super().step(action)

    monkeypatch.setattr(episodes, "open_environment", lambda *_: Noted(tmp_path))
    one = Episode("webshop", "", "0")
    for count in range(3):
        assert episodes.observe(one, ["count"] * count).text.endswith(str(count) if count else "")
    assert done == ["count", "count"]
    with pytest.raises(EnvironmentFailed):
        episodes.observe(one, ["count", "count", "always"])
    assert episodes.observe(one, ["count", "count", "count"]).text == "3"
    episodes.close_all()


@pytest.fixture
def laboratory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """ScienceWorld's library with two tasks, and a program java that is never begun."""
    (tmp_path / "scienceworld.py").write_text(LABORATORY)
    (tmp_path / "java").touch(mode=0o755)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ScienceWorld, "_listed", [])
    yield
    episodes.close_all()


@pytest.mark.usefixtures("laboratory")
def test_tasks_of_scienceworld_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScienceWorld, "tasks_a_process", 2)
    with open_environment("scienceworld") as world:
        assert [task.id for task in world.tasks("test")] == ["boil/3/easy", "melt/3/easy"]
        assert len(world.tasks()) == 8
        first = world.tasks("dev")[0]
        assert (first.kind, first.question, first.gold) == ("boil", "", None)
        assert world.described(first).question == "Do boil 2 easy."
        with pytest.raises(BadInput, match="No task has begun"):
            world.step("look")
        assert world.reset(first).text == "You boil."
        assert world.step("wait").text == "wait"
        with pytest.raises(BadInput, match=r"split 'seen'\. It has: dev, test, train"):
            world.tasks("seen")


@pytest.mark.usefixtures("laboratory")
def test_an_episode_goes_on_after_another_task_is_described() -> None:
    one, other = (Episode("scienceworld", "", f"{name}/3/easy") for name in ("boil", "melt"))
    assert episodes.find_task(one).question == "Do boil 3 easy."
    assert episodes.observe(one, ["wait"]).text == "wait"
    assert episodes.find_task(other).question == "Do melt 3 easy."
    assert episodes.observe(other, []).text == "You melt."
    assert episodes.observe(one, ["wait", "look"]).text == "look"


@pytest.mark.usefixtures("laboratory")
def test_what_scienceworld_lacks_is_told(tmp_path: Path) -> None:
    (tmp_path / "java").unlink()
    missing = pytest.raises(EnvironmentUnavailable, match=r"no program java.*a Java runtime")
    with open_environment("scienceworld") as world, missing:
        world.tasks()


def test_the_official_games_of_alfworld_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "json_2.1.1" / "valid_unseen" / "pick_two-Mug-None-Desk-1" / "trial_1"
    folder.mkdir(parents=True)
    grammar = '{"intro": [{"rhs": "Your task is to: put two mugs on desk."}]}'
    game = {"grammar": grammar, "solvable": True, "walkthrough": ["look"], "pddl_problem": ""}
    (folder / "game.tw-pddl").write_text(json.dumps(game))
    with open_environment("alfworld", tmp_path) as world:
        name = "valid_unseen/pick_two-Mug-None-Desk-1/trial_1"
        task = Task(id=name, kind="pick_two", question="put two mugs on desk.", gold=("look",))
        assert world.tasks() == [task]
        with pytest.raises(BadInput, match="no split 'test'"):
            world.tasks("test")


@pytest.mark.published
def test_the_published_hotpotqa() -> None:
    data = published("hotpotqa/dev_distractor_subset.jsonl.gz")
    with open_environment("hotpotqa", data) as world:
        tasks = world.tasks()
        assert len({task.id for task in tasks}) == len(tasks) > 200
        assert {play(world, task, task.gold or ()) for task in tasks} == {1.0}


@pytest.mark.published
def test_the_published_webshop() -> None:
    with open_environment("webshop", published("webshop")) as world:
        tasks = world.tasks()
        assert len(tasks) > 100
        assert {play(world, task, task.gold or ()) for task in tasks} == {1.0}


@pytest.mark.published
def test_the_published_alfworld() -> None:
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
        assert play(world, tasks[0], tasks[0].gold or ()) == 1


with_scienceworld = pytest.mark.skipif(
    shutil.which("java") is None or importlib.util.find_spec("scienceworld") is None,
    reason="ScienceWorld needs a Java runtime and pip install 'planweave[environments]'",
)


@pytest.mark.published
@with_scienceworld
def test_the_published_scienceworld() -> None:
    data = published("scienceworld/gold_trajectories.jsonl.gz")
    before = simulators()
    with open_environment("scienceworld", data) as world:
        tasks = sorted(world.tasks("test"), key=lambda task: len(task.gold or ()) or 1000)
        assert world.reset(tasks[0]).text.startswith("This room is called")
        assert "No known action matches" in world.step("fly to the moon").text
        assert "look around" in world.admissible()
        assert [play(world, task, task.gold or ()) for task in tasks[:2]] == [1, 1]
        (java,) = simulators() - before
        assert b"-Xmx1g" in Path(f"/proc/{java}/environ").read_bytes()
    deadline = time.monotonic() + 30
    while java in simulators():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.published
@with_scienceworld
def test_the_published_scienceworld_without_a_file() -> None:
    with open_environment("scienceworld") as world:
        tasks = {task.id: task for task in world.tasks("test")}
        assert len(tasks) == 1819
        assert len({task.kind for task in world.tasks()}) == 30
        assert "boil lead" in world.described(tasks["boil/21/easy"]).question


def simulators() -> set[int]:
    """The processes that run ScienceWorld's program, whoever started them."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended since
            words = file.read_bytes().split(b"\0")
            if words[0].endswith(b"java") and any(b"scienceworld" in word for word in words):
                found.add(int(file.parent.name))
    return found
