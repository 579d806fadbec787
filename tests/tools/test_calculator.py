import math
from collections.abc import Sequence

import pytest
from cases import cases
from hypothesis import assume, given
from hypothesis import strategies as st

from planweave import PlanweaveError
from planweave.tools.calculator import CalculationFailed, Given, calculate

FACTS: dict[str, Given] = {
    "flow": 12.5,
    "share": "40%",
    "price": "0.25 USD/kWh",
    "demand": "1,200 kWh",
    "fee": "$30",
    "weights": ["51 lbs", "69 lbs", "40 lbs"],
    "years": [2021, 2022, 2024],
}


@cases(
    ("-2 ** 2", -4, ""),
    ("2 ^ 10", 1024, ""),
    ("7 // 2 + 7 % 4", 6, ""),
    ("1,000 + 2,500,000.5", 2_501_000.5, ""),
    (".5e3", 500, ""),
    ("5% + 1", 1.05, ""),
    ("5% of 200", 10, ""),
    ("200 * 5%", 10, ""),
    ("flow * share", 5, ""),
    ("max(flow, 3, 20) - min([4, 2])", 18, ""),
    ("abs(-3) + sqrt(16) + round(2.567, 1) + floor(1.9) + ceil(1.1)", 12.6, ""),
    ("log(exp(2)) + log(8, 2)", 5, ""),
    ("3 kWh + 500 Wh", 3.5, "kWh"),
    ("3 * kWh to MJ", 10.8, "MJ"),
    ("3kWh", 3, "kWh"),
    ("6 km / 3 h", 2, "km/h"),
    ("3 m**2 * 2 m", 6, "m^3"),
    ("6 km / 3 m", 2000, ""),
    ("price * demand", 300, "USD"),
    ("max(3 kWh, 2 MWh)", 2, "MWh"),
    ("sum(1 km, 1 m)", 1.001, "km"),
    ("round(3.14159 km, 2)", 3.14, "km"),
    ("5 units + 3", 8, ""),
    ("25 degC to kelvin", 298.15, "K"),
    ("years[2] - years[0]", 3, ""),
    ("weights[1]", 69, "lb"),
    ("1.25 billion DKK / 280 MW to DKK/kW", 1.25e9 / 280e3, "DKK/kW"),
    ("DKK 1.25 bn", 1.25e9, "DKK"),
    ("9 kg * USD 85 per tonne to USD", 0.765, "USD"),
    ("$85/tonne * 2 tonne + $3 million * 0", 170, "USD"),
    ("€5 + €2", 7, "EUR"),
    ("(3 thousand + 2) * 2", 6004, ""),
    ("3 × 4 ÷ 2 − 1", 5, ""),  # noqa: RUF001 (typed by people)
    ("12 per 3", 4, ""),
    ("flow == 1", 0, ""),
    ("0.1 + 0.2 <= 0.3", 1, ""),
    ("1 km == 1000 m and not 1 km > 1001 m", 1, ""),
    ("50 lbs < 30 kg <= 70 lbs", 1, ""),
    ("$30 > 0", 1, ""),
    ("fee if 69 lbs > 50 lbs else $0", 30, "USD"),
    ("5% if 1 < 2 else 3%", 0.05, ""),
    ("max(fee, $200 if 62 in < 158 cm else 0)", 200, "USD"),
    ("count([w > 50 lbs for w in weights])", 2, ""),
    ("count(y for y in years if y > 2021)", 2, ""),
    ("sum($30 if w <= 50 lbs else $100 for w in weights)", 230, "USD"),
    ("sum(weights) / count(weights) to lb", 160 / 3, "lb"),
    ("sum([2 * h for h in years]) / 2", 6067, ""),  # h is no hour here
    ("sum([])", 0, ""),
    ("sum(w > 50 lbs for w in weights) + 1", 3, ""),
    ("2 ≤ 3", 1, ""),
)
def test_calculates(expression: str, value: float, unit: str) -> None:
    result = calculate(expression, FACTS)
    assert math.isclose(result.value, value, rel_tol=1e-12)
    assert result.unit == unit
    if value not in (0, 1):  # which a comparison may be, shown as true or false
        assert result.text == f"{expression} = {value:.12g} {unit}".strip()


