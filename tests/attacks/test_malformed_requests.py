"""Requests that are wrong in one way each, for every interface of ``planweave serve``.

Every route has one sound request. A wrong one has another value in one place of its body, lacks
that place, or is another body altogether; of all these the seed picks some. Whatever is sent, the
server answers soon, with a sentence that names what is wrong and never with an error of its own,
and no run is left behind.
"""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from serve import Served, serving_planweave
from tally import RecordTried

SECONDS = 60
"""A request that takes longer hangs."""

_HI: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi!"}]}
_RUN: dict[str, Any] = {
    "assistant_id": "planrag",
    "input": _HI | {"question": "Hi!", "predefined_plan": ["Look."]},
    "context": {"max_iterations": 2},
    "config": {"configurable": {"checkpoint_id": None}, "recursion_limit": 50, "tags": ["a"]},
    "metadata": {"a": 1},
}
_RUN |= {"stream_mode": ["values"], "stream_subgraphs": False, "webhook": None, "after_seconds": 0}
_RUN |= {"interrupt_before": [], "interrupt_after": [], "multitask_strategy": "enqueue"}
_RUN |= {"if_not_exists": "create", "on_disconnect": "cancel", "on_completion": "delete"}
_RUN |= {"durability": "async"}
_COMMAND: dict[str, Any] = {
    "assistant_id": "planrag",
    "command": {"resume": {"decisions": []}, "update": {"question": "Hi!"}, "goto": "speaker"},
    "checkpoint": {"checkpoint_id": None, "checkpoint_ns": ""},
    "checkpoint_id": None,
}
_STATE: dict[str, Any] = {
    "values": {
        **_HI,
        "question": "Hi!",
        "plan": ["Look."],
        "step": 1,
        "usage": {"planner": {"calls": 1, "dollars": 0.5}},
        "facts": [{"number": 1, "text": "x", "values": {"a": 1}, "source": "sql", "query": "q"}],
        "turns": [],
        "action": None,
        "answer": None,
    },
    "as_node": "speaker",
    "checkpoint": {"checkpoint_ns": ""},
    "checkpoint_id": None,
}
_CHAT: dict[str, Any] = {
    "model": "planrag",
    "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Hi!"}],
    "context": {"max_iterations": 2},
}
_CHAT |= {"stream": False, "stream_options": {"include_usage": True}, "n": 1, "thread": None}
_CHAT |= {"temperature": 0.1, "seed": 1}
_A2A: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "message/send",
    "params": {
        "message": {
            "messageId": "1",
            "role": "user",
            "parts": [{"kind": "text", "text": "Hi!"}],
            "contextId": "c",
            "taskId": "",
            "metadata": {"context": {"max_iterations": 2}},
        }
    },
}
_MCP: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "planrag", "arguments": {"question": "Hi!", "rules": "", "candidates": []}},
}
_JUDGED: dict[str, Any] = {
    "thread": "t",
    "task": "a",
    "question": "q",
    "turns": [{"tool": "sql", "input": "SELECT 1", "facts": [1], "problem": ""}],
    "right": True,
}

_PAGE: dict[str, Any] = {"limit": 2, "offset": 0}

BODIES: Mapping[str, Mapping[str, Any]] = {
    "POST /runs": _RUN,
    "POST /runs/wait": _RUN,
    "POST /runs/stream": _RUN,
    "POST /threads/{thread}/runs": _RUN,
    "POST /threads/{thread}/runs/wait": _RUN | _COMMAND,
    "POST /threads/{thread}/runs/stream": _COMMAND,
    "POST /threads/{thread}/state": _STATE,
    "POST /threads/{thread}/state/checkpoint": {
        "checkpoint": {"checkpoint_id": "x", "checkpoint_ns": ""},
        "subgraphs": False,
        "select": ["values"],
    },
    "POST /threads/{thread}/history": {"limit": 2, "before": None, "select": ["values"]}
    | {"metadata": {"source": "loop"}, "checkpoint": {"checkpoint_ns": ""}},
    "POST /threads/{thread}/copy": {},
    "PATCH /threads/{thread}": {"metadata": {"a": 1}},
    "POST /threads": {"thread_id": None, "metadata": {"graph_id": "rat"}, "if_exists": "raise"},
    "POST /threads/search": _PAGE
    | {"metadata": {"a": 1}, "ids": ["x"], "values": None, "status": "idle"}
    | {"sort_by": "created_at", "sort_order": "asc", "select": ["thread_id"]},
    "POST /threads/count": {"metadata": {"a": 1}, "status": "idle"},
    "POST /assistants/search": _PAGE
    | {"graph_id": "rat", "name": "rat", "metadata": {"created_by": "system"}, "select": ["name"]},
    "POST /assistants/count": {"graph_id": "rat"},
    "PUT /store/items": {"namespace": ["a"], "key": "k", "value": {"a": 1}, "index": False},
    "DELETE /store/items": {"namespace": ["a"], "key": "k"},
    "POST /store/items/search": _PAGE
    | {"namespace_prefix": ["a"], "filter": {"a": 1}, "query": None},
    "POST /store/namespaces": _PAGE | {"prefix": ["a"], "suffix": ["a"], "max_depth": 2},
    "POST /v1/chat/completions": _CHAT,
    "POST /a2a/planrag": _A2A,
    "POST /mcp": _MCP,
    "POST /studio/api/databases": {"url": "none.sqlite"},
    "POST /studio/api/databases/query": {"url": "none.sqlite", "query": "SELECT 1"},
    "POST /studio/api/experience": _JUDGED,
}
"""A sound body for every route that reads one."""

