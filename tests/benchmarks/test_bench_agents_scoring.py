"""Answers by rule: quantities, spans, and the answers that only a judge can score."""

import pytest
from cases import cases
from published import published

from planweave.benchmarks.suites.agents.quantity import (
    Quantity,
    is_number,
    quantities,
    same_quantities,
    split_result,
)
from planweave.benchmarks.suites.agents.questions import Gold, load
from planweave.benchmarks.suites.agents.tatqa import match_spans


@cases(
        ("7", [Quantity(7)]),
        ("-12.6", [Quantity(-12.6, 1)]),
        ("\u221212.6", [Quantity(-12.6, 1)]),
        ("(12.6)", [Quantity(-12.6, 1)]),
        ("$(1,234)", [Quantity(-1234, currency="USD")]),
        ("in (2019)", [Quantity(2019)]),
        ("$  1,318.60", [Quantity(1318.6, 2, currency="USD")]),
        ("-$5", [Quantity(-5, currency="USD")]),
        ("$1.5bn", [Quantity(1.5, 1, 1e9, currency="USD")]),
        ("5 million EUR", [Quantity(5, 0, 1e6, currency="EUR")]),
        ("£3 thousand", [Quantity(3, 0, 1e3, currency="GBP")]),
        ("22.2 per cent", [Quantity(22.2, 1, percent=True)]),
        ("14percent", [Quantity(14, percent=True)]),
        ("28 Mt H2", [Quantity(28, unit="Mt")]),
        ("58.6 g CO2-eq/MJ", [Quantity(58.6, 1, unit="g")]),
        ("USD 85 per tonne", [Quantity(85, currency="USD", per="tonne")]),
        ("6-20%", [Quantity(6, percent=True), Quantity(20, percent=True, joined=True)]),
        ("6% to 20%", [Quantity(6, percent=True), Quantity(20, percent=True, joined=True)]),
        ("between 6 and 20%", [Quantity(6, percent=True), Quantity(20, percent=True)]),
        ("EUR 0.37\u20130.48/kg", [
            Quantity(0.37, 2, currency="EUR", per="kg"),
            Quantity(0.48, 2, currency="EUR", per="kg", joined=True),
        ]),
        ("550, 33 and 28 thousand", [Quantity(n, 0, 1e3) for n in (550, 33, 28)]),
        ("In 2018, 12%", [Quantity(2018), Quantity(12, percent=True)]),
        ("three contracts", [Quantity(3)]),
        ("one of 4", [Quantity(4)]),
        ("CO2 and H2 under 45Q", []),
        ("", []),
    )  # fmt: skip
def test_quantities(text: str, expected: list[Quantity]) -> None:
    assert quantities(text) == expected


@cases(("$ 1,318.6", True), ("(3.5)", True), ("2019", True), ("5 years", False), ("no", False))
def test_is_number(text: str, expected: bool) -> None:
    assert is_number(text) is expected


def test_the_result_follows_the_last_equals_sign() -> None:
    plain, remarks = split_result("7 kg x USD 0.085/kg = USD 0.595/kg (about USD 0.6/kg)")
    assert quantities(plain) == [Quantity(0.595, 3, currency="USD", per="kg")]
    assert remarks == ["about USD 0.6/kg"]


@cases(
    ("14%", "13.95%", True),
    ("14%", "about 14 per cent", True),
    ("14%", "0.14", True),
    ("14%", "14", True),
    ("14%", "13.4%", False),
    ("14%", "-14%", False),
    ("22.22%", "22.2%", False),
    ("22.22%", "22.2155%", True),
    ("1,372.5 million", "$1,372.5 million", True),
    ("1,372.5 million", "1372.5", True),
    ("1,372.5 million", "1,372,500,000", True),
    ("1,372.5 million", "1.3725 billion", True),
    ("1,372.5 million", "1,372.5 thousand", False),
    ("1,372.5 million", "1,372.5 billion", False),
    ("USD 5", "EUR 5", False),
    ("USD 5", "5 $", True),
    ("7 Mt", "7,000 kt", True),
    ("7 Mt", "7 kt", False),
    ("7 Mt", "7 MW", False),
    ("7 Mt", "7 Mtpa", True),
    ("USD 0.765/kg", "USD 765 per tonne", True),
    ("USD 0.765/kg", "USD 0.765 per tonne", False),
    ("USD 0.765/kg", "0.765", True),
    ("6-20%", "between 6% and 20%", True),
    ("6-20%", "6\u201320 %", True),
    ("6-20%", "6%", False),
    ("6-20%", "6%, 20% and 30%", False),
    ("12", "12 in 2019", True),
    ("2019", "2018 or 2019", False),
    ("2019", "2019", True),
    ("7", "11 - 4 = 7", True),
    ("7", "11 - 4 = 8", False),
    ("5", "five", True),
    ("5", "none", False),
    ("-12.6", "(12.6)", True),
    ("-12.6", "12.6", False),
)
def test_same_quantities(gold: str, said: str, right: bool) -> None:
    assert (
        same_quantities(quantities(gold), quantities(split_result(said)[0]), "What is it?") is right
    )


