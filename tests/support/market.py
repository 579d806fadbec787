"""A small report, and the replies of a model that answers from it by RAT and by FuRePA."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from scripted import tell

from planweave.models import ModelUnavailable, embeddings
from planweave.tools.documents.collection import open_collection

REPORT = (
    "Market report\n\nThe levelised cost of hydrogen (LCOH) is USD 5.5/kg in 2023.\n"
    "\f"
    "Prices of offers rise by 4% a year.\n"
)
NAME = "market"
"""The collection that holds the report."""
QUESTION = "What does hydrogen cost, and how do prices of offers rise?"
DRAFT = ["Hydrogen costs USD 1/kg.", "Prices of offers rise by 4% a year."]
REVISED = "The levelised cost of hydrogen is USD 5.5/kg."
SAID = "The levelised cost of hydrogen is USD 5.5/kg [1]. Prices of offers rise by 4% a year [2]."
ANSWER = "USD 5.5/kg, 4% a year"

RAT: tuple[Mapping[str, object], ...] = (
    {"thought": "Cost, then rise.", "steps": DRAFT},
    {"query": "levelised cost of hydrogen"},
    {"text": REVISED},
    {"query": "rise of prices"},
    {"text": DRAFT[1], "earlier": []},
    tell(SAID, ANSWER),
)
"""Two steps, of which the first is corrected by its page, and the second is not."""
FUREPA: tuple[Mapping[str, object], ...] = (
    {
        "reasoning": "The cost is not known.",
        "answer": None,
        "queries": ["levelised cost of hydrogen", "LCOH in 2023"],
    },
    {
        "reasoning": "The levelised cost of hydrogen is USD 5.5/kg [1].",
        "answer": None,
        "queries": ["rise of prices", "a year of offers"],
    },
    {"reasoning": SAID, "answer": ANSWER, "queries": []},
)
"""Two rounds of queries, whichever the assessor takes of each, where a search finds one page."""


def add_report(folder: Path) -> None:
    """Put the report into its collection, which is searched by words; ``folder`` takes the file."""
    report = folder / "report.txt"
    report.write_text(REPORT)
    added = open_collection(NAME, embeddings="none", create=True).add(report)
    assert [one.status for one in added] == ["added"]


def _missing() -> str:
    """Why FuRePA's embeddings are not on this machine; empty if they are."""
    try:
        embeddings()
    except ModelUnavailable as error:
        return str(error)
    return ""


needs_minilm = pytest.mark.skipif(bool(_missing()), reason=_missing())