@cases(("pay = {}", "pay"), ("flow={}", "flow"), ("{} =", ""), ("{} = ?", ""), ("a2 = {}=? ", "a2"))
def test_a_name_before_an_expression_is_that_of_its_result(frame: str, name: str) -> None:
    found = calculate(frame.format("3 * 4"), FACTS)
    assert found.text == f"{name} = 3 * 4 = 12".removeprefix(" = ")
    assert [step.name for step in found.steps] == [name]


def test_later_expressions_use_the_results_of_earlier_ones() -> None:
    found = calculate(
        """
        fees = [
          $30 if w <= 50 lbs else $100  # by weight
          for w in weights]             # items 2 to 4
        bag_3 = max($200, $100)  # item 3 = over 62 in; the higher fee
        total = $180 + sum(fees) + bag_3; total + 0
        """,
        FACTS,
    )
    assert found.text.splitlines() == [
        "by weight items 2 to 4: fees = [ $30 if w <= 50 lbs else $100 for w in weights] = "
        "[100 USD, 100 USD, 30 USD]",
        "item 3 = over 62 in; the higher fee: bag_3 = max($200, $100) = 200 USD",
        "total = $180 + sum(fees) + bag_3 = 610 USD",
        "total + 0 = 610 USD",
    ]
    assert (found.value, found.unit) == (610, "USD")
    assert [step.name for step in found.steps] == ["fees", "bag_3", "total", ""]


def test_an_error_says_in_which_expression_it_is() -> None:
    with pytest.raises(CalculationFailed, match="In 'b': There is no fact named aa; did you"):
        calculate("a = 2 + 3; b = aa * 2; a + b")


@cases(
    ("cost = $7.7", ""),
    ("a = 2 + 3; b = 7.7", ""),
    ("a = 7.7; a", ""),
    ("a = flow; b = a", "flow"),
    ("flow", "flow"),
    ("a = 2 + 3; a", None),
    ("a = 7.7; a + 1", None),
    ("3 kWh to MJ", None),
    ("-flow", None),
)
def test_what_only_repeats_a_number_or_a_fact_is_known(program: str, repeats: str | None) -> None:
    assert calculate(program, FACTS).repeats == repeats


def test_a_long_list_is_shown_in_part_and_used_whole() -> None:
    found = calculate("a = [y * 1 for y in years]; count(a)", {"years": list(range(500))})
    assert found.value == 500
    assert found.steps[0].text.endswith("10, 11, … (500 values)]")
    assert len(found.steps[0].result.split(", ")) == 500


_NUMBERS = st.one_of(st.integers(0, 60).map(str), st.sampled_from(["0.5", "2.25", "x", "y"]))


