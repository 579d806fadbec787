"""How far a path has been followed, on hand-made paths."""

from collections.abc import Sequence

from cases import cases

from planweave.learning.progress import PathProgress, carries_out

HEAT = "warm up an apple and put it in the fridge."
STEPS = (
    "go to sinkbasin",
    "take apple from sinkbasin",
    "go to microwave",
    "heat apple with microwave",
    "go to fridge",
    "move apple to fridge",
)


@cases(
    ("go to sinkbasin 1", "go to sinkbasin", True),
    ("go to cabinet 1", "go to sinkbasin", False),
    ("take apple 3 from cabinet 2", "take apple from sinkbasin", True),  # where is a guess
    ("take egg 1 from sinkbasin 1", "take apple from sinkbasin", False),
    ("move apple 3 to cabinet 2", "move apple to fridge", False),  # the question names both
    ("cool apple 3 with fridge 1", "move apple to fridge", False),
    ("Search[Apple pie recipe]", "search[apple {asked}]", True),
    ("Search[pear]", "search[apple {asked}]", False),
    ("Search[pear]", "search[{found}]", True),
    ("click[B000000001]", "Click[{found}]", True),
    ("Search[…]", "Search[apple]", True),
    ("Search[…]", "Lookup[apple]", False),
    ("click[back to search]", "Click[Buy Now]", False),
    ("look", "", False),
)
def test_what_does_a_step(action: str, step: str, fits: bool) -> None:
    assert carries_out(action, step, HEAT) is fits


@cases(
    ([], 0),
    (["look", "go to cabinet 1"], 0),
    (["go to sinkbasin 1"], 1),
    (["go to sinkbasin 1", "go to sinkbasin 2"], 1),  # once more is no step further
    (["go to sinkbasin 1", "take apple 1 from shelf 1", "go to microwave 1"], 3),
    (["take apple 1 from shelf 1"], 2),  # what comes before it is left out
    (["go to microwave 1", "heat apple 1 with microwave 1", "go to sinkbasin 1"], 4),
    (["go to fridge 1", "move apple 1 to fridge 1"], 6),
)
def test_the_next_step_stands_behind_those_done(actions: Sequence[str], at: int) -> None:
    assert PathProgress(STEPS, HEAT).next_step(actions, []) == at


def test_a_path_that_comes_by_the_same_place_twice() -> None:
    steps = ("go to shelf", "take cup from bed", "go to desk", "go to shelf", "take cup from bed")
    question = "put two cup in desk"
    actions = ["go to shelf 1", "go to shelf 2", "take cup 1 from shelf 2", "go to desk 1"]
    progress = PathProgress(steps, question)
    assert [progress.next_step(actions[:n], []) for n in range(5)] == [0, 1, 1, 2, 3]
    assert progress.next_step([*actions, "go to shelf 2"], []) == 4


def test_a_guess_is_passed_over_for_what_is_possible() -> None:
    here, progress = ["go to cabinet 1", "take apple 1 from shelf 1"], PathProgress(STEPS, HEAT)
    assert progress.next_step([], here) == 1
    assert progress.next_step([], ["go to sinkbasin 1", *here]) == 0
    # the apple is none: the path does not go on to the microwave without it
    assert progress.next_step(["go to sinkbasin 1"], ["go to microwave 1"]) == 1
    assert PathProgress((), HEAT).next_step([], here) == 0


WANTED = "i want a warm scarf in navy blue, size large, and price lower than 20.00 dollars"
BUYING = ("Search[{asked}]", "Click[{found}]", "Click[{asked}]", "Click[Buy Now]")
HOME = ["search[…]"]
RESULTS = ["click[B01]", "click[B02]", "click[Next >]", "click[Back to Search]"]
TABS = ["click[Description]", "click[< Prev]", "click[Back to Search]"]
GOODS = ["click[20.00]", "click[navy blue]", "click[red]", "click[large]", "click[Buy Now]", *TABS]
SHOP = PathProgress(BUYING, WANTED, {action.lower() for action in ("click[Next >]", *TABS)})


@cases(
    ([], HOME, 0),
    (["search[scarf]"], RESULTS, 1),
    (["search[scarf]", "click[Next >]"], RESULTS, 1),  # leafing does no step
    (["search[scarf]", "click[B01]"], GOODS, 2),
    (["search[scarf]", "click[B01]", "click[Description]"], TABS[1:], 2),
    (["search[scarf]", "click[B01]", "click[Description]", "click[< Prev]"], GOODS, 2),
    (["search[scarf]", "click[B01]", "click[< Prev]"], RESULTS, 1),
    (["search[scarf]", "click[B01]", "click[large]", "click[< Prev]"], RESULTS, 1),
    (["search[scarf]", "click[B01]", "click[< Prev]", "click[B02]"], GOODS, 2),
    (["search[scarf]", "click[B01]", "click[large]", "click[< Prev]", "click[B02]"], GOODS, 2),
    (["search[scarf]", "click[B01]", "click[Back to Search]"], HOME, 0),
    (["search[scarf]", "click[Back to Search]", "search[shawl]"], RESULTS, 1),
    (["search[scarf]", "click[B01]", "click[navy blue]"], GOODS, 3),
    # nothing that is asked for can be chosen here
    (["search[scarf]", "click[B01]"], ["click[red]", "click[Buy Now]", *TABS], 3),
)
def test_a_way_back_does_no_step(actions: list[str], possible: list[str], at: int) -> None:
    assert SHOP.next_step(actions, possible) == at


def test_an_open_step_is_done_by_what_its_slot_is_for() -> None:
    assert SHOP.doing("Click[{found}]", RESULTS) == ["click[B01]", "click[B02]"]
    assert SHOP.doing("Click[{asked}]", GOODS) == ["click[navy blue]", "click[large]"]
    assert SHOP.doing("Click[Buy Now]", GOODS) == ["click[Buy Now]"]
    assert SHOP.doing("Search[{asked}]", HOME) == HOME


def test_what_is_asked_for_comes_before_the_end() -> None:
    chosen = ["search[scarf]", "click[B01]"]
    assert SHOP.asked_for(chosen, GOODS) == ["click[navy blue]", "click[large]"]
    assert SHOP.asked_for([*chosen, "click[Large]"], GOODS) == ["click[navy blue]"]
    other = [*chosen, "click[large]", "click[< Prev]", "click[B02]"]
    assert SHOP.asked_for(other, GOODS) == ["click[navy blue]", "click[large]"]
    assert SHOP.ends_the_task
    for last in ("Finish[{answer}]", "move apple to fridge", "Search[warm scarf]"):
        assert not PathProgress((last,), WANTED).ends_the_task  # a question fills it
