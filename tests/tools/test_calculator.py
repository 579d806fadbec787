import math

import pytest

from planweave import PlanweaveError
from planweave.tools.calculator import CalculationFailed, calculate

FACTS: dict[str, float | str] = {
    "flow": 12.5,
    "share": "40%",
    "price": "0.25 USD/kWh",
    "demand": "1,200 kWh",
    "factor": 3,
}


@pytest.mark.parametrize(
    ("expression", "value", "unit"),
    [
        ("1 + 2 * 3", 7, ""),
        ("(1 + 2) * 3", 9, ""),
        ("-2 ** 2", -4, ""),
        ("2 ^ 10", 1024, ""),
        ("7 // 2 + 7 % 4", 6, ""),
        ("1,000 + 2,500,000.5", 2_501_000.5, ""),
        (".5e3", 500, ""),
        ("5% + 1", 1.05, ""),
        ("5% of 200", 10, ""),
        ("200 * 5%", 10, ""),
        ("10 % 3", 1, ""),
        ("flow * 2", 25, ""),
        ("flow * share", 5, ""),
        ("max(flow, 3, 20) - min([4, 2])", 18, ""),
        ("sum(1, 2, 3, flow)", 18.5, ""),
        ("abs(-3) + sqrt(16) + round(2.567, 1) + floor(1.9) + ceil(1.1)", 12.6, ""),
        ("log(exp(2)) + log(8, 2)", 5, ""),
        ("3 kWh + 500 Wh", 3.5, "kWh"),
        ("3 * kWh to MJ", 10.8, "MJ"),
        ("3kWh", 3, "kWh"),
        ("6 km / 3 h", 2, "km/h"),
        ("3 m**2 * 2 m", 6, "m^3"),
        ("6 km / 3 m", 2000, ""),
        ("price * demand", 300, "USD"),
        ("demand to MWh", 1.2, "MWh"),
        ("10 USD/kWh * 3 MWh", 30_000, "USD"),
        ("max(3 kWh, 2 MWh)", 2, "MWh"),
        ("sum(1 km, 1 m)", 1.001, "km"),
        ("round(3.14159 km, 2)", 3.14, "km"),
        ("5 units + 3", 8, ""),
        ("25 degC to kelvin", 298.15, "K"),
        ("2 m", 2, "m"),
        ("2 * factor", 6, ""),
        ("1.25 billion DKK / 280 MW to DKK/kW", 1.25e9 / 280e3, "DKK/kW"),
        ("DKK 1.25 bn", 1.25e9, "DKK"),
        ("9 kg * USD 85 per tonne to USD", 0.765, "USD"),
        ("$85/tonne * 2 tonne + $3 million * 0", 170, "USD"),
        ("€5 + €2", 7, "EUR"),
        ("(3 thousand + 2) * 2", 6004, ""),
        ("3 × 4 ÷ 2 − 1", 5, ""),  # noqa: RUF001 (typed by people)
    ],
)
def test_calculates(expression: str, value: float, unit: str) -> None:
    result = calculate(expression, FACTS)
    assert math.isclose(result.value, value, rel_tol=1e-12)
    assert result.unit == unit
    assert result.text == f"{expression} = {value:.12g} {unit}".strip()


@pytest.mark.parametrize("frame", ["cost = {}", "flow={}", "{} =", "{} = ?", " cost_2 = {} = ? "])
def test_an_equation_is_its_expression(frame: str) -> None:
    assert calculate(frame.format("3 * 4"), FACTS).text == "3 * 4 = 12"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "not complete"),
        ("1 +", "not complete"),
        ("(1", "not complete"),
        ("1 / 0", "divides by zero"),
        ("1 % 0", "divides by zero"),
        ("9**9**9**9", "exponent"),
        ("9**-9999", "exponent"),
        ("2 ** 3 kWh", "exponent"),
        ("(9 ** 900) ** 900", "too large"),
        ("1e999", "finite"),
        ("1e308 * 10", "finite"),
        ("exp(100000)", "too large"),
        ("9" * 900, "finite"),
        ("9" * 5000, "characters"),
        ("(" * 400 + "1" + ")" * 400, "nested|complete"),
        ("-" * 900 + "1", "nested|complete"),
        ("+".join("1" * 400), "nested"),
        ("3 kWh + 2 km", "[Cc]annot convert"),
        ("3 kWh to km", "[Cc]annot convert"),
        ("3 USD to EUR", "[Cc]annot convert"),
        ("3 kWh to kilometersss", "not a unit"),
        ("1 to", "'to'"),
        ("25 degC * 2", "offset"),
        ("log(3 kWh)", "plain number"),
        ("log(-1)", "."),
        ("sqrt(-1)", "negative"),
        ("(-8) ** 0.5", "negative"),
        ("million", "no fact"),
        ("USD", "must follow a number"),
        ("€ * 2", "must follow a number"),
        ("flwo * 2", "did you mean flow"),
        ("TS / TD", "no fact|is a unit"),
        ("flow.real", "not understand"),
        ("().__class__", "not understand"),
        ("__import__('os').system('true')", "not understand"),
        ("_0 + 1", "not understand"),
        ("open(1)", "no function"),
        ("eval(flow)", "no function"),
        ("max()", "arguments"),
        ("round(1, 2, 3)", "arguments"),
        ("round(1, 400)", "15 decimal"),
        ("max(100,200)", "one number or several"),
        ("[1, 2]", "not arithmetic"),
        ("1 if 2 else 3", "."),
        ("lambda: 1", "not understand"),
        ("x := 1", "not understand"),
        ("1 = 1", "not understand"),
        ("flow == 1", "not understand"),
        ("a = b = 1", "not understand"),
        ("cost =", "not complete"),
        ("'a' * 10", "not understand"),
        ("1; 2", "not understand"),
        ("True", "not arithmetic"),
        ("1 2", "not complete"),
        ("1,2,3", "not arithmetic"),
        ("*1", "not complete"),
        ("max(*[1])", "not arithmetic"),
        ("0x1F", "."),
        ("\u0661 + 1", "."),  # an Arabic digit
        ("1\x00", "not understand"),
    ],
)
def test_refuses_in_one_sentence(expression: str, message: str) -> None:
    with pytest.raises(CalculationFailed, match=message) as caught:
        calculate(expression, FACTS)
    assert isinstance(caught.value, PlanweaveError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, "three", "3 kWh to MJ", "open(1)", "1+"])
def test_a_bad_fact_is_named(bad: float | str) -> None:
    with pytest.raises(CalculationFailed, match="fact load"):
        calculate("load + 1", {"load": bad})


def test_a_missing_fact_never_becomes_a_unit() -> None:
    """PD, TS and CP are units to pint (petadebye …) and names of facts to people."""
    with pytest.raises(CalculationFailed, match="PD"):
        calculate("PD * 2", {"TS": 4.0})


def test_without_facts_the_numbers_themselves_are_asked_for() -> None:
    with pytest.raises(CalculationFailed, match="f1, as none is known: write the numbers"):
        calculate("f1 * 2")


def test_facts_hide_units() -> None:
    assert calculate("3 * TS", {"TS": 4.0}).value == 12
