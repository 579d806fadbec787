"""Whatever is calculated, the answer is a number or one sentence, and it comes."""

import random

import pytest
from tally import RecordTried

from planweave.tools.calculator import CalculationFailed, Given, calculate

PIECES = [
    *("1", "12", "3.5", "1,000", "1e3", "1e400", ".5", "0", "007", "1.2.3", "9" * 400, "1_000"),
    *("+", "-", "*", "/", "//", "%", "**", "^", "×", "÷", "·", "(", ")", "[", "]", ",", "=", "="),  # noqa: RUF001
    *("per", "of", "to", "thousand", "million", "bn", "$", "€", "£", "USD", "EUR", "kWh", "kg"),
    *("m", "km", "h", "degC", "kelvin", "dB", "dimensionless", "percent", "count", "bit", "in"),
    *("max", "min", "sum", "abs", "round", "sqrt", "log", "exp", "floor", "ceil", "max(", "log("),
    *("x", "flow", "share", "price", "_0", "_9", "__class__", "lambda", "if", "else", "import"),
    *("not", "and", "is", "None", "True", "nan", "inf", "j", "1j", "0x10", "''", '"a"', "#", "\\"),
    *("<", ">", "<=", "==", "!=", "for", "in", "for x in", "[x for x in many]", "count(", "# a\n"),
    *("a = ", "; ", "a", "many", "5 if x > 2 else", "≤"),
    *("\n", "\t", "\x00", "²", "½", "٣", "Ω", "µ", "°", "%%", "!", "@", ":=", ";", "{", "}", "?"),
]
FACTS: dict[str, Given] = {
    "flow": 12.5,
    "share": "40%",
    "price": "0.25 USD/kWh",
    "per": 2,
    "odd": "12 per 3",
    "bad": "kWh kWh",
    "inf": float("inf"),
    "many": [1.0, "2 kg", "$3"] * 100,
    "grown": [2.0] * 1000,
}
WORST = [
    *("12 per 3", "12 per", "12 per 3 kWh", "12 % per 3", "12 per 3 per 2", "12 ÷", "$ per 3"),
    *("9**9**9", "2 ** 99999", "exp(1e9)", "(" * 500 + "1" + ")" * 400, "-" * 900 + "1"),
    *("1 m ** 100000", "1 kWh to", "to kWh", "1 to to 2", "1 degC * 2 degC", "log(0)", "sqrt(-1)"),
    *("max()", "max(,)", "round(1, 1e9)", "round(1, 400)", "1 dB + 1", "0 ** -1", "1 % 0 m", "_0"),
    *("odd", "bad", "inf", "inf - inf", "1e308 * 10", "sum([[1]])", "1 if 1 else 2"),
    *("().__class__", "log(10, -1)", "5 m" + "*m" * 1900, "5 m" + "/m" * 1900),
    *("sum([sum([a * b for a in grown]) for b in grown])", "[x for x in [y for y in many]]"),
    *("; ".join(f"a{n} = [a for a in grown]" for n in range(99)), "a = [1]; a = [a, a]; a"),
    *(";" * 4000, "#" * 4000, "a = 1 #" + ";" * 3000, "[" * 2000, "a = " * 1000, "\n" * 4000),
    *("[x for x in x]", "(x for x in many)", "count(x for _0 in many)", "1 < 2 < 3 < [4]"),
]


def problem(expression: str) -> str:
    """What is wrong with the answer; empty if nothing is."""
    try:
        float(calculate(expression, FACTS).value)
    except CalculationFailed as error:
        if "\n" in error.problem or not error.problem.endswith((".", "?")):
            return f"no sentence: {error.problem!r}"
    except Exception as error:  # this is what is looked for
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("expression", WORST)
def test_a_sentence_or_a_number(expression: str) -> None:
    assert not problem(expression)


def test_generated_expressions(
    attack_is_full: bool, attack_seed: int, record_tried: RecordTried
) -> None:
    draw = random.Random(attack_seed)
    tried, found = 100_000 if attack_is_full else 500, {}
    for _ in range(tried):
        pieces = draw.choices(PIECES, k=draw.randint(1, 9))
        expression = draw.choice(("", " ")).join(pieces)
        if wrong := problem(expression):
            found[expression] = wrong
    record_tried(tried, len(found))
    assert not found
