"""The check of decisions and sentences: it passes what is right, and nothing that is wrong."""

from collections.abc import Sequence
from typing import Any, cast

from cases import cases

from planweave.benchmarks.suites.check.measure import Checked, check_pairs, load_pack
from planweave.benchmarks.suites.check.pairs import Pair, generate_pairs, query_fact
from planweave.memory import Fact, Quote
from planweave.tools.checking import follow, judge

ROWS = (("Aachen", 10.5, "west"), ("Bonn", 7.25, "west"), ("Cottbus", 9.0, "east"))
PLANTS = query_fact(1, ("name", "cost", "region"), ROWS, "SELECT name, cost, region FROM plant")
CHEAPEST = "Which plant is cheapest?"


def wrongly_passed(found: Sequence[Checked]) -> list[tuple[str, str, str]]:
    return [(o.pair.case, o.pair.text, o.pair.question) for o in found if o.passed and o.wrong]


def recall(found: Sequence[Checked], kind: str) -> float:
    right = [one for one in found if one.pair.supported and one.pair.kind == kind]
    return sum(one.passed for one in right) / len(right)


def test_nothing_wrong_of_the_pack_passes_and_what_is_right_does() -> None:
    found = check_pairs(load_pack())
    assert len(found) >= 60
    assert wrongly_passed(found) == []
    assert min(recall(found, kind) for kind in ("decision", "claim")) >= 0.9


@cases(101, 102)
def test_nothing_wrong_that_is_drawn_passes_and_what_is_right_does(seed: int) -> None:
    found = check_pairs(generate_pairs(seed, 1500))
    assert wrongly_passed(found) == []
    assert min(recall(found, kind) for kind in ("decision", "claim")) >= 0.9


def test_the_same_seed_draws_the_same_pairs() -> None:
    first: list[Pair] = generate_pairs(5, 50)
    assert first == generate_pairs(5, 50)
    assert first != generate_pairs(6, 50)


def test_a_rule_that_gives_another_says_which() -> None:
    found = follow("Aachen", [PLANTS], question=CHEAPEST)
    assert (found.kind, found.gives) == ("contradicted", "Bonn")
    assert "lowest cost" in found.reason


def test_the_rank_that_the_model_names_is_carried_out() -> None:
    asked = "Which plant should be closed?"
    found = follow("Bonn", [PLANTS], question=asked, how="highest", column="cost")
    assert (found.kind, found.gives) == ("contradicted", "Aachen")
    agreeing = follow("Aachen", [PLANTS], question=asked, how="highest", column="cost")
    assert agreeing.kind == "not_in_facts"  # nothing asks for the highest cost


def test_rows_that_were_cut_off_give_no_rank() -> None:
    table = {**PLANTS["table"], "complete": False}
    cut: Fact = {**PLANTS, "table": table}  # type: ignore[typeddict-item]
    assert follow("Bonn", [cut], question=CHEAPEST).kind == "not_in_facts"


def test_ties_are_all_right() -> None:
    tied = query_fact(
        1, ("name", "cost"), (("Ash", 5), ("Elm", 5), ("Oak", 7)), "SELECT name, cost FROM x"
    )
    for name in ("Ash", "Elm"):
        assert follow(name, [tied], question="Which has the lowest cost?").kind == "supported"


@cases(
    ("Choose the plant with the lowest cost.", "supported"),
    ("Choose the plant with the lowest cost. At most 8 of them may be in use.", "not_in_facts"),
    ("Choose the plant with the lowest cost plus 0.8 per km.", "not_in_facts"),
    ("", "not_in_facts"),
)
def test_rules_say_what_decides_and_their_numbers_must_be_used(rules: str, kind: str) -> None:
    assert follow("Bonn", [PLANTS], question="Which plant should we use?", rules=rules).kind == kind


