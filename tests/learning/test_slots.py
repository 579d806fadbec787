"""What a path of other questions looks like for a new one: its names, open slots, nothing else."""

from dataclasses import replace

from cases import cases

from planweave.learning.paths import TaskPath
from planweave.learning.slots import QuestionSlots, can_fill, remove_price_limit

SCARF = "i want a warm scarf in navy blue, and price lower than 20.00 dollars"
HEAT = "warm up an apple and put it in the fridge."


@cases(
    (SCARF, "i want a warm scarf in navy blue"),
    ("a mug for under $15 with a lid", "a mug with a lid"),
    ("a 6 pack of mugs that costs at most 20 euros", "a 6 pack of mugs that"),
    ("a lamp, price between $10 and $20", "a lamp"),
    ("a blue lamp for $30 or less", "a blue lamp"),
    ("Which film of 1999 grossed $400 million?", "Which film of 1999 grossed $400 million?"),
    ("a shelf lower than 50 inches", "a shelf lower than 50 inches"),
    ("a price tag printer, 50 labels", "a price tag printer, 50 labels"),
)
def test_a_limit_of_price_is_no_part_of_what_is_searched_for(question: str, kept: str) -> None:
    assert remove_price_limit(question) == kept


def test_a_limit_of_price_fills_no_slot() -> None:
    question = "i need a 50 ounce jar of LG glue, and price lower than 80.00 dollars"
    assert QuestionSlots().names(question) == ["50", "LG"]
    path = TaskPath("", question, ("search[glue 80.00 dollars]", "click[80]"))
    wanted = ("Search[{found} {asked} dollars]", "Click[{found}]")
    assert QuestionSlots().path(path).instructions == wanted
    assert "80" not in QuestionSlots().question(question)


def test_ways_back_are_no_part_of_a_path() -> None:
    back = ("click[< Prev]", "click[Back to Search]")
    paths = [
        TaskPath("", f"a soft{n} scarf", (f"search[soft{n} scarf]", f"click[B{n}7]", *back))
        for n in range(40)
    ]
    paths = [
        replace(p, instructions=(*p.instructions, *p.instructions[:2], "click[Buy Now]"))
        for p in paths
    ]
    slots = QuestionSlots.of(paths, ["click[< prev]", "click[back to search]"])
    assert "click[buy now]" in slots.fixed
    assert not slots.fixed & slots.moves
    formed = slots.path(paths[0]).instructions
    assert formed == ("Search[{asked}]", "Click[{found}]", *formed[:2], "Click[Buy Now]")
    assert slots.path(TaskPath("", "a?", ("click[< Prev]",))).instructions == ("Click[{found}]",)


@cases(
    ("Click[alloy]", "Click[{fitting}]"),
    ("Click[heavy duty lotion pump]", "Click[{fitting}]"),
    ("Click[navy]", "Click[navy]"),
    ("Click[{found} pack]", "Click[{found}]"),
    ("Click[{asked} full]", "Click[{asked}]"),
    ("Search[{1} genre]", "Search[Scarf Ltd {fitting}]"),
    ("Search[{1} {4} genre]", "Search[Scarf Ltd {fitting}]"),
    ("Click[Buy Now]", "Click[Buy Now]"),
    ("Finish[{answer}]", "Finish[{answer}]"),
    ("sql[SELECT alloy FROM metal]", "sql[SELECT alloy FROM metal]"),
)
def test_what_belongs_to_another_question_is_open(step: str, shown: str) -> None:
    slots = QuestionSlots(fixed=frozenset({"click[buy now]"}))
    assert slots.shown([step], "a navy scarf of Scarf Ltd", ["an alloy box"]) == (shown,)


def test_outside_brackets_only_what_another_question_names_is_open() -> None:
    steps = ["go to kitchen", "focus on red wax", "pick up thermometer", "use {2} on {1}"]
    origin = "Your task is to melt the red wax."
    wanted = ("go to kitchen", "focus on {fitting}", "pick up thermometer")
    assert QuestionSlots().shown(steps[:3], "Your task is to melt the tin.", [origin]) == wanted
    homes = QuestionSlots(objects=frozenset({"apple", "fridge", "microwave"}))
    places = ["go to microwave", "heat {1} with microwave", "move {1} to {2}"]
    wanted = ("go to microwave", "heat apple with microwave", "move apple to fridge")
    assert homes.shown(places, HEAT, ["heat some egg and put it in microwave."]) == wanted


def test_steps_that_become_equal_are_one() -> None:
    shown = QuestionSlots().shown(["Click[alloy]", "Click[oak]", "Click[{asked}]"], "a box", [])
    assert shown == ("Click[{fitting}]", "Click[{asked}]")


@cases(
    ("Search[{3}]", 2, False),
    ("Search[{1} {3}]", 2, True),
    ("Search[{3} {asked}]", 2, False),
    ("take {1} from {2}", 1, False),
    ("take {1} from {2}", 2, True),
    ("Search[{asked}]", 0, True),
)
def test_a_path_that_wants_names_needs_them(step: str, names: int, fits: bool) -> None:
    assert can_fill([step], names) is fits
    question = "Are " + " and ".join(["Ann", "Bob"][:names]) + " alike?"
    assert (QuestionSlots().shown([step], question, []) is not None) is fits
