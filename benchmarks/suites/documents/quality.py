"""How often the right page or paragraph is found: by meaning, by words, and by both."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from planweave import BadInput
from planweave.benchmarks.core.metrics import Rate, rate, sign_test
from planweave.benchmarks.core.table import Table
from planweave.memory import SearchMode
from planweave.models import embeddings
from planweave.records import read_records
from planweave.tools.documents.collection import delete_collection, open_collection
from planweave.tools.documents.fusion import reciprocal_rank
from planweave.tools.documents.vectors import VectorIndex
from planweave.tools.documents.words import WordIndex

REPORT = "docs/iea_global_hydrogen_review_2024_pages.jsonl.gz"
QUESTIONS = "docs/questions.jsonl"
HOTPOTQA = "hotpotqa/dev_distractor_subset.jsonl.gz"

Record = TypeVar("Record", bound=BaseModel)

_PAGES = 4
_DEPTHS = (2, 4, 10)
_FUSED_FROM = 50

Search: TypeAlias = Callable[[str], Sequence[int]]
"""Question to what was found, best first."""


class PageQuestion(BaseModel):
    """A question on a report, and the pages that answer it."""

    doc: str
    question: str
    pages: list[int]


class HotpotQuestion(BaseModel):
    """A question of HotpotQA with its paragraphs: titles and sentences."""

    question: str
    context: list[tuple[str, list[str]]]
    supporting_facts: list[tuple[str, int]]


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How well one way of searching does.

    Attributes:
        way: "dense", "bm25" or "fused".
        depth: Pages or paragraphs looked at.
        recall: Share of what supports the answer that is among them, over the questions.
        complete: Share of the questions of which everything that supports the answer is.
        better: Questions complete here and not when fused.
        worse: Questions complete when fused and not here.
        p: Of a split at least this uneven if both were equally good (exact McNemar test).
    """

    data: str
    way: str
    depth: int
    recall: Rate
    complete: Rate
    better: int
    worse: int
    p: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class _Question:
    text: str
    truth: frozenset[int]


def qualities(data: Path, model: str) -> Iterator[Quality]:
    """Every way of searching on both sets of questions, each line as soon as it is known."""
    report, questions = _there(data, REPORT), _records(data, QUESTIONS, PageQuestion)
    yield from page_quality(report, questions, model)
    yield from hotpot_quality(_records(data, HOTPOTQA, HotpotQuestion), model)


def quality_table(lines: Sequence[Quality]) -> Table:
    """The lines, to be shown."""
    names = Quality.__dataclass_fields__
    return Table(
        title="Retrieval quality",
        columns=tuple(names),
        rows=[tuple(getattr(line, name) for name in names) for line in lines],
    )


def as_json(line: Quality) -> dict[str, Any]:
    """A line, numbers as numbers."""
    return vars(line) | {name: getattr(line, name)._asdict() for name in ("recall", "complete")}


def _there(data: Path, name: str) -> Path:
    path = data / name
    if not path.is_file():
        raise BadInput(
            f"There is no file {path}.", fix="Name the folder of the data sets with --data."
        )
    return path


def _records(data: Path, name: str, kind: type[Record]) -> list[Record]:
    return read_records(_there(data, name), kind, fix="Fetch it again.")


def page_quality(report: Path, records: Sequence[PageQuestion], model: str) -> Iterator[Quality]:
    """Recall of the evidence pages of a report, by the search of document collections."""
    questions = [
        _Question(text=record.question, truth=frozenset(record.pages))
        for record in records
        if record.pages and report.name.startswith(record.doc)
    ]
    name = f"benchmark/{uuid4().hex}"
    collection = open_collection(name, embeddings=model, create=True)
    try:
        collection.add(report)

        def search(mode: SearchMode, question: str) -> list[int]:
            return [page.page for page in collection.search(question, k=_PAGES, mode=mode)]

        ways: dict[str, Search] = {mode: partial(search, mode) for mode in get_args(SearchMode)}
        yield from _measured("pages of the report", questions, ways, (_PAGES,))
    finally:
        delete_collection(name)


def hotpot_quality(records: Sequence[HotpotQuestion], model: str) -> Iterator[Quality]:
    """Recall of the supporting paragraphs among those of all questions pooled."""
    questions, paragraphs = pooled(records)
    texts = list(paragraphs)
    made = embeddings(model)
    vectors = VectorIndex.build(np.array(made.embed_documents(texts), np.float32))
    words = WordIndex.build(texts)

    def dense(question: str) -> list[int]:
        asked: NDArray[np.float32] = np.array([made.embed_query(question)], np.float32)
        return [int(row) for row in vectors.search(asked, _FUSED_FROM).rows[0] if row >= 0]

    def bm25(question: str) -> list[int]:
        return [int(row) for row in words.search([question], _FUSED_FROM).rows[0] if row >= 0]

    def fused(question: str) -> list[int]:
        return [row for row, _ in reciprocal_rank([dense(question), bm25(question)])]

    ways: dict[str, Search] = {"fused": fused, "dense": dense, "bm25": bm25}
    yield from _measured("HotpotQA", questions, ways, _DEPTHS)


def pooled(records: Sequence[HotpotQuestion]) -> tuple[list[_Question], dict[str, int]]:
    """Questions, and the paragraphs of all of them with their numbers, each once."""
    paragraphs: dict[str, int] = {}
    questions = []
    for record in records:
        own = {
            title: paragraphs.setdefault(f"{title}. {''.join(sentences)}", len(paragraphs))
            for title, sentences in record.context
        }
        truth = frozenset(own[title] for title, _ in record.supporting_facts)
        questions.append(_Question(text=record.question, truth=truth))
    return questions, paragraphs


def _measured(
    data: str, questions: Sequence[_Question], ways: Mapping[str, Search], depths: Sequence[int]
) -> Iterator[Quality]:
    """One line for each way and depth; the first way is what the others are compared with."""
    baseline: dict[int, dict[str, bool]] = {}
    for way, search in ways.items():
        search(questions[0].text)  # indexes and models are loaded
        start = time.perf_counter()
        found = [search(question.text) for question in questions]
        seconds = (time.perf_counter() - start) / len(questions)
        for depth in depths:
            shares = [
                len(question.truth & set(rows[:depth])) / len(question.truth)
                for question, rows in zip(questions, found, strict=True)
            ]
            whole = {str(n): share == 1 for n, share in enumerate(shares)}
            test = sign_test(whole, baseline.setdefault(depth, whole))
            recall, complete = rate(shares), rate([float(share == 1) for share in shares])
            assert recall is not None  # noqa: S101 (there are questions)
            assert complete is not None  # noqa: S101
            yield Quality(
                data=data,
                way=way,
                depth=depth,
                recall=recall,
                complete=complete,
                better=test.first,
                worse=test.second,
                p=test.p,
                seconds=seconds,
            )