def test_a_calculation_may_rest_on_facts_that_are_not_cited() -> None:
    sales = query_fact(
        1, ("land", "total"), (("DE", 1279.5), ("DK", 2500)), "SELECT land, total FROM x"
    )
    text = "2500 - 1279.5 = 1220.5"
    made = query_fact(2, (), (), "2500 - 1279.5") | {"text": text, "source": "calculator"}
    asked = "By how much do the totals differ?"
    assert follow("1220.5", [made], question=asked, read=[sales]).kind == "supported"
    assert "neither read nor given" in follow("1220.5", [made], question=asked).reason


def test_no_fact_supports_nothing() -> None:
    assert follow("Bonn", [], question=CHEAPEST).kind == "not_in_facts"
    assert judge("Bonn is cheapest.", [], question=CHEAPEST).truth is not False


def test_it_means_the_decision() -> None:
    def judged(subject: str) -> bool | None:
        return judge("It has the lowest cost.", [PLANTS], question=CHEAPEST, subject=subject).truth

    assert (judged("Bonn"), judged("Aachen")) == (True, False)


def test_a_sentence_with_a_column_and_no_number_is_judged() -> None:
    said = "By its cost Bonn is in the west."
    assert judge(said, [PLANTS], question=CHEAPEST).truth is True


PRICES = "Prices were 90 in 2019, 110 in 2020, 120 in 2021, 80 in 2022 and 130 in 2023."


@cases(
    ("3 years exceed 100: 2020, 2021 and 2023.", True),
    ("In 3 years the price exceeds 100 (2020, 2021, 2023).", True),
    ("4 years exceed 100: 2020, 2021 and 2023.", None),
    ("3 years exceed 100: 2020, 2021 and 2024.", None),
    ("3 years exceed 100.", None),
    ("It is 2 tonnes: prices and years.", None),
)
def test_a_count_stands_with_the_list_of_what_was_counted(claim: str, true: bool | None) -> None:
    quote: Quote = {"document": "a.pdf", "page": 1, "text": PRICES}
    read: Any = {**PLANTS, "text": PRICES, "source": "documents", "quote": quote, "values": {}}
    del read["table"]
    question = "In how many years does the price exceed 100?"
    assert judge(claim, [cast("Fact", read)], question=question).truth is true


@cases(("3 months", "supported"), ("three months", "supported"), ("4 months", "not_in_facts"))
def test_a_small_number_in_words_is_that_number(decision: str, kind: str) -> None:
    words = "Either side may end this contract with a notice of three months in writing."
    quote = Quote(document="contract.md", page=4, text=words)
    told = query_fact(1, ("text",), (), "notice") | {"text": words, "quote": quote}
    found = follow(decision, [told], question="What notice does it ask for?")
    assert found.kind == kind


BIKES = "SELECT model, price_eur FROM bikes WHERE weight_kg < 12"
BY_PRICE = f"{BIKES} ORDER BY price_eur LIMIT 1"


def test_a_name_with_a_number_is_a_name() -> None:
    bike = query_fact(1, ("model", "price_eur"), (("Kid 20", 349.0),), BY_PRICE)
    rules = "Buy the cheapest bike that weighs less than 12 kg."
    assert follow("Kid 20", [bike], question="Which bike is it?", rules=rules).kind == "supported"
    assert follow("Kid 21", [bike], question="Which bike is it?", rules=rules).kind != "supported"


@cases(
    ("It weighs less than 12 kg and costs 349 EUR.", BY_PRICE, True),
    ("It weighs at most 12 kg.", BY_PRICE.replace("<", "<="), True),
    ("It weighs less than 12 kg.", BY_PRICE.replace("<", "<="), None),
    ("It weighs more than 12 kg.", BY_PRICE, None),
    ("It weighs less than 12 kg.", BY_PRICE.replace("< 12", "< 12 OR price_eur < 400"), None),
    ("It weighs less than 12 kg.", f"SELECT model, price_eur FROM ({BIKES}), bikes", None),
    ("It costs less than 300 EUR.", BY_PRICE, False),
)
def test_a_bound_of_a_query_is_true_of_its_rows(claim: str, query: str, true: bool | None) -> None:
    bike = query_fact(1, ("model", "price_eur"), (("Kid 20", 349.0),), query)
    found = judge(claim, [bike], question="Which bike?", rules="", subject="Kid 20")
    assert found.truth is true
