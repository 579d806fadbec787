"""The benchmark of documents: what it measures, and how it tells it."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from bench_command import bench
from documents import WordEmbeddings
from published import published

from planweave import BadInput
from planweave.benchmarks.suites.documents.quality import (
    HOTPOTQA,
    QUESTIONS,
    REPORT,
    HotpotQuestion,
    pooled,
    qualities,
)
from planweave.models import register_embeddings


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A report of three pages and two questions of HotpotQA, in the published layout."""
    register_embeddings("words", WordEmbeddings)
    pages = ["Wind turbines spin.", "Hydrogen costs 3 dollars.", "Batteries are heavy."]
    write(
        tmp_path / REPORT,
        [{"page": n, "chapter": None, "text": text} for n, text in enumerate(pages, 1)],
    )
    report = Path(REPORT).name.removesuffix("_pages.jsonl.gz")
    asked = [
        {"doc": report, "question": "What does hydrogen cost in dollars?", "pages": [2]},
        {"doc": report, "question": "Who knows?", "pages": []},
        {"doc": "another", "question": "What spins?", "pages": [1]},
    ]
    (tmp_path / QUESTIONS).write_text("\n".join(map(json.dumps, asked)))
    context = [["Ann", ["Ann wrote Wind."]], ["Wind", ["Wind is a book", " of 1990."]]]
    hotpot = [
        {"question": "Who wrote Wind?", "context": context, "supporting_facts": [["Ann", 0]]},
        {
            "question": "Ann's book of 1990?",
            "context": [*context, ["Bob", ["Bob rests."]]],
            "supporting_facts": [["Wind", 0], ["Ann", 0], ["Wind", 1]],
        },
    ]
    write(tmp_path / HOTPOTQA, hotpot)
    return tmp_path


def write(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))


def test_quality_by_every_way(data: Path) -> None:
    lines = list(qualities(data, "words:x"))
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
    with gzip.open(data / HOTPOTQA, "rt") as file:
        records = [HotpotQuestion.model_validate_json(line) for line in file]
    questions, paragraphs = pooled(records)
    assert list(paragraphs) == [
        "Ann. Ann wrote Wind.",
        "Wind. Wind is a book of 1990.",
        "Bob. Bob rests.",
    ]
    assert [question.truth for question in questions] == [{0}, {0, 1}]


def test_the_command_keeps_what_it_found(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    bench("documents", "--data", data, "--embeddings", "words:x", "--out", out)
    kept = json.loads((out / "quality.json").read_text())
    assert {"command", "date", "machine", "commit", "versions", "embeddings"} < set(kept)
    assert kept["result"][0]["recall"]["n"] == 1
    assert str(tmp_path) not in json.dumps(kept)


def test_absent_and_damaged_data_are_told(data: Path, tmp_path: Path) -> None:
    bench("documents", "--data", tmp_path / "nowhere", fails="There is no file")
    (data / QUESTIONS).write_text("{")
    with pytest.raises(BadInput, match="is not as it should be"):
        list(qualities(data, "words:x"))


@pytest.mark.published
def test_the_published_questions_are_answered_by_words() -> None:
    register_embeddings("words", WordEmbeddings)
    lines = list(qualities(published(""), "words:x"))
    by_words = {(line.data, line.depth): line for line in lines if line.way == "bm25"}
    assert by_words["pages of the report", 4].recall.n > 10
    assert by_words["pages of the report", 4].recall.value > 0.5
    assert by_words["HotpotQA", 10].recall.value > by_words["HotpotQA", 2].recall.value > 0.3
