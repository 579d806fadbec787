"""A2A: each method is an agent of the Agent2Agent protocol, versions 1.0 and 0.3, by JSON-RPC.

The context of a conversation is a thread: a further message uses the facts found so far, and a
plan that waits for approval continues when its task is answered. Tasks are not saved: an answer
cannot be requested again.
"""

import json
import re
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from planweave import BadInput, PlanweaveError, __version__
from planweave.apps.origins import is_here
from planweave.apps.protocols.runs import (
    CallerOrder,
    Runner,
    RunOutcome,
    parse_decision,
    wait_for_outcome,
)
from planweave.apps.protocols.wire import error_reply, event_stream, read_body
from planweave.apps.request_body import NotJson, validate
from planweave.apps.server.errors import NotFound, NothingWaits
from planweave.apps.service import Service
from planweave.graphs import METHODS
from planweave.texts import shorten

_APPROVAL = re.compile("([0-9a-f]{32})?")

State = Literal["working", "completed", "failed", "input-required"]

_VERSIONS = ("1.0", "0.3")

# Codes of errors, from JSON-RPC and A2A.
_NOT_JSON, _NO_CALL, _NO_METHOD, _BAD_PARAMS, _FAILED = -32700, -32600, -32601, -32602, -32603
_NO_TASK, _NO_VERSION = -32001, -32009

_METHODS = {
    "SendMessage": (True, False),
    "SendStreamingMessage": (True, True),
    "message/send": (False, False),
    "message/stream": (False, True),
}
"""JSON-RPC methods of both versions: whether it is of version 1.0, and whether it streams."""