PATHS: Mapping[str, Sequence[str]] = {
    "/threads/{thread}/runs": ("limit", "offset", "status"),
    "/threads/{thread}/state": ("subgraphs", "select"),
    "/threads/{thread}/history": ("limit", "before", "metadata", "checkpoint"),
    "/threads/{thread}/runs/{}": (),
    "/threads/{thread}/runs/{}/join": (),
    "/threads/{thread}/runs/{}/stream": ("stream_mode", "cancel_on_disconnect"),
    "/threads/{thread}/state/{}": ("subgraphs",),
    "/threads/{}": (),
    "/assistants/{}": (),
    "/assistants/{}/schemas": (),
    "/assistants/{}/subgraphs/{}": (),
    "/assistants/rat/graph": ("xray",),
    "/store/items": ("namespace", "key"),
    "/v1/models/{}": (),
    "/a2a/{}/.well-known/agent-card.json": (),
    "/studio/api/methods/{}/graph": (),
    "/studio/api/documents/page": ("collection", "name", "page"),
    "/studio/api/experience": ("owner",),
    "/studio/api/experience/graph": ("owner", "threshold", "most"),
    "/studio/api/results/report": ("file",),
    "/studio/api/results/record": ("file", "key"),
    "/studio/{}": (),
    "/ok": ("check_db",),
}
"""Routes that are read, with the parameters of their addresses; {} is any name."""

VALUES: Sequence[Any] = (
    *(None, True, 0, -1, 1.5, 1e308, 2**31, 2**63, 10**40, float("nan"), float("inf")),
    *("", "x", "*", "a.b", "../../etc/passwd", "\0", "\ud800", "\u202e", "%00", "x" * 9000),
    *([], [[]], [None], [5], ["x"], [{}], {}, {"": 1}, {"a": {}}, {"__overwrite__": []}),
    *({"__overwrite__": None}, {"type": "constructor", "lc": 1, "id": ["os", "system"]}),
)
_SAID: dict[str, Any] = {"role": "user", "content": "Hi!"}
MESSAGES: Sequence[Any] = (
    *({"role": "user"}, {"type": "human"}, ["user"], ["user", 5], ["user", "Hi!", "more"], "", 5),
    *(_SAID | {"content": content} for content in (None, 5, [5])),
    _SAID | {"content": [{"type": "image_url", "image_url": 5}]},
    *(_SAID | {"role": role} for role in ("alien", None, 5, "tool")),
    *({"type": "remove", "id": name, "content": ""} for name in ("none", "__remove_all__")),
    *({"role": "assistant", "content": "", "tool_calls": calls} for calls in (5, [{"a": 1}])),
    *(_SAID | {name: value} for name, value in (("id", {}), ("additional_kwargs", 5))),
    _SAID | {"response_metadata": []},
    None,
)
RAW: Sequence[bytes] = (
    *(b"", b"{", b"[]", b"null", b"5", b'"x"', b"\xff\xfe", b"[" * 50_000, b'{"a":' * 5_000),
    *(b'{"a": NaN}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"a": "\\u0000"}', b"--x\r\n"),
    *(b"a=1&b=2", b'{"a": 1} trailing', b'{"a": ' + b"9" * 5_000 + b"}", b" " * 5_000),
)
KINDS = ("application/json", "text/plain", "application/x-www-form-urlencoded", "", "\xe9/x")


