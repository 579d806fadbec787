"""A server of models that is faulty in one way: what each kind of fault sends.

Whatever a model's server sends, a method ends soon: with an answer that says what is not known, or
with one sentence on what is wrong with the server.
"""

import asyncio
import gc
import gzip
import json
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from typing import Any

import httpx
import pytest
from cases import cases
from http_server import Handler, listening
from langchain_core.messages import HumanMessage
from tally import RecordTried

from planweave import PlanweaveError
from planweave.graphs import METHODS
from planweave.memory import Context
from planweave.models import chat_model
from planweave.models.call import call
from planweave.models.settings import process_settings
from planweave.models.whole_replies import CheckedClient

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class Fault:
    """What is sent: status, body, headers; ``missing`` bytes are announced and never come."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    missing: int = 0
    encoding: str = ""
    closes: bool = False


def _json(value: Any, status: int = 200) -> Fault:
    return Fault(json.dumps(value).encode(), status)


def completion(content: Any, **more: Any) -> dict[str, Any]:
    """A sound completion with this content; ``more`` replaces parts of it."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": content},
    }
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return whole | {"choices": [choice], "usage": USAGE} | more


def _choice(**more: Any) -> dict[str, Any]:
    choice = completion("hello")["choices"][0] | more
    return completion("", choices=[choice])


def _says(text: str) -> Fault:
    return _json(completion(text))


_SOUND = json.dumps(completion("hello")).encode()
_ERROR = {"error": {"message": "overloaded", "type": "server_error", "code": "x"}}
_DEEP = "[" * 20_000

FAULTS: Mapping[str, Fault] = {
    # statuses
    **{
        f"status {status}": _json(_ERROR, status)
        for status in (204, 400, 401, 403, 404, 408, 413, 422, 429, 500, 501, 502, 503, 504, 529)
    },
    # bodies that are no completion
    "no body": Fault(b""),
    "closes at once": Fault(b"", closes=True),
    "cut off": Fault(_SOUND[:60]),
    "fewer bytes than announced": Fault(_SOUND[:60], missing=400),
    "a page": Fault(b"<html><body>Bad gateway</body></html>", kind="text/html"),
    "noise": Fault(bytes(range(256)) * 4),
    "packed noise": Fault(b"\x00\x01 no gzip", encoding="gzip"),
    "packed and cut off": Fault(gzip.compress(_SOUND)[:40], encoding="gzip"),
    "null": Fault(b"null"),
    "a number": Fault(b"5"),
    "a list": Fault(b"[]"),
    "nested without end": Fault(_DEEP.encode()),
    "error with status 200": _json(_ERROR),
    "error as text": _json({"error": "overloaded"}),
    "error with a code": _json({"error": {"message": "slow down", "code": 429}}),
    # completions without a reply
    "no choices": _json({"id": "x", "object": "chat.completion", "usage": USAGE}),
    "choices null": _json(completion("", choices=None)),
    "choices empty": _json(completion("", choices=[])),
    "choices of null": _json(completion("", choices=[None])),
    "message null": _json(_choice(message=None)),
    "content null": _json(completion(None)),
    "content a number": _json(completion(5)),
    "content an object": _json(completion({"a": 1})),
    "content empty": _says(""),
    "content blank": _says(" \n\t "),
    "tool calls alone": _json(
        _choice(message={"role": "assistant", "content": None, "tool_calls": [{"id": 5}]})
    ),
    "a refusal": _json(
        _choice(message={"role": "assistant", "content": None, "refusal": "I will not."})
    ),
    "filtered": _json(_choice(finish_reason="content_filter")),
    "cut by length": _json(_choice(finish_reason="length")),
    # figures
    "usage missing": _json({k: v for k, v in completion("hello").items() if k != "usage"}),
    "usage below nothing": _json(completion("hello", usage=dict.fromkeys(USAGE, -1000000))),
    "usage beyond all": _json(completion("hello", usage=dict.fromkeys(USAGE, 10**30))),
    "usage as text": _json(completion("hello", usage=dict.fromkeys(USAGE, "many"))),
    # replies
    "prose": _says("I am sorry, but as a language model I cannot say."),
    "another object": _says('{"foo": 1}'),
    "all null": _says('{"thought": null, "tool": null, "input": null, "steps": null}'),
    "no number": _says('{"facts": [NaN, 1e999], "why": "x", "decision": "y", "unknown": ""}'),
    "huge number": _says('{"facts": [%s], "why": "x", "decision": "y"}' % ("9" * 5_000)),
    "facts that are none": _says(
        '{"facts": [-1, 0, 99999], "told_by": [-1], "why": "x", "text": "x [99999]",'
        ' "asked": "x", "short": "y", "decision": "y", "unknown": ""}'
    ),
    "controls": _says('{"steps": ["\\u001b[2J\\u0000\\u202e\\u0085 \\ud800"]}'),
    "deep": _says(_DEEP),
    "without end": _says("again and again " * 10_000),
    "a fence without end": _says("```json\n{" * 2_000),
    "an unknown tool": _says('{"thought": "x", "step": 1, "tool": "shell", "input": "rm -rf /"}'),
    "a step that is none": _says('{"thought": "x", "step": -7, "tool": "sql", "input": ""}'),
    "a write": _says('{"thought": "x", "step": 1, "tool": "sql", "input": "DROP TABLE offer"}'),
}
"""Every kind of fault by name."""