class WithoutNulls(BaseModel):
    """Base of callers' data: a null counts as a missing value, since some programs send it so."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, sent: Any) -> Any:
        if not isinstance(sent, dict):
            return sent
        return {name: value for name, value in sent.items() if value is not None}


class A2aPart(WithoutNulls):
    """A part of a message; only its text is read."""

    text: str = ""


class A2aMessage(WithoutNulls, alias_generator=to_camel):
    """A message of the caller."""

    parts: list[A2aPart] = Field(min_length=1)
    context_id: str = ""
    task_id: str = ""
    metadata: dict[str, Any] = {}


class Params(WithoutNulls):
    """Parameters of a call."""

    message: A2aMessage


class Call(WithoutNulls):
    """A JSON-RPC call."""

    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | None = None
    params: dict[str, Any] = {}


def a2a_routes(run: Runner, offered: Callable[[], Service]) -> list[BaseRoute]:
    """The routes ``/a2a/METHOD`` and its agent card."""

    async def card(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in offered().methods:
            return JSONResponse({"detail": f"There is no method {name!r} here."}, 404)
        return JSONResponse(_card(name, f"{_address(request, offered())}/a2a/{name}"))

    async def answer(request: Request) -> Response:
        try:
            call = validate(Call, await read_body(request))
        except PlanweaveError as error:
            code = _NOT_JSON if isinstance(error, NotJson) else _NO_CALL
            return JSONResponse(_failure(None, code, str(error)))
        call_id, task_id = call.id, ""
        try:
            if _version(request) not in _VERSIONS:
                problem = f"The versions of A2A here are {' and '.join(_VERSIONS)}."
                return JSONResponse(_failure(call_id, _NO_VERSION, problem))
            offered().check_offered(request.path_params["name"])
            if call.method not in _METHODS:
                problem = f"The method {call.method!r} is not offered."
                return JSONResponse(_failure(call_id, _NO_METHOD, problem))
            is_v1, is_streaming = _METHODS[call.method]
            message = validate(Params, call.params).message
            task_id = message.task_id
            task = _Task(message, request, is_v1=is_v1)
            if is_streaming:
                return event_stream(task.stream(run, request, call_id))
            return JSONResponse(_success(call_id, await task.run_to_end(run, request)))
        except Exception as error:
            return JSONResponse(_failure(call_id, *_code_and_text(error, task_id)))

    return [
        Route("/a2a/{name}/.well-known/agent-card.json", card, methods=["GET"]),
        Route("/a2a/{name}", answer, methods=["POST"]),
    ]


def _version(request: Request) -> str:
    """The version of the protocol that the caller names, without its patch."""
    named = request.headers.get("a2a-version") or "0.3"
    return ".".join(named.split(".")[:2])


def _code_and_text(error: Exception, task_id: str) -> tuple[int, str]:
    """Code and message of an error; ``task_id`` is the id of the task that the caller names."""
    if task_id and isinstance(error, NotFound | NothingWaits):
        return _NO_TASK, f"There is no task {shorten(task_id, 80)!r} that waits for an answer."
    status, text = error_reply(error)
    return _BAD_PARAMS if status < 500 else _FAILED, text


def _address(request: Request, offered: Service) -> str:
    """The server's address: the operator's, or the caller's if it names this machine.

    A caller may invent any other host name, and a card may be cached for others.
    """
    if offered.address:
        return offered.address.rstrip("/")
    if is_here(request.headers.get("host", "")):
        return str(request.base_url).rstrip("/")
    host, port = request.scope["server"]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _card(name: str, url: str) -> dict[str, Any]:
    """The agent card, in the format of both versions."""
    skill = {
        "id": name,
        "name": name,
        "description": METHODS.get(name).description,
        "tags": ["planning", "retrieval", "question answering"],
    }
    interfaces = [
        {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": version}
        for version in _VERSIONS
    ]
    return {
        "name": f"planweave {name}",
        "description": METHODS.get(name).description,
        "version": __version__,
        "url": url,
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "supportedInterfaces": interfaces,
        "capabilities": {"streaming": True, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [skill],
    }


def _success(call_id: int | str | None, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "result": result}


def _failure(call_id: int | str | None, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "error": {"code": code, "message": text}}


class _Task:
    """The task of a message, in the format of the caller's protocol version."""

    def __init__(self, message: A2aMessage, request: Request, *, is_v1: bool) -> None:
        self._is_v1, self._given_id = is_v1, message.task_id
        self.outcome = RunOutcome()
        waiting = message.task_id.partition(".")[0]
        self.context = message.context_id or waiting or str(uuid.uuid4())
        thread = _thread(self.context, request)
        self.id = message.task_id or f"{thread}.{uuid.uuid4().hex[:8]}"
        text = "\n".join(part.text for part in message.parts if part.text).strip()
        if not text:
            raise BadInput("The message has no text.")
        settings = message.metadata.get("context", {})
        if not isinstance(settings, dict):
            raise BadInput("The metadata `context` is not an object.")
        approval = message.metadata.get("approval", "")
        if not isinstance(approval, str) or not _APPROVAL.fullmatch(approval):
            raise BadInput("The metadata `approval` is not the id of a request.")
        answer = {"decisions": [parse_decision(text)]}
        answered = {approval: answer} if approval else answer
        self._order = CallerOrder(
            method=request.path_params["name"],
            messages=() if message.task_id else ({"role": "user", "content": text},),
            settings=settings,
            thread=thread,
            resume=answered if message.task_id else None,
        )

    async def run_to_end(self, run: Runner, request: Request) -> dict[str, Any]:
        """Run the task until it ends or waits; return it."""
        self.outcome = await wait_for_outcome(run, self._order, request)
        task = self._task(*self._end(), artifacts=self._artifacts())
        return {"task": task} if self._is_v1 else task

    async def stream(
        self, run: Runner, request: Request, call_id: int | str | None
    ) -> AsyncGenerator[str]:
        """Run the task and yield its updates."""

        def message(kind: str, what: Mapping[str, Any]) -> str:
            result = {kind: what} if self._is_v1 else {"kind": _OLD_KINDS[kind], **what}
            return json.dumps(_success(call_id, result), ensure_ascii=False)

        yield message("task", self._task("working"))
        try:
            async with aclosing(run(self._order, request)) as events:
                async for event in events:
                    if step := self.outcome.add(event):
                        yield message("statusUpdate", self._status_update("working", step))
        except Exception as error:
            text = _code_and_text(error, self._given_id)[1]
            yield message("statusUpdate", self._status_update("failed", text))
            return
        for artifact in self._artifacts():
            yield message("artifactUpdate", {**self._ids(), "artifact": artifact})
        yield message("statusUpdate", self._status_update(*self._end()))

    def _end(self) -> tuple[State, str]:
        """The state after the run, and the request to the person if it waits."""
        if self.outcome.request is None:
            return "completed", ""
        return "input-required", self.outcome.request["action_requests"][0]["description"]

    def _ids(self) -> dict[str, str]:
        return {"taskId": self.id, "contextId": self.context}

    def _task(
        self, state: State, text: str = "", artifacts: Sequence[Mapping[str, Any]] = ()
    ) -> dict[str, Any]:
        task = {"id": self.id, "contextId": self.context, "status": self._status(state, text)}
        kind = {} if self._is_v1 else {"kind": "task"}
        return kind | task | ({"artifacts": list(artifacts)} if artifacts else {})

    def _status_update(self, state: State, text: str) -> dict[str, Any]:
        update = {**self._ids(), "status": self._status(state, text)}
        return update if self._is_v1 else {**update, "final": state != "working"}

    def _status(self, state: State, text: str) -> dict[str, Any]:
        name = f"TASK_STATE_{state.replace('-', '_').upper()}" if self._is_v1 else state
        status = {"state": name, "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z")}
        if not text:
            return status
        message: dict[str, Any] = {
            "messageId": uuid.uuid4().hex,
            "role": "ROLE_AGENT" if self._is_v1 else "agent",
            "parts": [self._part("text", text)],
            **self._ids(),
        }
        if self.outcome.request_id:  # sent back with the answer, it limits the answer to this plan
            message["metadata"] = {"approval": self.outcome.request_id}
        kind = {} if self._is_v1 else {"kind": "message"}
        return {**status, "message": kind | message}

    def _artifacts(self) -> list[dict[str, Any]]:
        """The answer as text, and as data with the facts that it cites."""
        if self.outcome.request is not None:
            return []
        data = {"answer": self.outcome.result.answer, "facts": self.outcome.cited}
        parts = [self._part("text", self.outcome.result.text), self._part("data", data)]
        return [{"artifactId": f"{self.id}.answer", "name": "answer", "parts": parts}]

    def _part(self, kind: str, content: Any) -> dict[str, Any]:
        return {kind: content} if self._is_v1 else {"kind": kind, kind: content}


_OLD_KINDS = {"task": "task", "statusUpdate": "status-update", "artifactUpdate": "artifact-update"}


def _thread(context: str, request: Request) -> str:
    """The thread of a context; callers may use the same context names independently."""
    try:
        return str(uuid.UUID(context))
    except ValueError:
        person = getattr(request.state, "person", None)
        owner = person.owner if person else ""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"a2a:{owner}:{context}"))
