"""The questions of the document agents' benchmark, in the five sets of the thesis.

| set | questions |
|---|---|
| simple 1 | reports: lookups of one quantity, and questions without an answer |
| simple 2 | TAT-QA: spans that need no comparison |
| complex 1 | reports: comparisons, and lookups of several quantities |
| complex 2 | TAT-QA: spans that need a comparison, and counts |
| calculation | both in turn: calculations; arithmetic with a derivation |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from planweave import BadInput
from planweave.benchmarks.core.suite import drawn, in_turn
from planweave.benchmarks.suites.agents.quantity import (
    Quantity,
    is_number,
    quantities,
    quantities_agree,
    same_quantities,
    split_result,
)
from planweave.benchmarks.suites.agents.tatqa import SCALES, match_spans
from planweave.records import read_records

SETS = ("simple 1", "simple 2", "complex 1", "complex 2", "calculation")

_FIX = (
    "Name a folder with docs/questions.jsonl and its documents, with tatqa/dev.jsonl.gz, or both."
)


@dataclass(frozen=True, kw_only=True)
class Gold:
    """The right answer."""

    text: str
    forms: tuple[tuple[Quantity, ...], ...] = ()  # the quantities, in each accepted form
    spans: tuple[str, ...] = ()
    scale: str = ""

    def is_right(self, short: str, question: str) -> bool | None:
        """Whether a short answer is right; None if only a judge can decide.

        Equal words are right, and words without any match are wrong.
        """
        if self.forms:
            plain, remarks = split_result(short)
            found = quantities(plain)
            whole = found + [q for remark in remarks for q in quantities(remark)]
            return any(
                same_quantities(form, own, question)
                for form in self.forms
                for own in (found, whole)
            )
        if self.spans:
            exact, f1 = match_spans(self.spans, self.scale, short)
            return True if exact else None if f1 else False
        return None

    def may_occur_in(self, text: str) -> bool:
        """Whether a text can contain this answer; if it lacks a number of the answer, it cannot.

        Signs are ignored, since words may express them ("it fell by 22 %").
        """
        found = _unsigned(quantities(text))
        return not self.forms or any(
            all(any(quantities_agree(one, other) for other in found) for one in _unsigned(form))
            for form in self.forms
        )


def _unsigned(given: Sequence[Quantity]) -> list[Quantity]:
    return [one._replace(value=abs(one.value)) for one in given]


@dataclass(frozen=True, kw_only=True)
class DocumentQuestion:
    """A question with its answer and the pages that contain it."""

    id: str  # its id in the data set; for TAT-QA, the beginning of it
    part: str  # the set, one of `SETS`
    asked: str
    gold: Gold | None
    evidence: frozenset[tuple[str, int]]  # the pages that contain it, as (document, page)


@dataclass(frozen=True)
class Document:
    """A document of the collection: a file, or a table with its paragraphs as one page."""

    name: str
    path: Path | None = None
    text: str = ""


@dataclass(frozen=True)
class FolderContents:
    """The contents of a data folder."""

    questions: list[DocumentQuestion]
    documents: list[Document]


class _Asked(BaseModel):
    """A line of docs/questions.jsonl."""

    id: str
    doc: str
    kind: Literal["lookup", "comparison", "calculation", "unanswerable"]
    question: str
    answer: str
    pages: list[int]


class _Table(BaseModel):
    uid: str
    table: list[list[str]]


class _Paragraph(BaseModel):
    order: int
    text: str


class _TatQuestion(BaseModel):
    uid: str
    question: str
    answer: float | int | str | list[str]
    derivation: str
    answer_type: Literal["span", "multi-span", "arithmetic", "count"]
    req_comparison: bool = False
    scale: str


class _Context(BaseModel):
    """A line of TAT-QA: a table, the text around it, and questions about both."""

    table: _Table
    paragraphs: list[_Paragraph]
    questions: list[_TatQuestion]


def load(folder: Path, *, contexts: int, seed: int) -> FolderContents:
    """Read the data sets that the folder contains.

    ``contexts`` is the number of contexts drawn from TAT-QA; they become documents.
    """
    reports, tables = folder / "docs" / "questions.jsonl", folder / "tatqa" / "dev.jsonl.gz"
    questions: list[DocumentQuestion] = []
    documents: list[Document] = []
    if reports.exists():
        asked = read_records(reports, _Asked, fix=_FIX)
        files = {name: _find_document(name, reports.parent) for name in {one.doc for one in asked}}
        questions += [_report_question(one, files[one.doc].name) for one in asked]
        paths = sorted({*files.values(), *reports.parent.glob("*.pdf")})
        documents += [Document(path.name, path) for path in paths]
    if tables.exists():
        pool = read_records(tables, _Context, fix=_FIX)
        for context in drawn(pool, contexts, seed, lambda one: one.table.uid):
            documents.append(_table_document(context))
            questions += [q for one in context.questions if (q := _table_question(one, context))]
    if not questions:
        raise BadInput(f"{folder} contains no questions.", fix=_FIX)
    return FolderContents(questions, documents)


def choose(
    questions: Sequence[DocumentQuestion], limit: int | None, seed: int
) -> list[DocumentQuestion]:
    """Draw questions evenly from the sets.

    The draw depends only on the seed and the questions' ids; a smaller limit draws a subset of a
    larger one.
    """
    pools = []
    for part in SETS:
        own = drawn((q for q in questions if q.part == part), None, seed, lambda q: q.id)
        from_tables = [q for q in own if q.id.startswith("tatqa-")]
        pools.append(in_turn([q for q in own if q not in from_tables], from_tables))
    return in_turn(*pools)[:limit]


def _find_document(name: str, folder: Path) -> Path:
    """Find the document that a question names: the text of its pages, or the PDF file."""
    for ending in ("_pages.jsonl.gz", "_pages.jsonl", ".pdf"):
        if (path := folder / f"{name}{ending}").exists():
            return path
    raise BadInput(f"{folder} lacks the document {name!r}, which questions name.", fix=_FIX)


def _report_question(asked: _Asked, document: str) -> DocumentQuestion:
    last, remarks = split_result(asked.answer)
    values = quantities(last)
    forms = [values, *filter(None, map(quantities, remarks))] if values else []
    if asked.kind == "comparison":
        forms = []  # its answer names things in words
    gold = Gold(text=asked.answer, forms=tuple(tuple(form) for form in forms))
    several = sum(not value.joined for value in values) > 1
    part = "complex 1" if asked.kind == "comparison" or several else "simple 1"
    return DocumentQuestion(
        id=asked.id,
        part="calculation" if asked.kind == "calculation" else part,
        asked=asked.question,
        gold=None if asked.kind == "unanswerable" else gold,
        evidence=frozenset((document, page) for page in asked.pages),
    )


def _document_name(context: _Context) -> str:
    return f"tatqa-{context.table.uid[:8]}.jsonl"


def _table_document(context: _Context) -> Document:
    """A context as a page; each table row is a line with ``|`` between the cells."""
    rows = "\n".join(" | ".join(cell.strip() for cell in row) for row in context.table.table)
    paragraphs = sorted(context.paragraphs, key=lambda paragraph: paragraph.order)
    return Document(
        _document_name(context), text="\n\n".join([*(p.text for p in paragraphs), rows])
    )


def _table_question(asked: _TatQuestion, context: _Context) -> DocumentQuestion | None:
    """A question of TAT-QA; None for arithmetic without a derivation."""
    if asked.answer_type == "arithmetic" and not asked.derivation:
        return None
    hard = asked.req_comparison or asked.answer_type == "count"
    part = "calculation" if asked.answer_type == "arithmetic" else "complex 2" if hard else ""
    answer = asked.answer if isinstance(asked.answer, list) else [f"{asked.answer}"]
    return DocumentQuestion(
        id=f"tatqa-{asked.uid[:8]}",
        part=part or "simple 2",
        asked=asked.question,
        gold=_table_gold(answer, asked.scale),
        evidence=frozenset({(_document_name(context), 1)}),
    )


def _table_gold(answer: Sequence[str], scale: str) -> Gold:
    values: list[Quantity] = []
    if all(map(is_number, answer)):
        factor = 1.0 if scale == "percent" else SCALES.get(scale, 1.0)
        for span in answer:
            (one,) = quantities(span)
            own = one._replace(percent=True) if scale == "percent" else one
            values.append(own if own.scale != 1 else own._replace(scale=factor))
    text = f"{'; '.join(answer)} {scale}".strip()
    return Gold(
        text=text, forms=(tuple(values),) if values else (), spans=tuple(answer), scale=scale
    )
