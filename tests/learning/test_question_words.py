"""Words of a question that a database does not have, and what they say about its answer."""

import json
from pathlib import Path

import pytest
from cases import cases

from planweave.learning import question_words

WEIGHTS = {"email": 2, "fee": 1, "the": 0, "of": 0, "than": -2}


def test_words_are_weighed_by_how_often_they_are_missing_without_an_answer() -> None:
    answered = [({"the", "than"}, True)] * 40 + [({"the", "fee"}, True)] * 4
    refused = [({"the", "email"}, False)] * 20 + [({"the", "fee"}, False)] * 8
    weights = question_words.learn_weights([*answered, *refused, ({"hapax"}, True)])
    assert weights == {"email": 2, "fee": 1, "than": -2, "the": 0}
    others = [({"the"}, False), ({"the"}, True)] * 50
    few, many = (
        question_words.learn_weights([({"zebra"}, False)] * n + others)["zebra"] for n in (3, 30)
    )
    assert (few, many) == (1, 2)


@cases(
    ([], 0.8, 0.8),
    (["the", "of"], 0.8, 0.8),
    (["the", "email"], 0.8, 0.64),
    (["the", "than"], 0.8, 0.9),
    (["the", "of", "quux"], 0.8, 0.73),
    (["wie", "viele", "the"], 0.8, 0.8),  # another language: most words are not listed
    (["the", "email"], 1.0, 1.0),  # the model was not asked
    (["the", "than"], 0.0, 0.0),
)
def test_missing_words_change_the_chance(missing: list[str], chance: float, after: float) -> None:
    assert question_words.correct_chance(chance, missing, WEIGHTS) == pytest.approx(after, abs=0.01)


def test_a_refusal_names_the_weightiest_words() -> None:
    missing = {"the": "the", "fee": "fees", "email": "emails", "quux": "quux", "than": "than"}
    assert question_words.find_suspicious_words(missing, WEIGHTS) == ["emails", "fees", "quux"]


def test_weights_are_written_as_lists_that_a_person_can_read(tmp_path: Path) -> None:
    question_words.write_weights(tmp_path / "words.json", WEIGHTS, "by hand")
    assert question_words.read_weights(tmp_path / "words.json") == WEIGHTS
    kept = json.loads((tmp_path / "words.json").read_text("utf-8"))
    assert kept["words"]["2"] == "email"
    assert kept["made"] == "by hand"
    shipped = question_words.shipped_weights()
    assert shipped["email"] == shipped["why"] == -shipped["than"] == question_words.MAX_WEIGHT