TROUBLE = (
    *("no body", "closes at once", "cut off", "fewer bytes than announced", "a page", "null"),
    *("packed and cut off", "error with status 200", "error as text", "error with a code"),
    *("no choices", "choices empty", "message null"),
)
"""Faults that are trouble of the server's: the same request is sent again."""


class _Handler(Handler):
    faults: list[Fault]
    asked: list[int]

    def answer(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.asked[0] += 1
        fault = self.faults.pop(0) if len(self.faults) > 1 else self.faults[0]
        try:
            if fault.closes:
                self.connection.close()
                return
            self.send_response(fault.status)
            self.send_header("content-type", fault.kind)
            if fault.encoding:
                self.send_header("content-encoding", fault.encoding)
            self.send_header("content-length", str(len(fault.body) + fault.missing))
            self.end_headers()
            self.wfile.write(fault.body)
            if fault.missing:
                self.close_connection = True
        except OSError:
            return

    def finish(self) -> None:
        if not self.wfile.closed:
            super().finish()


@dataclass
class FaultyServer:
    """Where it is reached, as the name of a model, and how often it was asked."""

    model: str
    count: list[int]


@contextmanager
def faulty(*names: str) -> Iterator[FaultyServer]:
    """A server that sends faults in turn, the last for ever; ``sound`` is a sound reply."""
    sound = Fault(_SOUND)
    faults = [sound if name == "sound" else FAULTS[name] for name in names]
    count = [0]
    handler = type("Handler", (_Handler,), {"faults": faults, "asked": count})
    with listening(handler) as url:
        yield FaultyServer(f"{url}/v1#m", count)


_SECONDS = 60
_SAMPLE = 60
_MIXED = 1_700  # one fault after another, so that a run meets them midway


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setenv("PLANWEAVE_RETRIES", "0")
    monkeypatch.setenv("PLANWEAVE_TIMEOUT", "20")
    process_settings.cache_clear()
    yield monkeypatch
    process_settings.cache_clear()


# Work that is cancelled while it connects leaves its socket to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.timeout(3600)
async def test_every_method_ends_whatever_the_model_sends(
    impatient: pytest.MonkeyPatch,
    offers: str,
    attack_is_full: bool,
    attack_seed: int,
    record_tried: RecordTried,
) -> None:
    del impatient
    draw = random.Random(attack_seed)
    alone = [((fault,), name) for fault, name in product(FAULTS, METHODS)]
    names = [*METHODS]
    in_turn = [
        (tuple(draw.choices([*FAULTS, "sound"], k=3)), draw.choice(names)) for _ in range(_MIXED)
    ]
    every = alone + in_turn if attack_is_full else draw.sample(alone + in_turn, _SAMPLE)
    failed = [
        f"{name} with {', '.join(faults)}: {problem}"
        for faults, name in every
        if (problem := await _problem(faults, name, offers))
    ]
    gc.collect()  # here, where it is not an error, and in no later test
    record_tried(len(every), len(failed))
    assert not failed, "\n".join(failed)


async def _problem(faults: Sequence[str], name: str, database: str) -> str:
    """What went wrong, or nothing."""
    with faulty(*faults) as server:
        context = Context(model=server.model, database=database, max_iterations=3)
        try:
            async with asyncio.timeout(_SECONDS):
                graph: Any = METHODS.get(name).graph
                memory = await graph.ainvoke({"question": "Which is cheapest?"}, context=context)
        except PlanweaveError as error:
            return "" if "\n" not in str(error) else f"more than a sentence: {error}"
        except TimeoutError:
            return f"no end within {_SECONDS} s"
        except Exception as error:  # whatever it is, it would be a traceback
            return f"{type(error).__name__}: {str(error)[:200]}"
    return "" if memory["messages"][-1].text.strip() else "nothing is said"


async def test_trouble_of_a_server_is_tried_again(impatient: pytest.MonkeyPatch) -> None:
    impatient.setenv("PLANWEAVE_RETRIES", "2")
    process_settings.cache_clear()

    async def asked(fault: str) -> tuple[str, str, list[int]]:
        with faulty(fault, "sound") as server:
            done = await call(chat_model(server.model), [HumanMessage("Hello!")])
            return fault, done.text, server.count

    ended = await asyncio.gather(*map(asked, TROUBLE))  # each waits before it asks again
    assert ended == [(fault, "hello", [2]) for fault in TROUBLE]


@cases(
    (b"", False),
    (b'data: {"choices": [{"delta": {"content": "hel"}, "finish_reason": null}]}\n\n', False),
    (b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n', True),
    (b"data: {}\n\ndata: [DONE]\n\n", True),
)
async def test_a_stream_that_breaks_off_is_no_reply(sent: bytes, whole: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield sent[:30]
        yield sent[30:]

    mock = httpx.MockTransport(lambda _: httpx.Response(200, content=pieces()))
    ended = nullcontext() if whole else pytest.raises(httpx.RemoteProtocolError, match="cut off")
    async with (
        CheckedClient(transport=mock) as client,
        client.stream("POST", "http://model/v1/chat/completions") as reply,
    ):
        with ended:
            assert await reply.aread() == sent


@cases("usage below nothing", "usage beyond all")
async def test_no_server_gives_budget_back(fault: str, impatient: pytest.MonkeyPatch) -> None:
    del impatient
    with faulty(fault) as server:
        done = await call(chat_model(server.model), [HumanMessage("Hello!")])
    assert done.record.usage.input_tokens >= 0
    assert done.record.usage.output_tokens >= 0
