"""The three RAGAS metrics (Es et al. 2023, section 3), measured by a judge.

They are faithfulness, answer relevance and context relevance. A metric that could not be measured
is None.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from planweave.memory import Context
from planweave.models import CallRecord, achat_model, ask
from planweave.nodes.shared.citation_check import sentences
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

    async def ask(self, text: str, task: str, output: type[Output]) -> Output | None:
        """Ask about a text, which comes first, so that a server can cache it.

        None if the reply could not be read.
        """
        ground = SystemMessage(load("rag/text").fill(text=text))
        reply = await ask(self.model, [ground, HumanMessage(task)], output, role=_ROLE)
        if self.on_call:
            for call in reply.calls:
                self.on_call(call)
        return reply.value


async def faithfulness(
    answer: str, context: str, judge: RagJudge, *, question: str
) -> float | None:
    """F = supported statements / judged statements of the answer.

    None if not all statements are known, or none was judged. An empty context supports nothing and
    needs no model call.
    """
    stated = await _find_statements(answer, judge, question)
    if not stated:
        return None
    if not context.strip():
        return 0.0
    judged: list[bool] = []
    size = max(1, judge.reply_tokens // _VERDICT_TOKENS)
    for batch in (stated[at : at + size] for at in range(0, len(stated), size)):
        numbered = "\n".join(f"{n}. {text}" for n, text in enumerate(batch, start=1))
        task = load("rag/verdicts").fill(statements=numbered)
        form = _limit_length(Verdicts, "verdicts", len(batch), len(batch))
        reply = await judge.ask(context, task, form)
        # The first verdict on a statement counts.
        verdicts = {v.statement: v.supported for v in reversed(reply.verdicts)} if reply else {}
        judged += [verdicts[n] for n in range(1, len(batch) + 1) if n in verdicts]
    return fmean(judged) if judged else None


async def _find_statements(answer: str, judge: RagJudge, question: str) -> list[str] | None:
    """Split an answer into statements, a long one in several calls; None if a reply is unread."""
    task = load("rag/statements").fill(question=question)
    found: dict[str, None] = {}
    for passage in _split_passages(answer, judge.reply_tokens * _CHARACTERS_PER_TOKEN_STATED):
        count = len(sentences(passage))
        # The upper bound stops a loop.
        form = _limit_length(Stated, "statements", count, 4 * count)
        reply = await judge.ask(passage, task, form)
        if reply is None:
            return None
        found |= dict.fromkeys(filter(None, map(str.strip, reply.statements)))
    return [*found]


async def answer_relevance(
    question: str, answer: str, judge: RagJudge, embeddings: "Embeddings", *, n: int = 3
) -> float | None:
    """AR = mean cosine of the question with ``n`` questions written from the answer alone.

    All are asked for in one call, so that they differ at temperature 0. None without a question.
    """
    if not answer.strip():
        return None
    reply = await judge.ask(answer, load("rag/questions").fill(number=str(n)), Questions)
    written = map(str.strip, reply.questions) if reply else ()
    asked = [*dict.fromkeys(filter(None, written))][:n]
    return await _mean_cosine(question, asked, embeddings) if asked else None


async def context_relevance(question: str, context: str, judge: RagJudge) -> float | None:
    """CR = sentences of the context that the judge copies as relevant / all its sentences.

    None for an empty context, or if a reply could not be read.
    """
    task = load("rag/sentences").fill(question=question)
    copied: list[str] = []
    for passage in _split_passages(context, judge.reply_tokens * _CHARACTERS_PER_TOKEN_COPIED):
        reply = await judge.ask(passage, task, Copied)
        if reply is None:
            return None
        copied += [sentence for text in reply.sentences for sentence in sentences(text)]
    relevant = [any(_is_same(own, other) for other in copied) for own in sentences(context)]
    return fmean(relevant) if relevant else None


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
def _limit_length(form: type[Output], name: str, least: int, most: int) -> type[Output]:
    """The form, asking for so many items in its list; other numbers can be read, too."""
    bounds: JsonDict = {"minItems": least, "maxItems": most}
    field: Any = (form.model_fields[name].annotation, Field(json_schema_extra=bounds))
    return create_model(form.__name__, __base__=form, **{name: field})


async def _mean_cosine(question: str, others: Sequence[str], embeddings: "Embeddings") -> float:
    """Mean cosine of a question with others; 0 for a vector of zeros."""
    vectors = np.asarray(await embeddings.aembed_documents([question, *others]), dtype=float)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1.0)
    return fmean((unit[1:] @ unit[0]).tolist())


def _is_same(sentence: str, copied: str) -> bool:
    """Whether one equals the other, or more than half of it, word for word."""
    shorter, longer = sorted((sentence, copied), key=len)
    return 2 * len(shorter) > len(longer) and locate(shorter, longer) is not None
