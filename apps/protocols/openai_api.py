"""OpenAI's chat completions: any program that calls a model can call a method.

A model is a method. The field ``context`` holds settings of the run (``extra_body`` of OpenAI's
client); ``thread`` keeps the facts from one question to the next.
"""

import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from planweave import BadInput
from planweave.apps.protocols.runs import (
    CallerOrder,
    Runner,
    RunOutcome,
    parse_decision,
    wait_for_outcome,
    waits_for_person,
)
from planweave.apps.protocols.wire import error_reply, event_stream, openai_error, read_body
from planweave.apps.request_body import validate
from planweave.apps.service import Service
from planweave.graphs.support.events import TokenEvent
from planweave.memory import Context

_CALL = re.compile(r"call_([0-9a-f]{32})([0-9a-f]{32})")
"""Thread and id of the request to a person: a late answer cannot count for another request."""


class ChatPart(BaseModel):
    """A part of a message's content."""

    type: str
    text: str = ""


class ConversationMessage(BaseModel):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[ChatPart] | None = None
    tool_call_id: str = ""

    @property
    def text(self) -> str:
        """The text of its content."""
        if not isinstance(self.content, list):
            return self.content or ""
        if other := [part.type for part in self.content if part.type != "text"]:
            raise BadInput(f"A message contains {other[0]}; the methods only read text.")
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """How the answer is streamed."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """The fields of a chat completion request that are used; others are ignored."""

    model: str
    messages: list[ConversationMessage] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Literal[1, None] = None
    temperature: float | None = None
    seed: int | None = None
    context: dict[str, Any] | None = None
    thread: uuid.UUID | None = None


def openai_routes(run: Runner, offered: Callable[[], Service]) -> list[BaseRoute]:
    """The routes ``/v1/models`` and ``/v1/chat/completions``."""

    async def complete(request: Request) -> Response:
        try:
            asked = validate(ChatRequest, await read_body(request))
            if refusal := _refuse_unknown(asked.model, offered()):
                return refusal
            order = _order(asked, offered().context)
            reply = _Reply(asked.model, order.thread)
            if asked.stream:
                usage = asked.stream_options is not None and asked.stream_options.include_usage
                order = replace(order, tokens=True)
                return event_stream(reply.stream(run, order, request, usage=usage))
            reply.outcome = await wait_for_outcome(run, order, request)
            return JSONResponse(reply.as_json())
        except Exception as error:
            status, text = error_reply(error)
            return JSONResponse(openai_error(status, text), status)

    async def models(_: Request) -> Response:
        cards = [_card(name) for name in offered().methods]
        return JSONResponse({"object": "list", "data": cards})

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        return _refuse_unknown(name, offered()) or JSONResponse(_card(name))

    return [
        Route("/v1/chat/completions", complete, methods=["POST"]),
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/models/{name}", model, methods=["GET"]),
    ]


def _refuse_unknown(name: str, offered: Service) -> JSONResponse | None:
    """The error reply for a method that is not offered."""
    try:
        offered.check_offered(name)
    except BadInput as error:
        return JSONResponse(openai_error(404, str(error), "model_not_found"), 404)
    return None


def _card(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "planweave"}


def _order(asked: ChatRequest, context: Context) -> CallerOrder:
    """The order of a request."""
    settings = _settings(asked)
    last = asked.messages[-1]
    if last.role == "tool":
        called = _CALL.fullmatch(last.tool_call_id)
        if not called:
            raise BadInput(f"There is no call {last.tool_call_id!r} to answer.")
        return CallerOrder(
            method=asked.model,
            settings=settings,
            thread=str(uuid.UUID(called[1])),
            resume={called[2]: {"decisions": [parse_decision(last.text)]}},
        )
    if last.role != "user":
        raise BadInput("The last message is not a question.", fix="End with a message of the user.")
    waits = waits_for_person(settings, context)
    thread = asked.thread or (uuid.uuid4() if waits else None)
    earlier = () if asked.thread else asked.messages[:-1]  # a thread has saved them
    messages = [
        {"role": message.role, "content": message.text}
        for message in (*earlier, last)
        if message.role in ("user", "assistant") and message.text
    ]
    return CallerOrder(
        method=asked.model,
        messages=messages,
        settings=settings,
        thread=str(thread) if thread else None,
    )


def _settings(asked: ChatRequest) -> dict[str, Any]:
    """The settings of the run; system messages are the rules unless the context has some."""
    system = [m.text for m in asked.messages if m.role in ("system", "developer")]
    rules = "\n\n".join(text for text in system if text.strip())
    own = {"temperature": asked.temperature, "seed": asked.seed, "rules": rules or None}
    return {name: value for name, value in own.items() if value is not None} | (asked.context or {})


class _Reply:
    """A completion that grows with the events of its run."""

    def __init__(self, model: str, thread: str | None) -> None:
        self.outcome = RunOutcome()
        self._thread = thread
        self._head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": model,
        }

    def as_json(self) -> dict[str, Any]:
        """The whole completion."""
        message = {"role": "assistant", **self._message(self.outcome.result.text)}
        choice = {"index": 0, "message": message, "finish_reason": self._finish, "logprobs": None}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage(),
            "planweave": self._extra(),
        }

    async def stream(
        self, run: Runner, order: CallerOrder, request: Request, *, usage: bool
    ) -> AsyncGenerator[str]:
        """The completion in chunks: steps as ``reasoning_content``, the answer while it is written.

        What the check adds to the answer follows; if it changes the answer, the answer is repeated.
        """
        yield self._chunk_text({"role": "assistant", "content": ""})
        try:
            async with aclosing(run(order, request)) as events:
                async for event in events:
                    step = self.outcome.add(event)
                    if isinstance(event, TokenEvent):
                        yield self._chunk_text({"content": event.text})
                    elif step:
                        yield self._chunk_text({"reasoning_content": f"{step}\n"})
        except Exception as error:
            yield json.dumps(openai_error(*error_reply(error)))
            return
        message = self._message(self.outcome.rest)
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{"index": 0, **call} for call in calls]
        yield self._chunk_text(message)
        yield self._chunk_text({}, finish=self._finish, planweave=self._extra())
        if usage:
            yield json.dumps(self._chunk([], usage=self._usage()))
        yield "[DONE]"

    @property
    def _finish(self) -> str:
        return "tool_calls" if self.outcome.request else "stop"

    def _message(self, text: str) -> dict[str, Any]:
        if self.outcome.request is None:
            return {"content": text}
        action = self.outcome.request["action_requests"][0]
        arguments = json.dumps(action["args"], ensure_ascii=False)
        call = {
            "id": f"call_{uuid.UUID(self._thread).hex}{self.outcome.request_id}",
            "type": "function",
            "function": {"name": action["name"], "arguments": arguments},
        }
        return {"content": action["description"], "tool_calls": [call]}

    def _chunk_text(self, delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return json.dumps(self._chunk([choice], **more), ensure_ascii=False)

    def _chunk(self, choices: Sequence[Any], **more: Any) -> dict[str, Any]:
        return {**self._head, "object": "chat.completion.chunk", "choices": choices, **more}

    def _usage(self) -> dict[str, Any]:
        used = self.outcome.result.usage
        return {
            "prompt_tokens": used.input_tokens,
            "completion_tokens": used.output_tokens,
            "total_tokens": used.input_tokens + used.output_tokens,
            "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
        }

    def _extra(self) -> dict[str, Any]:
        """Fields that OpenAI's format does not have."""
        outcome = self.outcome
        return {"thread": self._thread, "answer": outcome.result.answer, "facts": outcome.cited}
