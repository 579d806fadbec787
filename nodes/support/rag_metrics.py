"""The three RAGAS metrics (Es et al. 2023, section 3), measured by a judge.

They are faithfulness, answer relevance and context relevance. Each result keeps its evidence and
its calls. A metric that could not be measured is None.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from planweave.memory import Context, Failure, UsageByRole
from planweave.models import CallRecord, StructuredReply, achat_model, ask
from planweave.nodes.shared.citation_check import sentences
from planweave.nodes.support.role import failures, usage_of_calls
from planweave.prompts import load
from planweave.tools.documents.quotes import locate

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

Output = TypeVar("Output", bound=BaseModel)

_ROLE = "judge"
_CHARACTERS_PER_TOKEN_STATED = 2
"""Characters of an answer for one token of the reply; a token has about four."""
_CHARACTERS_PER_TOKEN_COPIED = 3
"""Characters of a context for one token of a reply that copies it."""
_VERDICT_TOKENS = 50
"""Tokens of one verdict with its reason."""

Line = Annotated[str, Field(max_length=300)]


class Stated(BaseModel):
    """The judge's reply: what a text states."""

    statements: list[Line]


class Verdict(BaseModel):
    """The judge's verdict on one statement; the reason comes first."""

    statement: int
    reason: str = Field(max_length=80)
    supported: bool


class Verdicts(BaseModel):
    """The judge's reply: one verdict a statement."""

    verdicts: list[Verdict]


class Questions(BaseModel):
    """The judge's reply: what a text may be the answer to."""

    questions: list[Line]


class Copied(BaseModel):
    """The judge's reply: sentences of a context."""

    sentences: list[str]


@dataclass(frozen=True)
class RagJudge:
    """The model that measures.

    Attributes:
        reply_tokens: The most tokens of a reply; longer work is split into several calls.
        on_call: Called with the record of each call of a model when it has ended.
    """

    model: BaseChatModel
    reply_tokens: int = 512
    on_call: Callable[[CallRecord], None] | None = None

    @classmethod
    async def of(
        cls, context: Context, on_call: Callable[[CallRecord], None] | None = None
    ) -> "RagJudge":
        """The model that plays ``judge`` in this run."""
        model = await achat_model(
            context.model_for(_ROLE),
            temperature=context.temperature,
            max_tokens=context.reply_tokens,
            seed=context.seed,
            fresh=context.fresh,
        )
        return cls(model, context.reply_tokens, on_call)

    async def ask(self, text: str, task: str, output: type[Output]) -> StructuredReply[Output]:
        """Ask about a text; the text comes first, so that a server can cache it."""
        ground = SystemMessage(load("rag/text").fill(text=text))
        reply = await ask(self.model, [ground, HumanMessage(task)], output, role=_ROLE)
        if self.on_call:
            for call in reply.calls:
                self.on_call(call)
        return reply


