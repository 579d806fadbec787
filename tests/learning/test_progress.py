"""How far a path has been followed, on hand-made paths."""

from collections.abc import Sequence

import pytest

from planweave.learning.progress import does, next_step

HEAT = "heat some apple and put it in fridge."
STEPS = (
    "go to sinkbasin",
    "take apple from sinkbasin",
    "go to microwave",
    "heat apple with microwave",
    "go to fridge",
    "move apple to fridge",
)


@pytest.mark.parametrize(
    ("action", "step", "fits"),
    [
        ("go to sinkbasin 1", "go to sinkbasin", True),
        ("go to cabinet 1", "go to sinkbasin", False),
        ("take apple 3 from cabinet 2", "take apple from sinkbasin", True),  # where is a guess
        ("take egg 1 from sinkbasin 1", "take apple from sinkbasin", False),
        ("move apple 3 to cabinet 2", "move apple to fridge", False),  # the question names both
        ("cool apple 3 with fridge 1", "move apple to fridge", False),
        ("Search[Apple pie recipe]", "search[apple {asked}]", True),
        ("Search[pear]", "search[apple {asked}]", False),
        ("Search[pear]", "search[{found}]", True),
        ("click[Buy Now]", "Click[{found}]", True),
        ("click[back to search]", "Click[Buy Now]", False),
        ("look", "", False),
    ],
)
def test_what_does_a_step(action: str, step: str, *, fits: bool) -> None:
    assert does(action, step, HEAT) is fits


@pytest.mark.parametrize(
    ("actions", "at"),
    [
        ([], 0),
        (["look", "go to cabinet 1"], 0),
        (["go to sinkbasin 1"], 1),
        (["go to sinkbasin 1", "go to sinkbasin 2"], 1),  # once more is no step further
        (["go to sinkbasin 1", "take apple 1 from shelf 1", "go to microwave 1"], 3),
        (["take apple 1 from shelf 1"], 2),  # what comes before it is left out
        (["go to microwave 1", "heat apple 1 with microwave 1", "go to sinkbasin 1"], 4),
        (["go to fridge 1", "move apple 1 to fridge 1"], 6),
    ],
)
def test_the_next_step_stands_behind_those_done(actions: Sequence[str], at: int) -> None:
    assert next_step(STEPS, actions, [], HEAT) == at


def test_a_path_that_comes_by_the_same_place_twice() -> None:
    steps = ("go to shelf", "take cup from bed", "go to desk", "go to shelf", "take cup from bed")
    question = "put two cup in desk"
    actions = ["go to shelf 1", "go to shelf 2", "take cup 1 from shelf 2", "go to desk 1"]
    assert [next_step(steps, actions[:n], [], question) for n in range(5)] == [0, 1, 1, 2, 3]
    assert next_step(steps, [*actions, "go to shelf 2"], [], question) == 4


def test_a_guess_is_passed_over_for_what_is_possible() -> None:
    here = ["go to cabinet 1", "take apple 1 from shelf 1"]
    assert next_step(STEPS, [], here, HEAT) == 1
    assert next_step(STEPS, [], ["go to sinkbasin 1", *here], HEAT) == 0
    # the apple is none: the path does not go on to the microwave without it
    assert next_step(STEPS, ["go to sinkbasin 1"], ["go to microwave 1"], HEAT) == 1
    assert next_step((), [], here, HEAT) == 0
