"""The indexes of documents: nearest vectors, BM25 and fusion."""

import math
from pathlib import Path

import numpy as np
import pytest
from cases import cases
from numpy.typing import NDArray

from planweave.tools.documents.vectors import VectorIndex, reciprocal_rank
from planweave.tools.documents.words import WordIndex, words

TEXTS = [
    "The price of hydrogen is 1,200 dollars.",
    *(
        "Hydrogen, hydrogen and more hydrogen from cheap power",
        "氢能成本很高",
        "Водород стоит дорого",
    ),
    *("ไฮโดรเจนมีราคาแพง", "CO₂ and nothing else", "the of and", ""),
]


def random_vectors(count: int, size: int = 16) -> NDArray[np.float32]:
    made = np.random.default_rng(3).normal(size=(count, size)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@cases(10_000, 0)
def test_nearest_vectors_are_those_of_plain_numpy(hnsw_above: int, tmp_path: Path) -> None:
    vectors, asked = random_vectors(700)[:600], random_vectors(700)[600:]
    index = VectorIndex.build(vectors, hnsw_above=hnsw_above)
    index.save(tmp_path / "ä index")
    kept = VectorIndex.load(tmp_path / "ä index")
    alike = []
    for query in asked:
        found = index.search(query, 5)
        rows = [row for row, _ in found]
        alike.append(rows == np.argsort(-(vectors @ query))[:5].tolist())
        assert [score for _, score in found] == pytest.approx(vectors[rows] @ query, abs=1e-5)
        assert kept.search(query, 5) == found
    assert np.mean(alike) > (0.9 if hnsw_above == 0 else 0.99)


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("hnsw_above", [10_000, -1])
def test_fewer_vectors_than_asked_for(count: int, hnsw_above: int) -> None:
    vectors = random_vectors(3)
    found = VectorIndex.build(vectors[:count], hnsw_above=hnsw_above).search(vectors[2], 4)
    assert sorted(row for row, _ in found) == [*range(count)]


@cases(
    ("Low-emissions H2: 45Q, CO₂!", ["low", "emissions", "h2", "45q", "co2"]),
    ("1,200.50 or 1,5 % (2030)", ["1200.50", "or", "1,5", "2030"]),
    ("snake_case Straße", ["snake", "case", "strasse"]),
    ("हिन्दी में", ["हिन्दी", "में"]),
    ("水 H2氢能", ["水", "h2", "氢", "能", "氢能"]),
    ("\ud800 … — ", []),
)
def test_words_of_a_text(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@cases(
    ("hydrogen costs 1200", 0),
    ("more HYDROGEN", 1),
    ("成本", 2),
    ("高", 2),
    ("дорого", 3),
    ("ราคา", 4),
    ("co2", 5),
)
def test_texts_are_found_in_any_alphabet(query: str, first: int) -> None:
    assert WordIndex.build(TEXTS).search(query, 3)[0][0] == first


def test_bm25_is_that_of_the_formula() -> None:
    """Robertson's BM25 with Lucene's idf, worked out by hand."""
    texts = ["hydrogen power power", "hydrogen", "water from wells far off"]
    found = WordIndex.build(texts).search("hydrogen power", 3)
    mean = (3 + 1 + 5) / 3

    def score(frequency: int, length: int, containing: int) -> float:
        idf = math.log(1 + (3 - containing + 0.5) / (containing + 0.5))
        return idf * frequency / (frequency + 1.5 * (1 - 0.75 + 0.75 * length / mean))

    first = score(1, 3, 2) + score(2, 3, 1)
    assert [row for row, _ in found] == [0, 1]
    assert [one for _, one in found] == pytest.approx([first, score(1, 1, 2)], rel=1e-5)


def test_many_texts_that_share_a_common_word() -> None:
    texts = [f"power {'grid ' * (n % 7)}{n}" for n in range(200)]
    index = WordIndex.build(texts)
    everything = index.search("power grid", 200)
    assert index.search("power grid", 9) == everything[:9]
    assert sorted(row for row, _ in everything) == list(range(200))


@cases(TEXTS, [], [""], ["the of", ""])
def test_words_are_kept_without_pickle(texts: list[str], tmp_path: Path) -> None:
    index = WordIndex.build(texts)
    index.save(tmp_path / "words")
    again = WordIndex.load(tmp_path / "words")
    for query in ("hydrogen price", "成本", "nothing of this", "", "the"):
        assert again.search(query, 4) == index.search(query, 4)
        assert texts == TEXTS or not index.search(query, 4)
    assert {path.suffix for path in (tmp_path / "words").iterdir()} == {".npy", ".json"}


def test_reciprocal_rank() -> None:
    found = reciprocal_rank([[7, 3, 5], [3, 9]])
    assert [item for item, _ in found] == [3, 7, 9, 5]
    assert dict(found) == pytest.approx({3: 1 / 62 + 1 / 61, 7: 1 / 61, 9: 1 / 62, 5: 1 / 63})
    assert [item for item, _ in reciprocal_rank([[4], [2]], k=1)] == [4, 2]
    assert reciprocal_rank([]) == []
