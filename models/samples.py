"""Several replies to one prompt, so that what they agree on can be told from a slip."""

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration

from models.call import failed, recorded
from models.usage import CallRecord


class Sample(NamedTuple):
    """One reply; ``likelihood`` is the geometric mean of its tokens' probabilities, if known."""

    text: str
    likelihood: float | None


class Samples(NamedTuple):
    """The replies, and the record of the call or calls that brought them."""

    replies: tuple[Sample, ...]
    records: tuple[CallRecord, ...]


async def samples(
    model: BaseChatModel, messages: Sequence[BaseMessage], count: int, *, role: str = ""
) -> Samples:
    """Ask ``model`` for ``count`` free texts; the prompt is read once where the server can.

    Args:
        model: A chat model; one whose server ignores the parameter ``n`` is asked repeatedly.
        messages: The prompt.
        count: How many replies.
        role: Who asks, for the record.

    Raises:
        ModelUnavailable: The model did not answer; its ``calls`` hold the records.
    """
    replies: list[Sample] = []
    records: list[CallRecord] = []
    while len(replies) < count:
        found, record = await _asked(model, messages, count - len(replies), role)
        replies += found
        records.append(record)
    return Samples(tuple(replies[:count]), tuple(records))


async def _asked(
    model: BaseChatModel, messages: Sequence[BaseMessage], count: int, role: str
) -> tuple[list[Sample], CallRecord]:
    """One request for ``count`` replies; at least one comes."""
    start = time.perf_counter()
    options: dict[str, Any] = {"n": count} if count > 1 else {}
    try:
        result = await model.agenerate([list(messages)], logprobs=True, **options)
    except Exception as error:
        raise failed(error, model, messages, role, time.perf_counter() - start) from error
    found = [one for one in result.generations[0] if isinstance(one, ChatGeneration)]
    first, *rest = found
    record = await recorded(model, messages, role, first.message, time.perf_counter() - start)
    others = sum(len(one.text) // 4 for one in rest)  # servers count the tokens of the first alone
    record = record.model_copy(update={"output_tokens": record.output_tokens + others})
    return [Sample(one.text, _likelihood(one)) for one in found], record


def _likelihood(generation: ChatGeneration) -> float | None:
    found = generation.message.response_metadata.get("logprobs") or {}
    tokens = [token["logprob"] for token in found.get("content") or ()]
    return math.exp(sum(tokens) / len(tokens)) if tokens else None
