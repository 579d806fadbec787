"""Abbreviations: found where the text explains them, and never invented."""

from cases import cases

from planweave.tools.documents.abbreviations import abbreviations


@cases(
    ("the levelised cost of hydrogen (LCOH) fell", {"LCOH": "levelised cost of hydrogen"}),
    ("LCOH (levelised cost of hydrogen) fell", {"LCOH": "levelised cost of hydrogen"}),
    ("the International Energy Agency (IEA)", {"IEA": "International Energy Agency"}),
    ("weighted average cost\nof capital (WACC)", {"WACC": "weighted average cost of capital"}),
    ("Photovoltaics (PV) are cheap", {"PV": "Photovoltaics"}),
    ("a combined-cycle gas turbine (CCGT)", {"CCGT": "combined-cycle gas turbine"}),
    ("carbon contracts for difference (CCfD)", {"CCfD": "carbon contracts for difference"}),
    ("guarantees of origin (GoO)", {"GoO": "guarantees of origin"}),
    ("operation and maintenance (O&M) cost", {"O&M": "operation and maintenance"}),
    ("many electric vehicles (EVs) ran", {"EVs": "electric vehicles"}),
    ("nitrogen oxides (NOx)", {"NOx": "nitrogen oxides"}),
    ("the Fischer-Tropsch (FT) process", {"FT": "Fischer-Tropsch"}),
    (
        "the International Renewable Energy Agency's (IRENA) view",
        {"IRENA": "International Renewable Energy Agency"},
    ),
    ("capital expenditure (CAPEX; see below)", {"CAPEX": "capital expenditure"}),
    ("capital expenditure (CAPEX, in EUR)", {"CAPEX": "capital expenditure"}),
    (
        "carbon capture, utilisation and storage (CCUS)",
        {"CCUS": "carbon capture, utilisation and storage"},
    ),
    ("high-voltage direct current (HVDC) lines", {"HVDC": "high-voltage direct current"}),
    ("heat shock transcription factor 1 (HSF1)", {"HSF1": "heat shock transcription factor 1"}),
    (
        "final investment decision (FID), and final investment decisions (FID)",
        {"FID": "final investment decision"},
    ),
    (
        "steam methane reforming (SMR) or direct air capture (DAC)",
        {"SMR": "steam methane reforming", "DAC": "direct air capture"},
    ),
    # what explains nothing
    ("", {}),
    ("plain text without any", {}),
    ("The cost fell (see below)", {}),
    ("The cost fell (Figure 3)", {}),
    ("The cost fell (2019)", {}),
    ("The cost fell (IEA)", {}),
    ("The cost fell (IEA, 2019)", {}),
    ("LCOH is low (in Spain)", {}),
    ("smelting partly fired by hydrogen at its plant in Navarra (Spain)", {}),
    ("monthly averages of the year (May)", {}),
    ("an odd thing (A)", {}),
    ("hydrogen costs (USD/kg)", {}),
    ("carbon levy in Ghana Energy Council of Togo (CGEC)", {}),
    ("the Interna- tional Technology Roadmap (ITR)", {}),
    ("It costs little. Over here (LCOH) it is", {}),
    ("LCOH (LCOH)", {}),
    ("an unclosed cost of hydrogen (LCOH", {}),
    ("LCOH (a measure of what hydrogen costs)", {}),
)
def test_what_a_text_explains(text: str, expected: dict[str, str]) -> None:
    assert abbreviations(text) == expected


def test_a_long_text_without_end_takes_no_time() -> None:
    assert abbreviations("(" * 100_000 + "a b c " * 20_000 + "(AB" * 20_000) == {}
