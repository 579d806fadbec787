"""One call of a model: recorded, with its errors translated."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, TypeAlias, cast

import httpx
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel

from planweave.models.cache import FROM_CACHE
from planweave.models.chat import name_of
from planweave.models.errors import ModelUnavailable, OutOfTime, unavailable
from planweave.models.settings import process_settings
from planweave.models.spoken import NO_STREAM
from planweave.models.usage import CallRecord, Price, PromptMessage, price_of
from planweave.texts import without_surrogates
from planweave.usage import current_end, current_meter

_MOST_TOKENS = 2**40  # a sum of many such numbers still fits into checkpoints

BoundModel: TypeAlias = Runnable[LanguageModelInput, object]
"""A model with bound arguments; it returns a message, or a dict that holds one."""


class Call(NamedTuple):
    """The text of a reply, the record of its call, and whether it was cut off."""

    text: str
    record: CallRecord
    cut: bool


async def call(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    *,
    role: str = "",
    config: RunnableConfig | None = None,
    asked: BoundModel | None = None,
) -> Call:
    """Ask ``model`` for free text, or ``asked``, which is the model with bound arguments.

    If the time of the run ends before the reply, ``ModelUnavailable`` holds the call's record.
    """
    start_in_time()
    start = time.perf_counter()
    try:
        async with in_time():
            reply = await _fetch_reply(asked or model, messages, _with_role(config, role))
    except Exception as error:
        raise failed(error, model, messages, role, time.perf_counter() - start) from error
    cut = reply.response_metadata.get("finish_reason") in ("length", "max_tokens")
    record = await recorded(model, messages, role, reply, time.perf_counter() - start)
    return Call(record.reply, record, cut)


def start_in_time() -> None:
    """Raise if the time of the run is over, so that no further model is asked."""
    end = current_end()
    if end is not None and end.left <= 0:
        raise ModelUnavailable(end.reason, trouble="out_of_time")


@asynccontextmanager
async def in_time() -> AsyncIterator[None]:
    """Stop the block when the time of the run is over."""
    end = current_end()
    limit = asyncio.timeout(end.left if end else None)
    try:
        async with limit:
            yield
    except TimeoutError:
        if end is None or not limit.expired():  # the client's own time-out
            raise
        raise OutOfTime(end.reason) from None


def failed(
    error: Exception,
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    role: str,
    seconds: float,
) -> ModelUnavailable:
    """Translate a provider's error, and add the record of the failed call."""
    asked = _begin_record(model, messages, role)
    raised = unavailable(error, asked.model)
    spent = {"seconds": seconds, "error": str(raised), "dollars": 0.0}
    raised.calls = (_count_on_meter(asked.model_copy(update=spent)),)
    return raised


async def recorded(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    role: str,
    reply: BaseMessage,
    seconds: float,
) -> CallRecord:
    """The record of an answered call."""
    asked = _begin_record(model, messages, role)
    price = await asyncio.to_thread(price_of, asked.model)  # the first call reads a file
    return _count_on_meter(_add_reply(asked, cast("AIMessage", reply), seconds, price))


def _begin_record(model: BaseChatModel, messages: Sequence[BaseMessage], role: str) -> CallRecord:
    return CallRecord(
        role=role,
        model=name_of(model),
        prompt=tuple(
            PromptMessage(role=message.type, content=without_surrogates(message.text))
            for message in messages
        ),
    )


def _with_role(config: RunnableConfig | None, role: str) -> RunnableConfig:
    """The configuration with the role in its metadata, where traces and scripted models read it.

    LangGraph's message stream omits these replies, since they are for programs.
    """
    own = config or {}
    metadata = {**own.get("metadata", {}), "role": role}
    return {**own, "metadata": metadata, "tags": [*own.get("tags", ()), NO_STREAM]}


async def _fetch_reply(
    asked: BoundModel, messages: Sequence[BaseMessage], config: RunnableConfig
) -> AIMessage:
    """The reply; a stream that breaks off is requested again, as clients do with whole replies."""
    for number in range(process_settings().retries):
        # Clients wrap these errors in their own and retry by themselves, unless the reply streams.
        with suppress(httpx.RemoteProtocolError, httpx.NetworkError):
            return _message(await asked.ainvoke(list(messages), config))
        await asyncio.sleep(min(0.5 * 2**number, 8.0))
    return _message(await asked.ainvoke(list(messages), config))


def _count_on_meter(record: CallRecord) -> CallRecord:
    """Count the record on the meter of the run and return it."""
    if meter := current_meter():
        meter.count(record.usage)
    return record


def _message(answer: object) -> AIMessage:
    """The message in the answer of a model or of LangChain's structured output."""
    if not isinstance(answer, Mapping):
        return cast("AIMessage", answer)
    message = cast("AIMessage", answer["raw"])
    if not message.text and isinstance(answer.get("parsed"), BaseModel):
        # The provider sent the object as a tool call.
        return message.model_copy(update={"content": answer["parsed"].model_dump_json()})
    return message


def _token_count(reported: object) -> int:
    """A number of tokens, at least 0: a negative report would give budget back."""
    return min(max(0, reported), _MOST_TOKENS) if isinstance(reported, int) else 0


def _add_reply(
    record: CallRecord, reply: AIMessage, seconds: float, price: Price | None
) -> CallRecord:
    # A cached reply of a server that counts no tokens has a usage without numbers.
    usage: Mapping[str, Any] = reply.usage_metadata or {}
    tokens = (_token_count(usage.get("input_tokens")), _token_count(usage.get("output_tokens")))
    details = usage.get("input_token_details", {})
    cached = min(_token_count(details.get("cache_read")), tokens[0])
    from_cache = bool(reply.response_metadata.get(FROM_CACHE))
    dollars = price.dollars(*tokens, cached) if price else None
    return record.model_copy(
        update={
            "reply": without_surrogates(reply.text),
            "input_tokens": tokens[0],
            "output_tokens": tokens[1],
            "cached_tokens": cached,
            "seconds": seconds,
            "dollars": 0.0 if from_cache else dollars,
            "from_cache": from_cache,
        }
    )
