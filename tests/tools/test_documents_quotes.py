"""Which figures of a text are numbers that a quote has to say."""

import pytest
from cases import cases

from planweave.tools.documents.quotes import missing_numbers, numbers


@cases("H2", "CO2", "45Q", "PM2.5", "tCO2e", "Q3", "IPv4", "km2", "2H", "Mn2O3", "H₂")
def test_a_figure_that_is_part_of_a_name_is_no_number(name: str) -> None:
    for text in (name, f"({name})", f"the {name}-based share", f"per {name}, or"):
        assert numbers(text) == frozenset(), text


@cases(
    ("10kg", "10"),
    ("5MW", "5"),
    ("12V", "12"),
    ("USD0.8/kg", "0.8"),
    ("CHF1,200", "1200"),
    ("US$5M", "5"),
    ("20%", "20"),
    ("2-9/kg", "2 9"),
    ("25km2", "25"),
    ("the 4th of 10x", "4 10"),
    ("CO2 100 t", "100"),
    ("3 kg H2", "3"),
    ("1 234 567.50", "1234567.5"),
    ("in 2023, 100", "2023 100"),
)
def test_a_figure_with_its_unit_is_a_number(text: str, found: str) -> None:
    assert numbers(text) == frozenset(found.split())


def test_a_quote_need_not_name_what_has_a_figure_in_its_name() -> None:
    claim = "Under 45Q, H2 earns USD 3/kg."
    assert missing_numbers(claim, "the credit is USD3/kg") == ""
    assert missing_numbers(claim, "the credit for H3 is 2/kg") == "3"
    assert missing_numbers("It costs USD 0.80/kg.", "it is costly") == "0.8"


@pytest.mark.timeout(60)  # of squared effort, it takes minutes
def test_a_long_word_takes_no_long_time() -> None:
    assert numbers("a" * 300_000) == frozenset()
