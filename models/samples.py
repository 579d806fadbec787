"""Several replies to one prompt, so that what they agree on can be told from a slip."""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

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
    """Ask ``model`` for ``count`` free texts at once; the prompt is read only once.

    Args:
        model: A chat model whose server takes the parameter ``n``, as OpenAI-compatible ones do.
        messages: The prompt.
        count: How many replies; some servers give fewer.
        role: Who asks, for the record.

    Raises:
        ModelUnavailable: The model did not answer; its ``calls`` hold the record.
    """
    start = time.perf_counter()
    try:
        result = await model.agenerate([list(messages)], n=count, logprobs=True)
    except Exception as error:
        raise failed(error, model, messages, role, time.perf_counter() - start) from error
    generations = [one for one in result.generations[0] if isinstance(one, ChatGeneration)]
    seconds = time.perf_counter() - start
    first, *rest = generations
    record = await recorded(model, messages, role, first.message, seconds)
    others = [len(one.text) // 4 for one in rest]  # servers count the tokens of the first alone
    record = record.model_copy(update={"output_tokens": record.output_tokens + sum(others)})
    replies = tuple(Sample(one.text, _likelihood(one)) for one in generations)
    return Samples(replies, (record,))


def _likelihood(generation: ChatGeneration) -> float | None:
    found = generation.message.response_metadata.get("logprobs") or {}
    tokens = [token["logprob"] for token in found.get("content") or ()]
    return math.exp(sum(tokens) / len(tokens)) if tokens else None
