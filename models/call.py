"""One call of a model, recorded and with its errors translated."""

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
from planweave.usage import current_end, current_meter

_MOST_TOKENS = 2**40  # a sum of many such still fits what checkpoints keep

BoundModel: TypeAlias = Runnable[LanguageModelInput, object]
"""A model with something bound to it; it answers a message, or a dict with the message in it."""


class Call(NamedTuple):
    """A reply as text, the record of how it came about, and whether it was cut off."""

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
    """Ask ``model``, or ``asked``, which is the model with something bound to it, for free text.

    If it does not answer in the time of the run, the ``ModelUnavailable`` holds the call's record.
    """
    start_in_time()
    start = time.perf_counter()
    try:
        async with in_time():
            reply = await _replied(asked or model, messages, _with_role(config, role))
    except Exception as error:
        raise failed(error, model, messages, role, time.perf_counter() - start) from error
    cut = reply.response_metadata.get("finish_reason") in ("length", "max_tokens")
    record = await recorded(model, messages, role, reply, time.perf_counter() - start)
    return Call(record.reply, record, cut)


def start_in_time() -> None:
    """Ask no model after the time of the run."""
    end = current_end()
    if end is not None and end.left <= 0:
        raise ModelUnavailable(end.reason, trouble="out_of_time")


@asynccontextmanager
async def in_time() -> AsyncIterator[None]:
    """Cut what runs in the block off when the time of the run is over."""
    end = current_end()
    limit = asyncio.timeout(end.left if end else None)
    try:
        async with limit:
            yield
    except TimeoutError:
        if end is None or not limit.expired():  # the client's own
            raise
        raise OutOfTime(end.reason) from None


def failed(
    error: Exception,
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    role: str,
    seconds: float,
) -> ModelUnavailable:
    """A provider's error as ours, with the record of the call that failed."""
    asked = _asked(model, messages, role)
    raised = unavailable(error, asked.model)
    spent = {"seconds": seconds, "error": str(raised), "dollars": 0.0}
    raised.calls = (_counted(asked.model_copy(update=spent)),)
    return raised


async def recorded(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    role: str,
    reply: BaseMessage,
    seconds: float,
) -> CallRecord:
    """The record of a call that was answered."""
    asked = _asked(model, messages, role)
    price = await asyncio.to_thread(price_of, asked.model)  # its first call reads a file
    return _counted(_with_reply(asked, cast("AIMessage", reply), seconds, price))


def _asked(model: BaseChatModel, messages: Sequence[BaseMessage], role: str) -> CallRecord:
    return CallRecord(
        role=role,
        model=name_of(model),
        prompt=tuple(
            PromptMessage(role=message.type, content=_sendable(message.text))
            for message in messages
        ),
    )


def _with_role(config: RunnableConfig | None, role: str) -> RunnableConfig:
    """The configuration with the role in its metadata, where traces and scripted models read it.

    Replies are for programs, so that LangGraph's message stream leaves them out.
    """
    own = config or {}
    metadata = {**own.get("metadata", {}), "role": role}
    return {**own, "metadata": metadata, "tags": [*own.get("tags", ()), NO_STREAM]}


async def _replied(
    asked: BoundModel, messages: Sequence[BaseMessage], config: RunnableConfig
) -> AIMessage:
    """The reply; a stream that breaks off is asked for again, as clients do with whole replies."""
    for number in range(process_settings().retries):
        # Clients wrap these in errors of theirs, and try again themselves, unless it streams.
        with suppress(httpx.RemoteProtocolError, httpx.NetworkError):
            return _message(await asked.ainvoke(list(messages), config))
        await asyncio.sleep(min(0.5 * 2**number, 8.0))
    return _message(await asked.ainvoke(list(messages), config))


def _counted(record: CallRecord) -> CallRecord:
    """The record, once the meter of the run has counted it."""
    if meter := current_meter():
        meter.count(record.usage)
    return record


def _sendable(text: str) -> str:
    """``text`` with what UTF-8 cannot write (half of a surrogate pair) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _message(answer: object) -> AIMessage:
    """The message in what a model or LangChain's structured output answered."""
    if not isinstance(answer, Mapping):
        return cast("AIMessage", answer)
    message = cast("AIMessage", answer["raw"])
    if not message.text and isinstance(answer.get("parsed"), BaseModel):
        # The provider sent the object as a tool call.
        return message.model_copy(update={"content": answer["parsed"].model_dump_json()})
    return message


def _count(reported: object) -> int:
    """A number of tokens; a server may report anything, and below nothing gives budget back."""
    return min(max(0, reported), _MOST_TOKENS) if isinstance(reported, int) else 0


def _with_reply(
    record: CallRecord, reply: AIMessage, seconds: float, price: Price | None
) -> CallRecord:
    # Of a server that counts no tokens a kept reply has a usage without their numbers.
    usage: Mapping[str, Any] = reply.usage_metadata or {}
    tokens = (_count(usage.get("input_tokens")), _count(usage.get("output_tokens")))
    details = usage.get("input_token_details", {})
    cached = min(_count(details.get("cache_read")), tokens[0])
    from_cache = bool(reply.response_metadata.get(FROM_CACHE))
    dollars = price.dollars(*tokens, cached) if price else None
    return record.model_copy(
        update={
            "reply": _sendable(reply.text),
            "input_tokens": tokens[0],
            "output_tokens": tokens[1],
            "cached_tokens": cached,
            "seconds": seconds,
            "dollars": 0.0 if from_cache else dollars,
            "from_cache": from_cache,
        }
    )
