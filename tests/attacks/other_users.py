"""What one user of ``planweave serve`` tries at another's things, through every interface.

Whatever is tried, no reply holds the other's secret, and the other's things stay as they are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.routing import BaseRoute, Mount, Route

SECRET = "swordfish 81723"
OWNER, THIEF = "alice", "al"  # the name of the one begins the other's
THIEVES = (THIEF, "Alice")
SPACE = ["owners", OWNER, "notes"]


@dataclass(frozen=True)
class Things:
    """What the owner has."""

    thread: str
    run: str
    checkpoint: str
    path: str


@dataclass(frozen=True)
class Try:
    """One request of the thief's."""

    method: str
    path: str
    json: Any = None
    params: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None


def tries(things: Things, routes: list[BaseRoute]) -> list[Try]:
    """Everything that is tried, once the owner's things are known."""
    return [
        *_at_threads(things, routes),
        *_at_searches(things),
        *_at_memory(),
        *_at_doors(things),
        *_at_studio(things),
        *_as_the_owner(things),
    ]


def paths(found: list[BaseRoute], before: str = "") -> Iterator[tuple[str, str]]:
    """Every method and path that routes answer."""
    for route in found:
        if isinstance(route, Mount):
            yield from paths(route.routes or [], before + route.path)
        elif isinstance(route, Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, before + route.path


def _spellings(name: str) -> Iterator[str]:
    yield from (name, name.upper(), f"{name}%20", f"%20{name}", f"./{name}", f"x/../{name}")
    yield from (f"{name}%2f", f"{name}%00", f"{name}/", f"{{{name}}}", name.replace("-", "%2D"))


def _at_threads(things: Things, routes: list[BaseRoute]) -> Iterator[Try]:
    place = {"thread_id": things.thread, "checkpoint_ns": "", "checkpoint_id": things.checkpoint}
    bodies: list[Any] = [
        {"assistant_id": "planrag", "input": {"question": "Hi!"}},
        {"assistant_id": "planrag", "command": {"goto": "speaker"}, "if_not_exists": "create"},
        {"assistant_id": "planrag", "multitask_strategy": "rollback", "checkpoint": place},
        {"values": {"question": "Mine."}, "as_node": "speaker", "checkpoint": place},
        {"metadata": {"mine": True}},
        {"checkpoint": place, "before": place, "subgraphs": True},
    ]
    others = {"run_id": things.run, "checkpoint_id": things.checkpoint, "namespace": "x"}
    for method, path in paths(routes):
        if "{thread_id}" not in path:
            continue
        sent = bodies if method in ("POST", "PATCH", "PUT") else [None]
        for name in _spellings(things.thread):
            for body in sent if name == things.thread else sent[:1]:
                yield Try(method, path.format(thread_id=name, **others), body)


def _at_searches(things: Things) -> Iterator[Try]:
    asked = ({"secret": SECRET}, {"owner": OWNER}, {"a') OR 1=1 --": "x"})
    queries: list[dict[str, Any]] = [
        *({"metadata": metadata} for metadata in asked),
        *({}, {"ids": [things.thread]}, {"limit": 1000, "select": ["values", "metadata"]}),
    ]
    for query in queries:
        yield Try("POST", "/threads/search", query)
        yield Try("POST", "/threads/count", query)
    for exists in ("raise", "do_nothing"):
        yield Try("POST", "/threads", {"thread_id": things.thread, "if_exists": exists})
    own: dict[str, Any] = {"assistant_id": "planrag", "input": {"question": "Hi!"}}
    for settings in (
        {"thread_id": things.thread},
        {"thread_id": things.thread, "checkpoint_id": things.checkpoint},
        {"owner": OWNER},
        {"langgraph_auth_user_id": OWNER},
    ):
        for path in ("/runs", "/runs/wait", "/runs/stream"):
            yield Try("POST", path, own | {"config": {"configurable": settings}})
            yield Try("POST", path, own | {"context": settings})
            yield Try("POST", path, own | settings)


def _at_memory() -> Iterator[Try]:
    below = (OWNER, "%", f"{OWNER[:-1]}_", f"{THIEF}%")
    spaces: list[list[str]] = [
        *(["owners", name] for name in below),
        *(SPACE, ["owners"], [], ["owners", THIEF, "..", OWNER, "notes"]),
        *(["OWNERS", OWNER, "notes"], ["owners", OWNER.upper(), "notes"]),
    ]
    for space in spaces:
        item = {"namespace": space, "key": "k"}
        yield Try("PUT", "/store/items", item | {"value": {"mine": True}})
        yield Try("DELETE", "/store/items", item)
        yield Try("GET", "/store/items", params={"namespace": ".".join(space), "key": "k"})
        for query in ({}, {"query": SECRET}, {"filter": {"secret": SECRET}}, {"limit": 1000}):
            yield Try("POST", "/store/items/search", {"namespace_prefix": space} | query)
        for more in ({}, {"suffix": ["notes"]}, {"max_depth": 3}):
            yield Try("POST", "/store/namespaces", {"prefix": space} | more)


def _at_doors(things: Things) -> Iterator[Try]:
    hi = [{"role": "user", "content": "What did I ask before?"}]
    call = f"call_{things.thread.replace('-', '')}{'0' * 32}"
    answer = {"role": "tool", "tool_call_id": call, "content": "yes"}
    for more in (
        {"thread": things.thread},
        {"messages": [*hi, answer]},
        {"context": {"owner": OWNER}},
        {"context": {"collection": f"{OWNER}/notes"}},
        {"context": {"experience": OWNER}},
        {"user": OWNER},
    ):
        yield Try("POST", "/v1/chat/completions", {"model": "planrag", "messages": hi} | more)
    for ids in (
        {"contextId": things.thread},
        {"taskId": f"{things.thread}.x"},
        {"contextId": things.thread, "taskId": f"{things.thread}.x"},
        {"metadata": {"context": {"owner": OWNER}}},
        {"metadata": {"context": {"collection": f"{OWNER}/notes"}}},
    ):
        for method in ("message/send", "SendMessage", "message/stream", "tasks/get", "GetTask"):
            message = {"parts": [{"text": "What did I ask before?"}]} | ids
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
            yield Try("POST", "/a2a/planrag", body)
    accepts = {"accept": "application/json, text/event-stream"}
    for arguments in (
        {"owner": OWNER},
        {"collection": f"{OWNER}/notes"},
        {"thread": things.thread},
    ):
        params = {"name": "planrag", "arguments": {"question": "What did I ask?"} | arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        yield Try("POST", "/mcp", body, headers=accepts)


def _at_studio(things: Things) -> Iterator[Try]:
    for owner in (OWNER, OWNER.upper(), f"{THIEF}/../{OWNER}", f"../experience/{OWNER}", "%"):
        yield Try("GET", "/studio/api/experience", params={"owner": owner})
        yield Try("GET", "/studio/api/experience/graph", params={"owner": owner})
        wrong = {"owner": owner, "key": things.path}
        yield Try("DELETE", "/studio/api/experience", params=wrong)
    for collection in (f"{OWNER}/notes", f"{THIEF}/../{OWNER}/notes", f"{OWNER}", "../notes"):
        named = {"collection": collection, "name": "x.txt", "page": "1"}
        yield Try("GET", "/studio/api/documents/page", params=named)
        yield Try("PUT", "/studio/api/documents", json={}, params=named)
        yield Try("DELETE", "/studio/api/documents", params=named)
    yield Try("GET", "/studio/api/documents")
    for url in ("serve.sqlite", "/etc/passwd", "${HOME}", f"sqlite:///{OWNER}"):
        yield Try("POST", "/studio/api/databases", {"url": url})
        yield Try("POST", "/studio/api/databases/query", {"url": url, "query": "SELECT 1"})


def _as_the_owner(things: Things) -> Iterator[Try]:
    """With headers in which some servers look for a name."""
    for name in ("x-user", "x-forwarded-user", "x-auth-user", "x-planweave-user", "remote-user"):
        yield Try("GET", f"/threads/{things.thread}", headers={name: OWNER})
    for cookie in (f"user={OWNER}", f"planweave={OWNER}"):
        yield Try("GET", f"/threads/{things.thread}/state", headers={"cookie": cookie})
