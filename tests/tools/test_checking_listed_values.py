"""Counts and ranks over the values that facts from documents list."""

from cases import cases

from planweave.memory import Fact, Quote, Value
from planweave.tools.checking import judge

ROW = "Regions | 2019 | 2020 | 2021\nCanada growth | 4 % | 6 % | 7 %"


def fact(values: dict[str, Value], text: str = "Growth in Canada by year.", row: str = ROW) -> Fact:
    return Fact(
        number=1,
        text=text,
        values=values,
        source="documents",
        query="growth",
        quote=Quote(document="a.pdf", page=1, text=row),
    )


GROWTH = fact({"2019": "4 %", "2020": "6 %", "2021": "7 %"})
FEES = fact(
    {"main_cabin": "90 $", "basic_economy": "90 $", "business": "40 $"},
    "Fees of each cabin.",
    "Cabin | Main Cabin | Basic Economy | Business\nFee | $90 | $90 | $40",
)


def problem(claim: str, one: Fact, question: str) -> str:
    return judge(claim, [one], question=question).reason


@cases(
    ("In Canada 2 of the years have growth of more than 5 %.", True),
    ("In Canada two of the years have growth of more than 5 %.", True),
    ("In Canada 3 of the years have growth of more than 5 %.", False),
    ("In Canada three of the years have growth of more than 5 %.", False),
    ("In Canada growth exceeds 5 % in 2 years.", True),
    ("In Canada growth exceeds 5 % in 8 years.", False),
)
def test_a_count_is_checked_on_the_listed_values(claim: str, right: bool) -> None:
    question = "How many years have growth of more than 5 % in Canada?"
    assert (problem(claim, GROWTH, question) == "") is right


def test_the_problem_of_a_wrong_count_names_the_right_one() -> None:
    claim = "In Canada 3 of the years have growth of more than 5 %."
    question = "How many years have growth of more than 5 %?"
    said = problem(claim, GROWTH, question)
    assert said == "of the 3 values that the facts list, 2 are more than 5"


@cases(
    ("In Canada growth is highest in 2021 with 7 %.", ""),
    (
        "In Canada growth is highest in 2020 with 6 %.",
        "the facts that it cites say nothing of a rank",
    ),
)
def test_a_rank_follows_from_listed_values(claim: str, reason: str) -> None:
    assert problem(claim, GROWTH, "What of growth in Canada?") == reason


@cases(
    ("The highest fee is $90 in the main cabin.", "it shares the first place with basic economy"),
    ("The highest fee is $90 in the main cabin and in basic economy.", ""),
    ("The highest fee is $90, the same in main cabin and another.", ""),
    ("The lowest fee is $40 in business.", ""),
)
def test_a_tie_is_reported(claim: str, reason: str) -> None:
    assert problem(claim, FEES, "Which fee of a cabin is the highest, which the lowest?") == reason
