"""Sentence vectors: each text once, some kept in memory, whole blocks on disk."""

from pathlib import Path

import numpy as np
import pytest
from bag_of_words import WordEmbeddings, embed

from planweave.learning import SentenceVectors


def test_each_text_is_embedded_once_and_the_longest_unused_forgotten() -> None:
    model = WordEmbeddings()
    vectors = SentenceVectors(model, keep=2)
    np.testing.assert_array_equal(vectors(["a", "bb", "a"]), embed(["a", "bb", "a"]))
    for texts in (["a"], ["ccc"], ["a"], ["bb"]):
        vectors(texts)
    assert model.texts == ["a", "bb", "ccc", "bb"]
    assert len(vectors(["a", "bb", "ccc", "dddd"])) == 4  # more than are kept


def test_a_stopped_run_goes_on_with_the_sound_blocks_on_disk(tmp_path: Path) -> None:
    texts = ["x" * length for length in range(600)]
    told: list[tuple[int, int]] = []
    first = SentenceVectors(
        WordEmbeddings(), folder=tmp_path / "v", progress=lambda *done: told.append(done)
    )
    before = first(texts)
    assert told == [(256, 600), (512, 600), (600, 600)]
    model = WordEmbeddings()
    np.testing.assert_array_equal(SentenceVectors(model, folder=tmp_path / "v")(texts), before)
    assert model.texts == texts[512:]
    for block in (tmp_path / "v").iterdir():
        block.write_bytes(block.read_bytes()[:200])
    model.texts = []
    np.testing.assert_array_equal(SentenceVectors(model, folder=tmp_path / "v")(texts), before)
    assert model.texts == texts


def test_nothing_is_lost_when_the_model_fails() -> None:
    class Failing(WordEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            if "bad" in texts:
                raise ValueError("no")
            return super().embed_documents(texts)

    vectors = SentenceVectors(Failing())
    vectors(["a"])
    with pytest.raises(ValueError, match="no"):
        vectors(["a", "bad"])
    np.testing.assert_array_equal(vectors(["a"]), embed(["a"]))
