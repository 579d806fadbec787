"""A tiny OpenAI-compatible server on loopback that answers from a script."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from http_server import Handler, listening

_PATIENCE = 60


@dataclass(frozen=True)
class Answer:
    """One scripted answer: a text, or an error status with headers.

    It comes ``delay`` seconds after the request, or when ``after`` is set. It is given only to
    prompts that hold ``to``, so that runs can go on side by side. Whoever asks for a stream gets
    it in pieces, and the second half once somebody else waits at ``halfway``. Not every server
    ``counts`` tokens.
    """

    text: str = "hello"
    status: int = 200
    message: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    finish: str = "stop"
    cached: int = 0
    counts: bool = True
    to: str = ""
    halfway: threading.Barrier | None = None
    after: threading.Event | None = None


class Request(TypedDict):
    """The part of a request that tests look at."""

    model: str
    messages: list[dict[str, str]]
    response_format: NotRequired[dict[str, object]]
    max_tokens: int
    temperature: float
    seed: NotRequired[int]
    stream: NotRequired[bool]


@dataclass
class Script:
    """What the server will answer (the last one for ever), and what it was asked."""

    answers: list[Answer]
    requests: list[Request] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    @property
    def name(self) -> str:
        return f"{self.url}/v1#tiny"

    def next(self, request: Request) -> Answer:
        prompt = "".join(message["content"] for message in request["messages"])
        fitting = [answer for answer in self.answers if answer.to in prompt]
        if len(fitting) > 1:
            self.answers.remove(fitting[0])
        return fitting[0]


class _Handler(Handler):
    script: Script

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        script = self.script
        request: Request = json.loads(body)
        script.requests.append(request)
        script.keys.append(self.headers["authorization"])
        script.times.append(time.monotonic())
        answer = script.next(request)
        if script.over.wait(answer.delay):
            return  # no thread is left behind that waits for nobody
        if answer.after:
            answer.after.wait(_PATIENCE)
        streams = request.get("stream", False) and answer.status == 200
        try:
            self.send_response(answer.status)
            kind = "text/event-stream" if streams else "application/json"
            for name, value in {**answer.headers, "content-type": kind}.items():
                self.send_header(name, value)
            if streams:
                self._stream(answer)
                return
            payload = json.dumps(_payload(answer)).encode()
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)
        except OSError:
            return  # the client lost patience, as scripted

    def _stream(self, answer: Answer) -> None:
        self.end_headers()
        pieces = [answer.text[at : at + 4] for at in range(0, len(answer.text), 4)]
        for number, piece in enumerate(pieces):
            if answer.halfway and number == len(pieces) // 2:
                answer.halfway.wait(_PATIENCE)
            self._say(_chunk({"role": "assistant", "content": piece}))
        usage = {"usage": _payload(answer)["usage"]} if answer.counts else {}
        self._say(_chunk({}, finish=answer.finish) | usage)
        self.wfile.write(b"data: [DONE]\n\n")

    def _say(self, chunk: dict[str, object]) -> None:
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())


def _payload(answer: Answer) -> dict[str, object]:
    if answer.status != 200:
        return {"error": {"message": answer.message, "type": "scripted", "code": answer.status}}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    cached = {"prompt_tokens_details": {"cached_tokens": answer.cached}}
    message = {"role": "assistant", "content": answer.text}
    whole = _of("chat.completion", answer.finish, message=message)
    return whole | {"usage": usage | cached} if answer.counts else whole


def _chunk(delta: dict[str, str], finish: str | None = None) -> dict[str, object]:
    return _of("chat.completion.chunk", finish, delta=delta)


def _of(kind: str, finish: str | None, **said: object) -> dict[str, object]:
    choice = {"index": 0, "finish_reason": finish, **said}
    return {"id": "x", "object": kind, "created": 1, "model": "tiny", "choices": [choice]}


@contextmanager
def serving(*answers: Answer) -> Iterator[Script]:
    """Serve ``answers`` in order on a free port."""
    script = Script(list(answers))
    handler = type("Handler", (_Handler,), {"script": script})
    with listening(handler) as script.url:
        try:
            yield script
        finally:
            script.over.set()
