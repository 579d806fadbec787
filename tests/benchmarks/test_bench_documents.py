"""The benchmark of documents: what it measures, and how it tells it."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from bench_command import bench
from langchain_core.embeddings import Embeddings
from published import published

from planweave import BadInput
from planweave.benchmarks.suites.documents import measure as retrieval
from planweave.benchmarks.suites.documents.measure import Asked, measure
from planweave.benchmarks.suites.documents.quality import HotpotQuestion, Quality, pooled
from planweave.benchmarks.suites.documents.speed import Indexing, Speed, clustered, shared
from planweave.models import register_embeddings


class Letters(Embeddings):
    """A text's vector counts its letters."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A report of three pages and two questions of HotpotQA, in the published layout."""
    register_embeddings("letters", lambda _: Letters())
    pages = ["Wind turbines spin.", "Hydrogen costs 3 dollars.", "Batteries are heavy."]
    write(
        tmp_path / retrieval.REPORT,
        [{"page": n, "chapter": None, "text": text} for n, text in enumerate(pages, 1)],
    )
    report = Path(retrieval.REPORT).name.removesuffix("_pages.jsonl.gz")
    asked = [
        {"doc": report, "question": "What does hydrogen cost in dollars?", "pages": [2]},
        {"doc": report, "question": "Who knows?", "pages": []},
        {"doc": "another", "question": "What spins?", "pages": [1]},
    ]
    (tmp_path / retrieval.QUESTIONS).write_text("\n".join(map(json.dumps, asked)))
    context = [["Ann", ["Ann wrote Wind."]], ["Wind", ["Wind is a book", " of 1990."]]]
    hotpot = [
        {"question": "Who wrote Wind?", "context": context, "supporting_facts": [["Ann", 0]]},
        {
            "question": "Ann's book of 1990?",
            "context": [*context, ["Bob", ["Bob rests."]]],
            "supporting_facts": [["Wind", 0], ["Ann", 0], ["Wind", 1]],
        },
    ]
    write(tmp_path / retrieval.HOTPOTQA, hotpot)
    return tmp_path


def write(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))


def test_indexing_and_indexing_again(data: Path) -> None:
    lines = list(measure("indexing", Asked(data=data, embeddings="letters:x")))
    assert all(isinstance(line, Indexing) for line in lines)
    found = [(x.embeddings, x.run, x.pages, x.embedded) for x in lines if isinstance(x, Indexing)]
    assert found == [
        ("none", "first", 3, 0),
        ("none", "again", 3, 0),
        ("letters:x", "first", 3, 3),
        ("letters:x", "again", 3, 0),
    ]


def test_speeds_of_every_index(data: Path) -> None:
    asked = Asked(data=data, sizes=(300,), queries=5)
    lines = [*measure("vectors", asked), *measure("words", asked)]
    found = {line.index: line for line in lines if isinstance(line, Speed)}
    assert set(found) == {"exact", "hnsw", "words"}
    assert found["exact"].recall == 1
    assert found["hnsw"].recall is not None
    assert found["hnsw"].recall > 0.9
    assert found["hnsw"].megabytes > found["exact"].megabytes > 300 * 384 * 4 / 1e6
    assert all(line.search_ms.n == 5 for line in found.values())


def test_quality_by_every_way(data: Path) -> None:
    asked = Asked(data=data, embeddings="letters:x", rerankers=())
    lines = [line for line in measure("quality", asked) if isinstance(line, Quality)]
    assert {(line.data, line.way, line.depth) for line in lines} == {
        (name, way, depth)
        for name, depths in (("pages of the report", (4,)), ("HotpotQA", (2, 4, 10)))
        for way in ("fused", "dense", "bm25")
        for depth in depths
    }
    by_words = {(line.data, line.depth): line for line in lines if line.way == "bm25"}
    assert by_words["pages of the report", 4].recall.value == 1
    assert by_words["pages of the report", 4].recall.n == 1  # the other questions have no page
    assert by_words["HotpotQA", 2].recall.n == 2


def test_recall_counts_each_supporting_paragraph_once(data: Path) -> None:
    with gzip.open(data / retrieval.HOTPOTQA, "rt") as file:
        records = [HotpotQuestion.model_validate_json(line) for line in file]
    questions, paragraphs = pooled(records)
    assert list(paragraphs) == [
        "Ann. Ann wrote Wind.",
        "Wind. Wind is a book of 1990.",
        "Bob. Bob rests.",
    ]
    assert [question.truth for question in questions] == [{0}, {0, 1}]
    assert shared(np.array([[1, 2], [3, 4]]), np.array([[2, 9], [4, 3]])) == 0.75


def test_synthetic_vectors_are_seeded_and_clustered() -> None:
    made = clustered(2_000, 7)
    assert (made == clustered(2_000, 7)).all()
    assert np.linalg.norm(made, axis=1) == pytest.approx(1, abs=1e-5)
    close = made[:300] @ made.T
    assert np.sort(close, axis=1)[:, -20:].mean() > close.mean() + 0.4


def test_parts_are_kept_side_by_side(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    common = ["documents", "--data", str(data), "--embeddings", "letters:x", "--out", str(out)]
    for words in (["--part", "indexing"], ["--part", "vectors", "--sizes", "50,60"]):
        bench(*common, *words, "--queries", "3")
    kept = json.loads((out / "retrieval.json").read_text())
    assert set(kept) == {"indexing", "vectors"}
    assert [line["size"] for line in kept["vectors"]["result"]] == [50, 50, 60, 60]
    assert {"command", "date", "model", "machine", "commit", "versions"} < set(kept["indexing"])
    assert str(tmp_path) not in json.dumps(kept)
    assert (out / "search.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--part", "all of it"], "There is no part"),
        (["--sizes", "many"], "are no sizes"),
        (["--sizes", "0"], "are no sizes"),
    ],
)
def test_wrong_words_are_told(data: Path, tmp_path: Path, words: list[str], told: str) -> None:
    bench("documents", "--data", data, *words, fails=told)


def test_absent_and_damaged_data_are_told(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        list(measure("indexing", Asked(data=tmp_path / "nowhere")))
    (data / retrieval.QUESTIONS).write_text("{")
    with pytest.raises(BadInput, match="is not as it should be"):
        list(measure("quality", Asked(data=data, embeddings="letters:x")))
    result = tmp_path / "retrieval.json"
    result.write_text("[]")
    with pytest.raises(BadInput, match="cannot be used"):
        retrieval.keep(result, "words", {}, [])


@pytest.mark.published
def test_the_published_questions_are_answered_by_words() -> None:
    register_embeddings("letters", lambda _: Letters())
    asked = Asked(data=published(""), embeddings="letters:x", rerankers=())
    lines = [line for line in measure("quality", asked) if isinstance(line, Quality)]
    by_words = {(line.data, line.depth): line for line in lines if line.way == "bm25"}
    assert by_words["pages of the report", 4].recall.n > 10
    assert by_words["pages of the report", 4].recall.value > 0.5
    assert by_words["HotpotQA", 10].recall.value > by_words["HotpotQA", 2].recall.value > 0.3
