"""Paths with slots for names, and how a path of other questions looks for a new one."""

from collections.abc import Sequence
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


CLARA = "Did Clara Whitfield and Otto Reyes share a profession?"
CLARAS = (
    "search[Clara Whitfield profession]",
    "Search[Otto Reyes]",
    "Search[Otto Reyes]",
    "Lookup[American director's birth]",
    "Finish[yes]",
)
CLARAS_FORM = (
    "Search[{1} {asked}]",
    "Search[{2}]",
    "Lookup[{found} director birth]",
    "Finish[{answer}]",
)
MUG = TaskPath("", "put a clean mug in cabinet.", ("take mug 1 from shelf 6", "go to cabinet 2"))
TAKE = ("take mug 3 from cabinet 1", "put mug 3 on shelf 2")
NEWS = 'Who wrote "The News Quiz" for Brown University before Brown left?'  # longer names first


@cases(
    ([], CLARA, "Did {1} and {2} share a profession?", CLARAS, CLARAS_FORM),
    ([MUG], "put some mug on shelf.", "put some {1} on {2}.", TAKE, (
        "take {1} from cabinet", "put {1} on {2}"
    )),
    ([], NEWS, 'Who wrote "{1}" for {2} before {3} left?', (), ()),
)  # fmt: skip
def test_names_of_a_question_and_its_path_become_slots(
    known: list[TaskPath], asked: str, open_: str, path: Sequence[str], form: Sequence[str]
) -> None:
    own = TaskPath("t", asked, tuple(path))
    slots = QuestionSlots.of(known or [own])
    assert slots.question(asked) == open_
    assert slots.path(own) == replace(own, instructions=tuple(form))


def test_queries_keep_their_text_but_for_what_the_question_names() -> None:
    ranked = "SELECT node AS decision FROM flow WHERE home = {} ORDER BY flow DESC"
    learned, own = (
        TaskPath("t", f'Your home is "{home}". Which node?', (query, finish))
        for home, query, finish in (
            ("Ash", f"sql[{ranked.format('{{flow.home}}')}]", "finish[decision]"),
            ("Elm", f"SQL[{ranked.format(repr('Elm'))}]", "Finish[Oak]"),
        )
    )
    slots = QuestionSlots.of([learned, own])
    assert slots.path(learned) == learned
    assert slots.path(own).instructions == (learned.instructions[0], "Finish[{answer}]")
    small = replace(own, instructions=("search[Ash]", "finish[Elm]"))  # as most published ones are
    assert slots.path(small).instructions[1] == "Finish[{answer}]"
    column = replace(own, instructions=(own.instructions[0], "finish[town]"))
    assert slots.path(column).instructions[1] == "finish[town]"
    assert slots.question(own.question) == slots.question(learned.question)


def test_ways_back_are_no_part_of_a_path_and_what_all_do_alike_is() -> None:
    back = ("click[< Prev]", "click[Back to Search]")
    paths = []
    for n in range(40):
        bought = (f"search[soft{n} scarf]", f"click[B{n}7]")
        paths += [TaskPath("", f"a soft{n} scarf", (*bought, *back, *bought, "click[Buy Now]"))]
    slots = QuestionSlots.of(paths, ["click[< prev]", "click[back to search]"])
    assert "click[buy now]" in slots.fixed
    assert not slots.fixed & slots.moves
    formed = slots.path(paths[0]).instructions
    assert formed == ("Search[{asked}]", "Click[{found}]", *formed[:2], "Click[Buy Now]")
    assert slots.path(TaskPath("", "a?", ("click[< Prev]",))).instructions == ("Click[{found}]",)
    assert QuestionSlots.of(paths[:2]).path(paths[0]).instructions[-1] == "Click[{found}]"
    assert QuestionSlots.of(paths[:3]).path(paths[0]).instructions[-1] == "Click[Buy Now]"


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


MELT = ("go to kitchen", "focus on red wax", "pick up thermometer")
HOMES = frozenset({"apple", "fridge", "microwave"})


@cases(
    ((), "Your task is to melt the tin.", "Your task is to melt the red wax.", MELT,
     ("go to kitchen", "focus on {fitting}", "pick up thermometer")),
    (HOMES, HEAT, "heat some egg and put it in microwave.",
     ("go to microwave", "heat {1} with microwave", "move {1} to {2}"),
     ("go to microwave", "heat apple with microwave", "move apple to fridge")),
    # steps that become equal are one
    ((), "a box", "?", ("Click[alloy]", "Click[oak]", "Click[{asked}]"),
     ("Click[{fitting}]", "Click[{asked}]")),
)  # fmt: skip
def test_outside_brackets_only_what_another_question_names_is_open(
    objects: frozenset[str], asked: str, origin: str, steps: Sequence[str], shown: tuple[str, ...]
) -> None:
    assert QuestionSlots(objects=frozenset(objects)).shown(steps, asked, [origin]) == shown


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
