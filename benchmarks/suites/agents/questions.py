"""The questions of the document agents' benchmark, in the five sets of the thesis.

| set | questions |
|---|---|
| simple 1 | of the reports, a lookup with one quantity; and what the reports do not answer |
| simple 2 | of TAT-QA, spans that need no comparison |
| complex 1 | of the reports, a comparison, or a lookup with several quantities |
| complex 2 | of TAT-QA, spans that need a comparison, and counts |
| calculation | of both, in turn: a calculation; arithmetic with a derivation |
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
    agree,
    is_number,
    quantities,
    result_of,
    same,
)
from planweave.benchmarks.suites.agents.tatqa import SCALES, match
from planweave.records import read_records

SETS = ("simple 1", "simple 2", "complex 1", "complex 2", "calculation")

_FIX = (
    "Name a folder that holds docs/questions.jsonl with its documents, tatqa/dev.jsonl.gz, or both."
)


@dataclass(frozen=True, kw_only=True)
class Gold:
    """The right answer."""

    text: str
    forms: tuple[tuple[Quantity, ...], ...] = ()  # quantities in each way to put them, if any
    spans: tuple[str, ...] = ()
    scale: str = ""

    def right(self, short: str, question: str) -> bool | None:
        """Whether a short answer is right; None where only a judge can decide.

        Of words, the same are right, and words of which none is the same are wrong.
        """
        if self.forms:
            plain, remarks = result_of(short)
            found = quantities(plain)
            whole = found + [q for remark in remarks for q in quantities(remark)]
            return any(same(form, own, question) for form in self.forms for own in (found, whole))
        if self.spans:
            exact, f1 = match(self.spans, self.scale, short)
            return True if exact else None if f1 else False
        return None

    def may_be_in(self, text: str) -> bool:
        """Whether a text can hold this answer: one that nowhere gives its numbers cannot.

        Their signs may be in its words ("it fell by 22 %").
        """
        found = _unsigned(quantities(text))
        return not self.forms or any(
            all(any(agree(one, other) for other in found) for one in _unsigned(form))
            for form in self.forms
        )


def _unsigned(given: Sequence[Quantity]) -> list[Quantity]:
    return [one._replace(value=abs(one.value)) for one in given]


@dataclass(frozen=True, kw_only=True)
class DocumentQuestion:
    """A question with its answer and where that is."""

    id: str  # its name in the data set, of TAT-QA the beginning
    part: str  # the set that it belongs to
    asked: str
    gold: Gold | None
    evidence: frozenset[tuple[str, int]]  # the pages that hold it, as (document, page)


@dataclass(frozen=True)
class Document:
    """A document of the collection: a file, or a table with its paragraphs as one page."""

    name: str
    path: Path | None = None
    text: str = ""


@dataclass(frozen=True)
class FolderContents:
    """What a folder holds."""

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
    """Read both data sets, as far as they are there.

    Questions are about the ``contexts`` drawn from TAT-QA, which become documents.
    """
    reports, tables = folder / "docs" / "questions.jsonl", folder / "tatqa" / "dev.jsonl.gz"
    questions: list[DocumentQuestion] = []
    documents: list[Document] = []
    if reports.exists():
        asked = read_records(reports, _Asked, fix=_FIX)
        files = {name: _file_of(name, reports.parent) for name in {one.doc for one in asked}}
        questions += [_of_report(one, files[one.doc].name) for one in asked]
        paths = sorted({*files.values(), *reports.parent.glob("*.pdf")})
        documents += [Document(path.name, path) for path in paths]
    if tables.exists():
        pool = read_records(tables, _Context, fix=_FIX)
        for context in drawn(pool, contexts, seed, lambda one: one.table.uid):
            documents.append(_document(context))
            questions += [q for one in context.questions if (q := _of_table(one, context))]
    if not questions:
        raise BadInput(f"{folder} holds no questions.", fix=_FIX)
    return FolderContents(questions, documents)


def choose(
    questions: Sequence[DocumentQuestion], limit: int | None, seed: int
) -> list[DocumentQuestion]:
    """A fixed sample: as many questions of every set, as far as there are.

    It depends on the seed and the questions' ids alone, and a smaller limit chooses a part of
    what a larger one does.
    """
    pools = []
    for part in SETS:
        own = drawn((q for q in questions if q.part == part), None, seed, lambda q: q.id)
        from_tables = [q for q in own if q.id.startswith("tatqa-")]
        pools.append(in_turn([q for q in own if q not in from_tables], from_tables))
    return in_turn(*pools)[:limit]


def _file_of(name: str, folder: Path) -> Path:
    """The document that a question names: its text page by page, or the file itself."""
    for ending in ("_pages.jsonl.gz", "_pages.jsonl", ".pdf"):
        if (path := folder / f"{name}{ending}").exists():
            return path
    raise BadInput(f"The document {name!r} that questions name is not in {folder}.", fix=_FIX)


def _of_report(asked: _Asked, document: str) -> DocumentQuestion:
    last, remarks = result_of(asked.answer)
    values = quantities(last)
    forms = [values, *filter(None, map(quantities, remarks))] if values else []
    if asked.kind == "comparison":
        forms = []  # it names what is compared, in words
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


def _name(context: _Context) -> str:
    return f"tatqa-{context.table.uid[:8]}.jsonl"


def _document(context: _Context) -> Document:
    """A context as a page; the rows of its table are lines with ``|`` between the cells."""
    rows = "\n".join(" | ".join(cell.strip() for cell in row) for row in context.table.table)
    paragraphs = sorted(context.paragraphs, key=lambda paragraph: paragraph.order)
    return Document(_name(context), text="\n\n".join([*(p.text for p in paragraphs), rows]))


def _of_table(asked: _TatQuestion, context: _Context) -> DocumentQuestion | None:
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
        gold=_gold(answer, asked.scale),
        evidence=frozenset({(_name(context), 1)}),
    )


def _gold(answer: Sequence[str], scale: str) -> Gold:
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
