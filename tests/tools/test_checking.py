"""The check of decisions and sentences: it passes what is right, and nothing that is wrong."""

from collections.abc import Sequence

from cases import cases

from planweave.benchmarks.suites.check.measure import Checked, check_pairs, load_pack
from planweave.benchmarks.suites.check.pairs import generate_pairs, query_fact, quote_fact
from planweave.memory import Fact
from planweave.tools.checking import check_decision, judge

ROWS = (("Aachen", 10.5, "west"), ("Bonn", 7.25, "west"), ("Cottbus", 9.0, "east"))
PLANTS = query_fact(1, ("name", "cost", "region"), ROWS, "SELECT name, cost, region FROM plant")
CHEAPEST = "Which plant is cheapest?"


def wrongly_passed(found: Sequence[Checked]) -> list[tuple[str, str, str]]:
    return [(o.pair.case, o.pair.text, o.pair.question) for o in found if o.passed and o.wrong]


def recall(found: Sequence[Checked], kind: str) -> float:
    right = [one for one in found if one.pair.supported and one.pair.kind == kind]
    return sum(one.passed for one in right) / len(right)


def kind_of(decision: str, *facts: Fact, question: str = CHEAPEST, rules: str = "") -> str:
    return check_decision(decision, facts, question=question, rules=rules).kind


def test_the_pack_has_no_false_pass_and_high_recall() -> None:
    found = check_pairs(load_pack())
    assert len(found) >= 60
    assert wrongly_passed(found) == []
    assert min(recall(found, kind) for kind in ("decision", "claim")) >= 0.9


def test_generated_pairs_have_no_false_pass_and_high_recall() -> None:
    found = check_pairs(generate_pairs(101, 1500))
    assert wrongly_passed(found) == []
    assert min(recall(found, kind) for kind in ("decision", "claim")) >= 0.9


def test_a_seed_generates_the_same_pairs() -> None:
    assert generate_pairs(5, 50) == generate_pairs(5, 50) != generate_pairs(6, 50)


def test_a_contradiction_names_the_right_decision() -> None:
    found = check_decision("Aachen", [PLANTS], question=CHEAPEST)
    assert (found.kind, found.gives) == ("contradicted", "Bonn")
    assert "lowest cost" in found.reason


def test_the_declared_rank_is_checked() -> None:
    asked = "Which plant should be closed?"
    found = check_decision("Bonn", [PLANTS], question=asked, how="highest", column="cost")
    assert (found.kind, found.gives) == ("contradicted", "Aachen")
    agreeing = check_decision("Aachen", [PLANTS], question=asked, how="highest", column="cost")
    assert agreeing.kind == "not_in_facts"  # nothing asks for the highest cost


def test_a_declared_rank_is_no_second_place() -> None:
    rows = (("Aachen", 1, 5), ("Bonn", 2, 4), ("Cottbus", 3, 6))
    fact = query_fact(1, ("name", "a", "b"), rows, "SELECT name, a, b FROM plant")
    asked = "Which plant comes second lowest?"
    found = check_decision("Bonn", [fact], question=asked, how="lowest", column="a")
    assert found.kind == "not_in_facts"


def test_incomplete_rows_give_no_rank() -> None:
    table = {**PLANTS["table"], "complete": False}
    cut: Fact = {**PLANTS, "table": table}  # type: ignore[typeddict-item]
    assert kind_of("Bonn", cut) == "not_in_facts"


def test_all_tied_decisions_are_supported() -> None:
    rows = (("Ash", 5), ("Elm", 5), ("Oak", 7))
    trees = query_fact(1, ("name", "cost"), rows, "SELECT name, cost FROM x")
    for name in ("Ash", "Elm"):
        assert kind_of(name, trees, question="Which has the lowest cost?") == "supported"


@cases(
    ("Choose the plant with the lowest cost.", "supported"),
    ("Choose the plant with the lowest cost. At most 8 of them may be in use.", "not_in_facts"),
    ("Choose the plant with the lowest cost plus 0.8 per km.", "not_in_facts"),
    ("", "not_in_facts"),
)
def test_rules_decide_and_queries_must_use_their_numbers(rules: str, kind: str) -> None:
    assert kind_of("Bonn", PLANTS, question="Which plant should we use?", rules=rules) == kind


def test_a_calculation_may_use_uncited_facts() -> None:
    sales = query_fact(
        1, ("land", "total"), (("DE", 1279.5), ("DK", 2500)), "SELECT land, total FROM x"
    )
    text = "2500 - 1279.5 = 1220.5"
    made = query_fact(2, (), (), "2500 - 1279.5") | {"text": text, "source": "calculator"}
    asked = "By how much do the totals differ?"
    assert check_decision("1220.5", [made], question=asked, read=[sales]).kind == "supported"
    assert "neither read nor given" in check_decision("1220.5", [made], question=asked).reason


def test_without_facts_nothing_is_supported() -> None:
    assert kind_of("Bonn") == "not_in_facts"
    assert judge("Bonn is cheapest.", [], question=CHEAPEST).truth is not False


def test_it_refers_to_the_decision() -> None:
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
def test_a_count_needs_the_list_of_counted_items(claim: str, true: bool | None) -> None:
    question = "In how many years does the price exceed 100?"
    assert judge(claim, [quote_fact(1, PRICES)], question=question).truth is true


@cases(("3 months", "supported"), ("three months", "supported"), ("4 months", "not_in_facts"))
def test_small_numbers_may_be_words(decision: str, kind: str) -> None:
    words = "Either side may end this contract with a notice of three months in writing."
    asked = "What notice does it ask for?"
    assert kind_of(decision, quote_fact(1, words), question=asked) == kind


BIKES = "SELECT model, price_eur FROM bikes WHERE weight_kg < 12"
BY_PRICE = f"{BIKES} ORDER BY price_eur LIMIT 1"


def test_a_name_with_a_number_is_a_name() -> None:
    bike = query_fact(1, ("model", "price_eur"), (("Kid 20", 349.0),), BY_PRICE)
    rules = "Buy the cheapest bike that weighs less than 12 kg."
    assert kind_of("Kid 20", bike, question="Which bike is it?", rules=rules) == "supported"
    assert kind_of("Kid 21", bike, question="Which bike is it?", rules=rules) != "supported"


@cases(
    ("It weighs less than 12 kg and costs 349 EUR.", BY_PRICE, True),
    ("It weighs at most 12 kg.", BY_PRICE.replace("<", "<="), True),
    ("It weighs less than 12 kg.", BY_PRICE.replace("<", "<="), None),
    ("It weighs more than 12 kg.", BY_PRICE, None),
    ("It weighs less than 12 kg.", BY_PRICE.replace("< 12", "< 12 OR price_eur < 400"), None),
    ("It weighs less than 12 kg.", f"SELECT model, price_eur FROM ({BIKES}), bikes", None),
    ("It costs less than 300 EUR.", BY_PRICE, False),
)
def test_a_bound_of_the_query_holds_for_its_rows(claim: str, query: str, true: bool | None) -> None:
    bike = query_fact(1, ("model", "price_eur"), (("Kid 20", 349.0),), query)
    found = judge(claim, [bike], question="Which bike?", rules="", subject="Kid 20")
    assert found.truth is true


def test_a_name_that_a_question_repeats_takes_no_long_time() -> None:
    asked = "Bonn " * 10_000
    assert kind_of("Bonn", PLANTS, question=asked) == kind_of("Bonn", PLANTS, question="Bonn ")
