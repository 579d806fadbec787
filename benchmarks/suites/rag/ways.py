"""Ways of rating an answer against a reference: by a judge, and without any model.

Each returns what two answers are worth; higher is better. A way that tells no difference between
correctness and completeness gives one number for all.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import BaseModel, Field

from planweave.benchmarks.core.play import OnCall
from planweave.memory import Context, Failure
from planweave.nodes.support.rag_metrics import (
    Checked,
    Judge,
    Statements,
    answer_relevance,
    statements_of,
    verify,
)

CRITERIA = ("correctness", "completeness", "overall")
EMBEDDINGS = "minilm"

Opinion = Annotated[int, Field(ge=-2, le=2)]


class Human(BaseModel):
    """One annotator on a pair, from -2 (a is much better) to 2 (b is much better)."""

    correctness: Opinion
    completeness: Opinion
    overall: Opinion


class Label(BaseModel):
    """RAGChecker's own figures for an answer, 0 to 1."""

    correctness_label: float | None = None
    completeness_label: float | None = None
    overall_label: float | None = None


class Pair(BaseModel):
    """Two answers to a query, what people think of them, and RAGChecker's figures."""

    instance_id: int
    dataset: str
    query: str
    gt_answer: Annotated[str, Field(pattern=r"\S")]
    response_a: str
    response_b: str
    human: Annotated[list[Human], Field(min_length=1)]
    ragchecker_a: Label = Label()
    ragchecker_b: Label = Label()


class Worth(NamedTuple):
    """What an answer is worth by each criterion; None where it was not measured."""

    correctness: float | None
    completeness: float | None
    overall: float | None


class Rated(NamedTuple):
    """What both answers are worth, and what is behind it.

    Attributes:
        a: The first answer.
        b: The second answer.
        statements: Verdicts that were asked for.
        unjudged: Those of them that were not given.
        failures: Replies that could not be read.
    """

    a: Worth
    b: Worth
    statements: int = 0
    unjudged: int = 0
    failures: tuple[Failure, ...] = ()


class _Statementwise(NamedTuple):
    worth: Worth
    checked: tuple[Checked, ...]
    failures: tuple[Failure, ...]


async def statement_f1(pair: Pair, judge: Judge) -> Rated:
    """Faithfulness both ways, as RAGAS defines it.

    Correctness is the share of the answer's statements that the reference supports, completeness
    the share of the reference's statements that the answer supports, overall their F1.
    """
    reference = await statements_of(pair.gt_answer, judge, question=pair.query)
    a, b = [
        await _by_statements(answer, pair, reference, judge)
        for answer in (pair.response_a, pair.response_b)
    ]
    checked = [*a.checked, *b.checked]
    return Rated(
        a.worth,
        b.worth,
        statements=len(checked),
        unjudged=sum(one.supported is None for one in checked),
        failures=reference.failures + a.failures + b.failures,
    )


async def _by_statements(
    answer: str, pair: Pair, reference: Statements, judge: Judge
) -> _Statementwise:
    stated = await statements_of(answer, judge, question=pair.query)
    recall = await verify(reference, answer, judge)
    precision = await verify(stated, pair.gt_answer, judge)
    return _Statementwise(
        Worth(precision.value, recall.value, f1(precision.value, recall.value)),
        precision.statements + recall.statements,
        stated.failures + recall.failures + precision.failures,
    )


async def relevance(pair: Pair, judge: Judge) -> Rated:
    """Answer relevance, which looks at the question and the answer alone."""
    from planweave.models import embeddings

    a, b = [
        await answer_relevance(pair.query, answer, judge, embeddings(EMBEDDINGS))
        for answer in (pair.response_a, pair.response_b)
    ]
    return Rated(_same(a.value), _same(b.value), failures=a.failures + b.failures)


def token_f1(pair: Pair) -> Rated:
    """Precision, recall and F1 of the answer's words in the reference, with repeats."""
    reference = _words(pair.gt_answer)
    return Rated(
        _overlap(_words(pair.response_a), reference), _overlap(_words(pair.response_b), reference)
    )


def cosine(pair: Pair) -> Rated:
    """Cosine of the answer's embedding with the reference's."""
    from planweave.models import embeddings

    texts = [pair.gt_answer, pair.response_a, pair.response_b]
    vectors = np.asarray(embeddings(EMBEDDINGS).embed_documents(texts))
    reference, a, b = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return Rated(_same(float(a @ reference)), _same(float(b @ reference)))


def length(pair: Pair) -> Rated:
    """Words of the answer: the longer is the better."""
    a, b = (_words(answer).total() for answer in (pair.response_a, pair.response_b))
    return Rated(_same(float(a)), _same(float(b)))


def ragchecker(pair: Pair) -> Rated:
    """RAGChecker's figures as published with the pairs (its checker is a large model)."""
    a, b = (
        Worth(label.correctness_label, label.completeness_label, label.overall_label)
        for label in (pair.ragchecker_a, pair.ragchecker_b)
    )
    return Rated(a, b)


_WITH_JUDGE: Mapping[str, Callable[[Pair, Judge], Awaitable[Rated]]] = {
    "statement_f1": statement_f1,
    "answer_relevance": relevance,
}
_WITHOUT_JUDGE: Mapping[str, Callable[[Pair], Rated]] = {
    "token_f1": token_f1,
    "cosine": cosine,
    "length": length,
    "ragchecker": ragchecker,
}
WAYS = (*_WITH_JUDGE, *_WITHOUT_JUDGE)


async def rate_pair(pair: Pair, way: str, context: Context, on_call: OnCall) -> Rated:
    """Rate both answers in the way of that name; one of ``WAYS``.

    Raises:
        ModelUnavailable: The judge, or what embeds, cannot be reached.
    """
    if way in _WITHOUT_JUDGE:
        return await asyncio.to_thread(_WITHOUT_JUDGE[way], pair)
    return await _WITH_JUDGE[way](pair, await Judge.of(context, on_call))


def f1(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean; 0 as soon as one is 0, None where it is not known."""
    if 0.0 in (precision, recall):
        return 0.0
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall)


def _same(value: float | None) -> Worth:
    return Worth(value, value, value)


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def _overlap(answer: Counter[str], reference: Counter[str]) -> Worth:
    """An empty answer has no precision, and a recall of 0."""
    common = (answer & reference).total()
    precision = common / answer.total() if answer else None
    recall = common / reference.total() if reference else None
    return Worth(precision, recall, f1(precision, recall))