def test_what_an_answer_repeats_of_the_question_is_no_other_answer() -> None:
    question = "How much more are 49 Mt than 43 Mt?"
    assert same_quantities(quantities("14%"), quantities("14% more, 49 Mt against 43 Mt"), question)
    assert not same_quantities(quantities("14%"), quantities("14% more, or 15%"), question)


@cases(
    (["$1,372.5"], "million", "$1,372.5 million", (1.0, 1.0)),
    (["$1,372.5"], "million", "1,372.5", (0.0, 0.0)),
    (["22.22"], "percent", "22.22%", (1.0, 1.0)),
    (["22.22"], "percent", "0.2222", (1.0, 1.0)),
    (["22.22"], "percent", "22.22", (0.0, 0.0)),
    (["-12.6"], "million", "-12.6 million", (1.0, 1.0)),
    (["2019", "2018"], "", "2018, 2019", (1.0, 1.0)),
    (["red wine", "beer"], "", "beer; the red wine", (1.0, 1.0)),
    (["550", "33"], "thousand", "550 and 33 thousand", (1.0, 1.0)),
    (["May 1, 2018", "cash and debt"], "", "cash and debt; May 1, 2018", (1.0, 1.0)),
    (["allowable incurred costs plus a profit"], "", "incurred costs", (0.0, 0.57)),
    (["The Company"], "", "company.", (1.0, 1.0)),
    (["fixed-price type"], "", "fixed price type", (1.0, 1.0)),
    (["blue"], "", "red", (0.0, 0.0)),
    (["blue"], "", "", (0.0, 0.0)),
)
def test_tatqa_match(gold: list[str], scale: str, said: str, expected: tuple[float, float]) -> None:
    assert match_spans(gold, scale, said) == expected


@cases(("Fixed price", True), ("the price", None), ("variable", False))
def test_a_span_that_matches_in_part_is_left_to_the_judge(said: str, right: bool | None) -> None:
    assert Gold(text="fixed price", spans=("fixed price",)).is_right(said, "Which price?") is right


@cases(
    ("60% of 28 Mt", True),
    ("60% (of 28 Mt in all)", True),
    ("28 Mt, of which 60 per cent", True),
    ("60%", False),
    ("60% of 29 Mt", False),
)
def test_several_quantities_are_all_wanted(said: str, right: bool) -> None:
    gold = Gold(text="60% of 28 Mt", forms=(tuple(quantities("60% of 28 Mt")),))
    assert gold.is_right(said, "What share of which total?") is right


def test_either_form_of_a_gold_answer_is_right() -> None:
    gold = Gold(text="", forms=((Quantity(0.765, 3),), (Quantity(0.8, 1),)))
    said = {"0.765": True, "0.8 (0.765 exactly)": True, "0.7": False, "0.765 (9 x 0.085 kg)": True}
    assert {one: gold.is_right(one, "What is it worth?") for one in said} == said


@cases(
    ("It was USD 67,510 thousand, against 60,000 before.", True),
    ("67.51 million in that year", True),
    ("100000 = 100000.", False),
    ("The report does not say it.", False),
)
def test_the_judge_is_not_asked_about_a_text_without_the_gold_number(text: str, may: bool) -> None:
    gold = Gold(text="$67,510 thousand", forms=(tuple(quantities("$67,510 thousand")),))
    assert gold.may_occur_in(text) is may
    assert Gold(text="by ship").may_occur_in(text)


@pytest.mark.published
def test_published_spans_match_themselves() -> None:
    found = load(published("tatqa/dev.jsonl.gz").parents[1], contexts=1000, seed=1)
    golds = [q.gold for q in found.questions if q.gold and q.gold.spans and not q.gold.scale]
    said = [match_spans(gold.spans, "", "; ".join(gold.spans)) for gold in golds]
    assert len(golds) > 700
    assert all(found.exact for found in said)


@pytest.mark.published
def test_published_answers_are_right_by_their_own_rule() -> None:
    found = load(published("docs/questions.jsonl").parents[1], contexts=1000, seed=1)
    wrong = []
    for question in found.questions:
        gold = question.gold
        said = gold.text if gold else ""
        if gold and gold.is_right(said, question.asked) is False:
            wrong.append((question.id, said))
    assert wrong == []