@dataclass(frozen=True, kw_only=True)
class RagMeasures:
    """The calls and failures of a measurement."""

    calls: tuple[CallRecord, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def usage(self) -> UsageByRole:
        """The usage of the calls, as an update of working memory."""
        return usage_of_calls(self.calls)


@dataclass(frozen=True, kw_only=True)
class Statements(RagMeasures):
    """The statements of a text."""

    texts: tuple[str, ...] = ()
    unread: int = 0


class Checked(NamedTuple):
    """A statement, whether the context supports it (None: no verdict), and the judge's reason."""

    text: str
    supported: bool | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class Faithfulness(RagMeasures):
    """How far a context supports an answer."""

    statements: tuple[Checked, ...] = ()
    unread: int = 0

    @property
    def value(self) -> float | None:
        """F, supported statements per judged one; None if the answer's statements are not known."""
        judged = [float(s.supported) for s in self.statements if s.supported is not None]
        return fmean(judged) if judged and not self.unread else None


@dataclass(frozen=True, kw_only=True)
class AnswerRelevance(RagMeasures):
    """How well an answer fits its question.

    Attributes:
        questions: The questions that the judge wrote from the answer alone.
        cosines: The cosine of the question with each of them, -1 to 1.
    """

    questions: tuple[str, ...] = ()
    cosines: tuple[float, ...] = ()

    @property
    def value(self) -> float | None:
        """AR, the mean cosine; None without a question."""
        return fmean(self.cosines) if self.cosines else None


@dataclass(frozen=True, kw_only=True)
class ContextRelevance(RagMeasures):
    """How much of a context its question needs.

    Attributes:
        sentences: All sentences of the context.
        relevant: The sentences that the judge copied.
        invented: Copied sentences that are not in the context; they do not count.
        unread: Passages of the context for which the reply could not be read.
    """

    sentences: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    unread: int = 0

    @property
    def value(self) -> float | None:
        """CR, relevant sentences per sentence; None for an empty context or an unread reply."""
        known = self.sentences and not self.unread
        return len(self.relevant) / len(self.sentences) if known else None


async def statements_of(text: str, judge: RagJudge, *, question: str) -> Statements:
    """Split an answer into statements, a long one in several calls."""
    task = load("rag/statements").fill(question=question)
    replies = [
        await judge.ask(passage, task, _statements_form(len(sentences(passage))))
        for passage in _split_passages(text, judge.reply_tokens * _CHARACTERS_PER_TOKEN_STATED)
    ]
    stated = [line.strip() for r in replies if r.value for line in r.value.statements]
    return Statements(
        texts=tuple(dict.fromkeys(line for line in stated if line)),
        unread=sum(reply.value is None for reply in replies),
        calls=_all_calls(replies),
        failures=tuple(failures(*replies)),
    )


async def verify(stated: Statements, context: str, judge: RagJudge) -> Faithfulness:
    """Have every statement judged by the context, with a reason.

    An empty context supports nothing and needs no model call. The result has only the calls of the
    verification.
    """
    if not context.strip():
        nothing = tuple(Checked(text, False, "The context is empty.") for text in stated.texts)
        return Faithfulness(statements=nothing, unread=stated.unread)
    size = max(1, judge.reply_tokens // _VERDICT_TOKENS)
    batches = [stated.texts[at : at + size] for at in range(0, len(stated.texts), size)]
    replies = []
    for batch in batches:
        numbered = "\n".join(f"{n}. {text}" for n, text in enumerate(batch, start=1))
        task = load("rag/verdicts").fill(statements=numbered)
        replies.append(await judge.ask(context, task, _verdicts_form(len(batch))))
    pairs = zip(batches, replies, strict=True)
    return Faithfulness(
        statements=tuple(
            checked for batch, reply in pairs for checked in _match_verdicts(batch, reply)
        ),
        unread=stated.unread,
        calls=_all_calls(replies),
        failures=tuple(failures(*replies)),
    )


async def faithfulness(
    answer: str, context: str, judge: RagJudge, *, question: str
) -> Faithfulness:
    """F = supported statements / statements of the answer."""
    stated = await statements_of(answer, judge, question=question)
    verified = await verify(stated, context, judge)
    return replace(
        verified,
        calls=stated.calls + verified.calls,
        failures=stated.failures + verified.failures,
    )


async def answer_relevance(
    question: str, answer: str, judge: RagJudge, embeddings: "Embeddings", *, n: int = 3
) -> AnswerRelevance:
    """AR = mean cosine of the question with ``n`` questions written from the answer.

    All are asked for in one call, so that they differ at temperature 0.
    """
    if not answer.strip():
        return AnswerRelevance()
    reply = await judge.ask(answer, load("rag/questions").fill(number=str(n)), Questions)
    written = [line.strip() for line in reply.value.questions] if reply.value else []
    asked = tuple(dict.fromkeys(line for line in written if line))[:n]
    return AnswerRelevance(
        questions=asked,
        cosines=await _cosines(question, asked, embeddings) if asked else (),
        calls=reply.calls,
        failures=tuple(failures(reply)),
    )


async def context_relevance(question: str, context: str, judge: RagJudge) -> ContextRelevance:
    """CR = sentences of the context that the judge copies as relevant / all its sentences."""
    task = load("rag/sentences").fill(question=question)
    passages = _split_passages(context, judge.reply_tokens * _CHARACTERS_PER_TOKEN_COPIED)
    replies = [await judge.ask(passage, task, Copied) for passage in passages]
    copied = [s for r in replies if r.value for text in r.value.sentences for s in sentences(text)]
    there = sentences(context)
    return ContextRelevance(
        sentences=tuple(there),
        relevant=tuple(own for own in there if any(_is_same(own, other) for other in copied)),
        invented=tuple(other for other in copied if not any(_is_same(own, other) for own in there)),
        unread=sum(reply.value is None for reply in replies),
        calls=_all_calls(replies),
        failures=tuple(failures(*replies)),
    )


def _split_passages(text: str, limit: int) -> list[str]:
    """Passages of whole sentences with at most ``limit`` characters, or one longer sentence."""
    if len(text) <= limit:
        return [text] if text.strip() else []
    passages: list[str] = []
    for sentence in sentences(text):
        if passages and len(passages[-1]) + len(sentence) < limit:
            passages[-1] += f"\n{sentence}"
        else:
            passages.append(sentence)
    return passages


@cache
def _statements_form(sentences: int) -> type[Stated]:
    """The form for the statements of this number of sentences; the upper bound stops a loop."""
    bounds: JsonDict = {"minItems": sentences, "maxItems": 4 * sentences}
    return create_model(
        "Stated", __base__=Stated, statements=(list[Line], Field(json_schema_extra=bounds))
    )


@cache
def _verdicts_form(statements: int) -> type[Verdicts]:
    """The form for this number of verdicts; fewer can be read, too."""
    bounds: JsonDict = {"minItems": statements, "maxItems": statements}
    return create_model(
        "Verdicts", __base__=Verdicts, verdicts=(list[Verdict], Field(json_schema_extra=bounds))
    )


def _match_verdicts(statements: Sequence[str], reply: StructuredReply[Verdicts]) -> list[Checked]:
    """The statements with their verdicts; the first verdict on a statement counts."""
    verdicts = {v.statement: v for v in reversed(reply.value.verdicts)} if reply.value else {}
    return [
        Checked(text, verdicts[n].supported, verdicts[n].reason.strip())
        if n in verdicts
        else Checked(text, None, "")
        for n, text in enumerate(statements, start=1)
    ]


async def _cosines(
    question: str, others: Sequence[str], embeddings: "Embeddings"
) -> tuple[float, ...]:
    """Cosines of a question with others; 0 for a vector of zeros."""
    vectors = np.asarray(await embeddings.aembed_documents([question, *others]), dtype=float)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1.0)
    return tuple((unit[1:] @ unit[0]).tolist())


def _is_same(sentence: str, copied: str) -> bool:
    """Whether one equals the other, or more than half of it, word for word."""
    shorter, longer = sorted((sentence, copied), key=len)
    return 2 * len(shorter) > len(longer) and locate(shorter, longer) is not None


def _all_calls(replies: Sequence[StructuredReply[Output]]) -> tuple[CallRecord, ...]:
    return tuple(call for reply in replies for call in reply.calls)
