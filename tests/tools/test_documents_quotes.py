"""What is read in a text: which figures are numbers, and what abbreviations stand for."""

import pytest
from cases import cases

from planweave.tools.documents.abbreviations import abbreviations
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


@cases(
    ("the levelised cost of hydrogen (LCOH) fell", {"LCOH": "levelised cost of hydrogen"}),
    ("LCOH (levelised cost of hydrogen) fell", {"LCOH": "levelised cost of hydrogen"}),
    ("weighted average cost\nof capital (WACC)", {"WACC": "weighted average cost of capital"}),
    ("Photovoltaics (PV) are cheap", {"PV": "Photovoltaics"}),
    ("a combined-cycle gas turbine (CCGT)", {"CCGT": "combined-cycle gas turbine"}),
    ("carbon contracts for difference (CCfD)", {"CCfD": "carbon contracts for difference"}),
    ("operation and maintenance (O&M) cost", {"O&M": "operation and maintenance"}),
    ("many electric vehicles (EVs) ran", {"EVs": "electric vehicles"}),
    ("nitrogen oxides (NOx)", {"NOx": "nitrogen oxides"}),
    ("the World Energy Council's (WEC) view", {"WEC": "World Energy Council"}),
    ("capital expenditure (CAPEX; see below)", {"CAPEX": "capital expenditure"}),
    ("capital expenditure (CAPEX, in EUR)", {"CAPEX": "capital expenditure"}),
    ("carbon capture, use and storage (CCUS)", {"CCUS": "carbon capture, use and storage"}),
    ("heat shock transcription factor 1 (HSF1)", {"HSF1": "heat shock transcription factor 1"}),
    ("one pulp mill (PM), and two pulp mills (PM)", {"PM": "pulp mill"}),
    ("pulp mills (PM) or saw mills (SM)", {"PM": "pulp mills", "SM": "saw mills"}),
    # what explains nothing
    *(
        (text, {})
        for text in (
            *("", "The cost fell (see below)", "The cost fell (2019)", "The cost fell (IEA, 2019)"),
            *("LCOH is low (in Spain)", "monthly averages of the year (May)", "an odd thing (A)"),
            "smelting partly fired by hydrogen at its plant in Navarra (Spain)",
            "carbon levy in Ghana Energy Council of Togo (CGEC)",
            *("hydrogen costs (USD/kg)", "the Interna- tional Technology Roadmap (ITR)"),
            *("It costs little. Over here (LCOH) it is", "LCOH (LCOH)"),
            *("an unclosed cost of hydrogen (LCOH", "LCOH (a measure of what hydrogen costs)"),
        )
    ),
)
def test_what_a_text_explains(text: str, expected: dict[str, str]) -> None:
    assert abbreviations(text) == expected


def test_a_long_text_without_end_takes_no_time() -> None:
    assert abbreviations("(" * 100_000 + "a b c " * 20_000 + "(AB" * 20_000) == {}