@dataclass(frozen=True)
class Request:
    """One wrong request: ``names`` fill the {} of its path, ``query`` is that of its address."""

    wrong: str
    route: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()
    query: Mapping[str, str] = field(default_factory=dict)


def requests(seed: int, number: int | None = None) -> list[Request]:
    """Wrong requests, all that there are or ``number`` of them; every route is among these."""
    every = [*_bodies(), *_raw(), *_addresses()]
    shuffled = random.Random(seed)
    shuffled.shuffle(every)
    if number is None:
        return every
    of_route = Counter(request.route for request in every)
    before: Counter[str] = Counter()

    def turn(request: Request) -> float:
        """Later for the routes that have had their share, so that each is tried."""
        before[request.route] += 1
        return float(before[request.route] / of_route[request.route] ** 0.5)

    return sorted(every, key=turn)[:number]


def _bodies() -> Iterator[Request]:
    for route, sound in BODIES.items():
        yield _sent("nothing", route, sound)
        for place in _places(sound):
            yield _sent(f"{_named(place)} is missing", route, _changed(sound, place))
            values = MESSAGES if _is_message(place) else VALUES
            for value in values:
                shown = repr(value)[:40]
                yield _sent(f"{_named(place)} is {shown}", route, _changed(sound, place, value))


def _raw() -> Iterator[Request]:
    for route in BODIES:
        for body in RAW:
            for kind in KINDS:
                headers = {"content-type": kind} if kind else {}
                yield Request(f"the body is {body[:20]!r} as {kind!r}", route, body, headers)


def _addresses() -> Iterator[Request]:
    texts = [value for value in VALUES if isinstance(value, str) and value.isprintable()]
    texts += ["0", "-1", "1e9", "nan", "inf", "99999999999999999999", "true", "a/b", "?", "#", " "]
    for path, parameters in PATHS.items():
        for name in parameters:
            for text in texts:
                yield Request(f"{name}={text[:20]}", f"GET {path}", query={name: text})
        if "{}" in path:
            for text in texts:
                yield Request(f"{{}} is {text[:20]}", f"GET {path}", names=(text,))


def _sent(wrong: str, route: str, body: Any) -> Request:
    content = json.dumps(body).encode()
    accepts = {"accept": "application/json, text/event-stream"}
    return Request(wrong, route, content, {"content-type": "application/json"} | accepts)


