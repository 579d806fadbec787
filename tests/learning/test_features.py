"""What the plan assessor sees."""

import numpy as np
import pytest
from bag_of_words import embed

from planweave.learning import FEATURES, CandidateQuery, RetrievedPage, features

QUESTION = "Where was the director of Stull born?"
STULL = RetrievedPage("Stull (film)", "Stull is a film directed by Ann Lee.")
LEE = RetrievedPage("Ann Lee", "Ann Lee was born in Kansas.")
EVIDENCE = ["Stull (film): Stull is a film directed by Ann Lee."]


def row(query: str, hits: list[RetrievedPage], evidence: list[str]) -> dict[str, float]:
    (values,) = features(QUESTION, evidence, [CandidateQuery(query, hits)], embed)
    return dict(zip(FEATURES, values.tolist(), strict=True))


def test_shares_of_words_by_hand() -> None:
    seen = row("Ann Lee born", [STULL, LEE], EVIDENCE)
    expected = {
        "query_in_question": 1 / 3,  # of ann, lee, born
        "question_in_query": 1 / 3,  # of director, stull, born
        "query_in_evidence": 2 / 3,
        "new_in_evidence": 1.0,  # ann, lee
        "open_words": 0.2,  # director, born
        "open_in_query": 0.5,
        "query_in_hit1": 1.0,
        "open_in_hit1": 0.5,
        "query_of_nowhere": 0.0,
        "passages": 0.1,
    }
    assert {name: seen[name] for name in expected} == pytest.approx(expected)


def test_pages_that_are_evidence_are_passed_over() -> None:
    seen = row("Ann Lee", [STULL, LEE], EVIDENCE)
    assert seen["hits_seen"] == 0.5
    assert seen["first_hit_seen"] == 1
    assert seen["title1_in_evidence"] == 1  # Ann Lee, named by what was found
    assert seen["title1_in_question"] == 0
    assert row("Ann Lee", [STULL, LEE], [])["title1_in_question"] == 1  # Stull, brackets off
    assert row("Ann Lee", [LEE], EVIDENCE)["query~hit1"] == pytest.approx(seen["query~hit1"])


@pytest.mark.parametrize("evidence", [[], EVIDENCE, ["", ": "]])
@pytest.mark.parametrize("hits", [[], [STULL], [RetrievedPage("", "")], [STULL, LEE] * 9])
@pytest.mark.parametrize("query", ["", "?!", "Ann Lee", "日本"])
def test_inputs_give_numbers(query: str, hits: list[RetrievedPage], evidence: list[str]) -> None:
    seen = row(query, hits, evidence)
    assert np.isfinite(list(seen.values())).all()
    assert len(set(FEATURES)) == len(FEATURES)