def _branches(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    conditions = st.builds(
        lambda a, mark, b, c, negated: f"({'not ' * negated}{a} {mark} {b}{c})",
        inner,
        st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
        inner,
        st.sampled_from(["", " < 30", " and x < 5", " or y >= 2"]),
        st.booleans(),
    )
    lists = st.lists(inner, min_size=1, max_size=4).map(lambda items: f"[{', '.join(items)}]")
    return st.one_of(
        st.builds(lambda a, o, b: f"({a} {o} {b})", inner, st.sampled_from("+-*"), inner),
        st.builds(lambda a, c, b: f"({a} if {c} else {b})", inner, conditions, inner),
        st.builds(lambda f, a: f"{f}({a})", st.sampled_from(["sum", "min", "max"]), lists),
        st.builds(lambda a, c: f"sum([{a} for x in {c}])", inner, lists),
        st.builds(lambda c, a: f"sum([x + 1 for x in {a} if {c}])", conditions, lists),
        inner.map(lambda a: f"round({a})"),
    )


@given(st.recursive(_NUMBERS, _branches, max_leaves=12), st.integers(0, 9), st.integers(-9, 9))
def test_calculates_as_python_does(expression: str, x: int, y: int) -> None:
    names: dict[str, float] = {"x": float(x), "y": float(y)}
    expected = float(eval(expression, dict(names)))
    assume(abs(expected) < 1e12)
    found = calculate(f"first = {expression}; first + 1", names)
    assert math.isclose(found.value, expected + 1, rel_tol=1e-9, abs_tol=1e-6)


REFUSED: dict[str, Sequence[str]] = {
    "not complete": ("", "(1", "1 2", "2 in years"),
    "divides by zero": ("1 / 0",),
    "exponent must be": ("9**9**9**9", "9**-9999", "2 ** 3 kWh"),
    "too large": ("(9 ** 900) ** 900",),
    "not a finite number": ("1e308 * 10",),
    "5000 characters": ("9" * 5000,),
    "nested|complete": ("(" * 400 + "1" + ")" * 400, "+".join("1" * 400)),
    "[Cc]annot convert": ("3 kWh + 2 km", "3 USD to EUR"),
    "not a unit": ("3 kWh to kilometersss",),
    "'to' must be written once": ("1 to",),
    "offset": ("25 degC * 2",),
    "logarithmic": ("5 bit / octave",),
    "plain number": ("log(3 kWh)",),
    "above zero": ("log(-1)",),
    "negative number": ("sqrt(-1)", "(-8) ** 0.5"),
    "no fact named|is a unit": ("million", "TS / TD"),
    "USD is a unit and must follow a number": ("USD",),
    "did you mean flow": ("flwo * 2",),
    "not understand": (
        *("__import__('os').system('true')", "_0 + 1", "lambda: 1", "a = b = 1", "1\x00"),
        "\u0661 + 1",  # an Arabic digit
    ),
    "no function": ("open(1)",),
    "does not take": ("round(1, 2, 3)", "max([])"),
    "15 decimal": ("round(1, 400)",),
    "one number or several": ("max(100,200)",),
    "is a list": ("[1, 2]",),
    "must be a comparison": ("1 if 2 else 3", "not 3"),
    "[Aa] list is used where one number must be": ("years * 2", "years > 2021"),
    "no other list": ("[[1], 2]",),
    "Only a list can be written": ("[a for a in 3]",),
    "has 3 items, counted from 0": [f"years[{at}]" for at in ("3", "-1", "0.5", "2 kg")],
    "Only a list has items": ("flow[0]",),
    "Only one 'for": ("[1 for a in years for b in years]",),
    "complete|cannot be the name": ("[1 for 2 in years]",),
    "its unit": ("fee + 1",),
    "to' cannot be a name": ("to = 3",),
    "61 expressions": ("; ".join(f"a{n} = 1" for n in range(61)),),
    "not arithmetic": ("True", "max(*[1])"),
    "is a day": ("2024-03-01 - 2024-01-01",),
}


@cases(*((text, message) for message, texts in REFUSED.items() for text in texts))
def test_refuses_in_one_sentence(expression: str, message: str) -> None:
    with pytest.raises(CalculationFailed, match=message) as caught:
        calculate(expression, FACTS)
    assert isinstance(caught.value, PlanweaveError)
    assert "\n" not in str(caught.value)


@cases(math.nan, math.inf, "three", "3 kWh to MJ", "open(1)", "1+")
def test_a_bad_fact_is_named(bad: float | str) -> None:
    with pytest.raises(CalculationFailed, match="fact load"):
        calculate("load + 1", {"load": bad})


def test_a_missing_fact_never_becomes_a_unit_and_a_fact_hides_one() -> None:
    """PD, TS and CP are units to pint (petadebye …) and names of facts to people."""
    with pytest.raises(CalculationFailed, match="PD"):
        calculate("PD * 2", {"TS": 4.0})
    assert calculate("3 * TS", {"TS": 4.0}).value == 12
    assert calculate("flow = 1 + 1; m = 3; 2 * m + flow", FACTS).value == 8
    with pytest.raises(CalculationFailed, match="f1, as none is known: write the numbers"):
        calculate("f1 * 2")


def test_work_is_bounded_over_all_expressions_of_a_calculation() -> None:
    many = {"many": [1.0] * 400}
    nested = "sum([sum([a * b for a in many]) for b in many])"
    with pytest.raises(CalculationFailed, match="10,000 operations"):
        calculate(nested, many)
    long = "; ".join(f"a{n} = sum([x * 2 for x in many])" for n in range(20))
    with pytest.raises(CalculationFailed, match="10,000 operations"):
        calculate(long, many)