def _places(sound: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a body, from the outside in."""
    inside: Any = sound.items() if isinstance(sound, Mapping) else ()
    if isinstance(sound, list):
        inside = enumerate(sound)
    for name, value in inside:
        yield (*before, name)
        yield from _places(value, (*before, name))


def _is_message(place: Sequence[Any]) -> bool:
    return len(place) > 1 and place[-2] == "messages"


def _named(place: Sequence[Any]) -> str:
    return ".".join(map(str, place))


def _changed(sound: Any, place: Sequence[Any], *value: Any) -> Any:
    """Another body, with the value in this place; without the place if there is no value."""
    changed = deepcopy(sound)
    *outer, last = place
    inside = reduce(getitem, outer, changed)
    if value:
        inside[last] = value[0]
    else:
        del inside[last]
    return changed


_CHUNK = b"10000\r\n" + b" " * 65_536 + b"\r\n"
_POST = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
_ACCEPT = b"Accept: application/json, text/event-stream\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"

WIRE: Mapping[str, tuple[bytes, int]] = {
    "HTTP/1.0 without a host": (b"GET /info HTTP/1.0\r\n\r\n", 1),
    "HTTP/1.1 without a host": (b"GET /info HTTP/1.1\r\nConnection: close\r\n\r\n", 1),
    "no HTTP": (b"hello\r\n\r\n", 1),
    "a header without a name": (b"GET /info HTTP/1.1\r\n: x\r\n\r\n", 1),
    "a length below nothing": (_POST % b"/runs" + b"Content-Length: -1\r\n\r\n", 1),
    "two lengths": (_POST % b"/runs" + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 1),
    "chunks that are none": (_POST % b"/runs" + _CHUNKED + b"zz\r\n", 1),
    **{
        f"a body of 30 MB in chunks to {path}": (
            _POST % path.encode() + _ACCEPT + _CHUNKED + _CHUNK,
            460,
        )
        for path in ("/mcp", "/runs/wait", "/v1/chat/completions", "/a2a/planrag", "/studio/api/x")
    },
    **{
        f"the host {host!r}": (
            b"GET /info HTTP/1.1\r\nConnection: close\r\nHost: %s\r\n\r\n" % host.encode(),
            1,
        )
        for host in (
            *("evil.example", "[::1].evil.example", "127.0.0.1.evil.example", "localhost@evil"),
            *("localhost:80@evil.example", "127.0.0.1:80:80", "[::1", "", "localhost evil", "::1"),
        )
    },
}
"""Bytes that are no sound request for the one-person server, and how often their end is sent."""


async def refused(host: str, port: int, sent: tuple[bytes, int]) -> str:
    """Send bytes; what went wrong on the server, or nothing if it refused them.

    A body is sent to its end, or until the server has answered.
    """
    reader, writer = await asyncio.open_connection(host, port)
    begin, times = sent
    try:
        async with asyncio.timeout(SECONDS):
            answer = asyncio.create_task(reader.read(4_000))
            writer.write(begin)
            for _ in range(times - 1):
                writer.write(_CHUNK)
                await writer.drain()
                if answer.done():
                    break
            if times > 1:
                writer.write(b"0\r\n\r\n")
            text = (await answer).decode("latin-1")
    except TimeoutError:
        return f"no answer within {SECONDS} s"
    except ConnectionError:
        return ""  # it has closed the connection on what it does not read
    finally:
        writer.close()
    status = text.partition(" ")[2][:3]
    return "" if not text or status.startswith("4") else text[:200]


async def attempt(client: httpx.AsyncClient, thread: str, request: Request) -> str:
    """Send a request; what went wrong on the server, or nothing.

    A wrong request may be refused, or what is wrong in it ignored.
    """
    method, path = request.route.split(" ", 1)
    path = path.replace("{thread}", thread)
    for name in request.names:
        path = path.replace("{}", quote(name, safe="/"))
    path = path.replace("{}", "none")
    sent = dict(request.headers) | {"connection": "close"}
    headers = {name.encode(): value.encode("latin-1") for name, value in sent.items()}
    try:
        async with asyncio.timeout(SECONDS):
            reply = await client.request(
                method,
                path,
                content=request.body or None,
                headers=headers,
                params=dict(request.query) or None,
            )
    except (TimeoutError, httpx.TimeoutException):
        return f"{request.route}: no answer within {SECONDS} s: {request.wrong}"
    except httpx.HTTPError as error:
        return f"{request.route}: {type(error).__name__}: {request.wrong}"
    if reply.status_code >= 500 or "see the server's log" in reply.text:
        return f"{request.route}: {reply.status_code} {reply.text[:200]!r}: {request.wrong}"
    return ""


pytestmark = pytest.mark.server

_SAMPLE = 677
_AT_ONCE = 8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving_planweave(tmp_path_factory.mktemp("malformed")) as server:
        yield server


@pytest.mark.timeout(3600)
async def test_malformed_requests_are_refused(
    server: Served, attack_is_full: bool, attack_seed: int, record_tried: RecordTried
) -> None:
    every = requests(attack_seed, None if attack_is_full else _SAMPLE)
    async with httpx.AsyncClient(base_url=server.url, timeout=SECONDS) as client:
        waiting, failed = iter(every), list[str]()

        async def caller() -> None:
            asked = {"metadata": {"graph_id": "planrag"}}
            thread = (await client.post("/threads", json=asked)).json()["thread_id"]
            for request in waiting:
                if problem := await attempt(client, thread, request):
                    failed.append(problem)

        await asyncio.gather(*(caller() for _ in range(_AT_ONCE)))
        record_tried(len(every), len(failed))
        assert not failed, "\n".join(failed[:40])
        await _nothing_is_left(client)


@pytest.mark.parametrize("wrong", WIRE)
async def test_what_is_no_request_for_this_server_is_refused(server: Served, wrong: str) -> None:
    port = int(server.url.rpartition(":")[2])
    assert not await refused("127.0.0.1", port, WIRE[wrong])
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{server.url}/ok", timeout=60)).is_success


async def _nothing_is_left(client: httpx.AsyncClient) -> None:
    """What was begun in the background ends soon."""
    async with asyncio.timeout(120):
        while True:
            figures = (await client.get("/metrics")).text
            left = re.findall(r'planweave_runs\{status="\w+"\} (\d+)', figures)
            if not any(map(int, map(float, left))):
                return
            await asyncio.sleep(0.2)
