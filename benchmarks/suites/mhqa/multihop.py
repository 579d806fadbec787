"""Multi-hop questions with their paragraphs, in three published formats, and their corpus.

HotpotQA (Yang et al. 2018), 2WikiMultihopQA (Ho et al. 2020) and MuSiQue-Ans (Trivedi et al. 2022),
JSON lines or a JSON array, plain or compressed; the fields of a record show its format.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, Discriminator, Field, RootModel, Tag

from planweave import BadInput
from planweave.learning import Embed
from planweave.records import read_records
from planweave.tools.documents.vectors import VectorIndex, reciprocal_rank
from planweave.tools.documents.words import WordIndex

DataSetName = Literal["hotpotqa", "2wikimultihopqa", "musique"]

DEPTH = 100
"""Depth to which the two rankings are fused."""

_FIX = (
    "Name a file of HotpotQA, 2WikiMultihopQA or MuSiQue with its paragraphs, such as "
    "hotpot_dev_distractor_v1.json."
)


class Paragraph(NamedTuple):
    """A paragraph of the corpus; equal paragraphs of several questions are one."""

    title: str
    text: str

    @property
    def page(self) -> str:
        """Title and text, as searched, embedded and shown as evidence."""
        return f"{self.title}: {self.text}"


class SubQuestion(NamedTuple):
    """One step of the published solution."""

    query: str  # a question, or `subject relation`; `#1` is the answer of the first step
    answer: str


@dataclass(frozen=True, kw_only=True)
class MultiHop:
    """A question whose answer needs several paragraphs."""

    id: str
    dataset: DataSetName
    question: str
    answers: tuple[str, ...]  # the gold answer first, then its aliases
    paragraphs: tuple[Paragraph, ...]  # with distractors
    supporting: tuple[Paragraph, ...]  # in the order of the solution
    hops: int  # number of paragraphs that it needs
    steps: tuple[SubQuestion, ...] = ()  # the published solution, if any


class _Wiki(BaseModel):
    """A record of HotpotQA or 2WikiMultihopQA (which adds ``evidences``)."""

    id: str | None = Field(default=None, validation_alias=AliasChoices("id", "_id"))
    question: str
    answer: str
    supporting_facts: list[tuple[str, int]]
    context: Annotated[list[tuple[str, list[str]]], Field(min_length=1)]
    evidences: list[tuple[str, str, str]] | None = None

    def read(self) -> MultiHop:
        paragraphs = {
            title: Paragraph(title, " ".join(sentence.strip() for sentence in sentences))
            for title, sentences in self.context
        }
        titles = dict.fromkeys(title for title, _ in self.supporting_facts)
        supporting = tuple(paragraphs[title] for title in titles if title in paragraphs)
        return MultiHop(
            id=self.id or self.question,  # one published copy lost its ids
            dataset="hotpotqa" if self.evidences is None else "2wikimultihopqa",
            question=self.question,
            answers=(self.answer,),
            paragraphs=tuple(paragraphs.values()),
            supporting=supporting,
            hops=len(titles),
            steps=tuple(SubQuestion(f"{s} {r}", o) for s, r, o in self.evidences or ()),
        )


class _Step(BaseModel):
    question: str
    answer: str
    paragraph_support_idx: int | None = None


class _MusiqueParagraph(BaseModel):
    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool


class _Musique(BaseModel):
    id: str
    question: str
    answer: str
    answer_aliases: list[str] = []
    question_decomposition: list[_Step]
    paragraphs: Annotated[list[_MusiqueParagraph], Field(min_length=1)]

    def read(self) -> MultiHop:
        by_number = {p.idx: Paragraph(p.title, p.paragraph_text.strip()) for p in self.paragraphs}
        order = [step.paragraph_support_idx for step in self.question_decomposition]
        order += [p.idx for p in self.paragraphs if p.is_supporting]
        supporting = dict.fromkeys(by_number[n] for n in order if n is not None and n in by_number)
        return MultiHop(
            id=self.id,
            dataset="musique",
            question=self.question,
            answers=(self.answer, *self.answer_aliases),
            paragraphs=tuple(dict.fromkeys(by_number.values())),
            supporting=tuple(supporting),
            hops=len(self.question_decomposition),
            steps=tuple(
                SubQuestion(step.question.replace(" >> ", " "), step.answer)
                for step in self.question_decomposition
            ),
        )


def _format(record: object) -> str:
    return "musique" if isinstance(record, dict) and "question_decomposition" in record else "wiki"


class _Record(
    RootModel[
        Annotated[
            Annotated[_Wiki, Tag("wiki")] | Annotated[_Musique, Tag("musique")],
            Discriminator(_format),
        ]
    ]
):
    """A record of any of the formats."""


def load(path: Path) -> list[MultiHop]:
    """Read the distinct questions of a file, with their paragraphs."""
    found = [record.root.read() for record in read_records(path, _Record, fix=_FIX)]
    without = [question.id for question in found if not question.supporting]
    if without or not found:
        problem = (
            f"question {without[0]} names none of its paragraphs" if without else "no question"
        )
        raise BadInput(f"{path.name} cannot be used: {problem}.", fix=_FIX)
    return list({question.id: question for question in found}.values())


class Corpus:
    """The pooled paragraphs of many questions, searched by meaning and by words.

    Both rankings are fused by reciprocal rank (Cormack et al. 2009).
    """

    def __init__(self, questions: Iterable[MultiHop], embed: Embed) -> None:
        pooled = dict.fromkeys(p for question in questions for p in question.paragraphs)
        self.paragraphs = tuple(pooled)
        self._embed = embed
        pages = [paragraph.page for paragraph in self.paragraphs]
        self._words = WordIndex.build(pages)
        self._vectors = VectorIndex.build(embed(pages))

    def search(self, queries: Sequence[str]) -> list[list[Paragraph]]:
        """The best paragraphs for each query, best first: at most twice ``DEPTH``."""
        if not queries:
            return []
        depth = min(DEPTH, len(self.paragraphs))
        return [
            self._fuse(self._vectors.search(vector, depth), self._words.search(query, depth))
            for query, vector in zip(queries, self._embed(queries), strict=True)
        ]

    def _fuse(self, *found: Sequence[tuple[int, float]]) -> list[Paragraph]:
        rankings = [[row for row, _ in ranking] for ranking in found]
        return [self.paragraphs[row] for row, _ in reciprocal_rank(rankings)]
