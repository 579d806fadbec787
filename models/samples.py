"""Asks for several replies to one prompt, or for the probability of one reply.

Both help to tell a reliable reply from a slip.
"""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration

from planweave.models.call import failed, in_time, recorded, start_in_time
from planweave.models.embedded import SLOTS
from planweave.models.errors import ModelUnavailable
from planweave.models.usage import CallRecord

_LIKELIEST = 10
"""How many of the likeliest first tokens to request with their probabilities."""


class Samples(NamedTuple):
    """The replies, and the records of the calls for them."""

    replies: tuple[str, ...]
    records: tuple[CallRecord, ...]


async def several_replies(
    model: BaseChatModel, messages: Sequence[BaseMessage], count: int, *, role: str = ""
) -> Samples:
    """Ask ``model`` for ``count`` free texts; the prompt is read once if the server supports it.

    There are fewer if the time of the run ends. ``ModelUnavailable`` holds the calls' records.
    """
    replies: list[str] = []
    records: list[CallRecord] = []
    while len(replies) < count:
        left, made = count - len(replies), len(replies)
        try:
            found, record = await _request_replies(model, messages, left, made, role)
        except ModelUnavailable as error:
            if error.trouble != "out_of_time":
                raise
            records += error.calls
            break
        replies += found
        records.append(record)
    return Samples(tuple(replies[:count]), tuple(records))


async def _request_replies(
    model: BaseChatModel, messages: Sequence[BaseMessage], count: int, made: int, role: str
) -> tuple[list[str], CallRecord]:
    """Request at most ``count`` replies after the ``made`` earlier ones; at least one arrives."""
    # Only models that declare ``n`` accept it; others would refuse the call.
    options: dict[str, Any] = {}
    if count > 1 and hasattr(model, "n"):
        options["n"] = min(count, SLOTS)
    if made and isinstance(seed := getattr(model, "seed", None), int):
        options["seed"] = seed + made  # the same seed would give the same replies
    found, record = await _generate(model, messages, role, options)
    others = sum(len(one.text) // 4 for one in found[1:])  # servers count only the first one
    record = record.model_copy(update={"output_tokens": record.output_tokens + others})
    return [one.text for one in found], record


async def _generate(
    model: BaseChatModel, messages: Sequence[BaseMessage], role: str, options: dict[str, Any]
) -> tuple[list[BaseMessage], CallRecord]:
    """The replies to one request, and the record of the call, made from the first reply."""
    start_in_time()
    start = time.perf_counter()
    try:
        async with in_time():
            result = await model.agenerate([list(messages)], metadata={"role": role}, **options)
    except Exception as error:
        raise failed(error, model, messages, role, time.perf_counter() - start) from error
    found = [one.message for one in result.generations[0] if isinstance(one, ChatGeneration)]
    return found, await recorded(model, messages, role, found[0], time.perf_counter() - start)


class Chance(NamedTuple):
    """The probability that a model says yes, from 0 to 1, and the records of the call."""

    yes: float
    records: tuple[CallRecord, ...]


async def chance_of_yes(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    *,
    role: str = "",
) -> Chance:
    """Ask ``model`` for yes or no; returns the share of "yes" in the probability of both words.

    The share is 1 for any other reply, and if the time of the run is over. ``ModelUnavailable``
    holds the calls' records.
    """
    options: dict[str, Any] = {}
    if hasattr(model, "logprobs"):
        options = {"logprobs": True, "top_logprobs": _LIKELIEST, "max_tokens": 1}
    try:
        (message, *_), record = await _generate(model, messages, role, options)
    except ModelUnavailable as error:
        if error.trouble != "out_of_time":
            raise
        return Chance(1.0, error.calls)
    logprobs = message.response_metadata.get("logprobs") or {}
    return Chance(_share_of_yes(logprobs.get("content") or [], message.text), (record,))


def _share_of_yes(tokens: Sequence[Mapping[str, Any]], reply: str) -> float:
    """The share of yes in the probabilities of the first token; else taken from the reply."""
    chances = {"yes": 0.0, "no": 0.0}
    first = tokens[0].get("top_logprobs") if tokens else None  # some servers send null
    likely = [(one["token"], one["logprob"]) for one in first or ()]
    for text, log_chance in likely or [(reply, 0.0)]:
        word = text.strip(" .,").lower()
        if word in chances:
            chances[word] += math.exp(log_chance)
    whole = sum(chances.values())
    return chances["yes"] / whole if whole else 1.0
