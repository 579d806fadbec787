"""The process that holds the embedded graph.

The engine itself stops most runaway queries, but not all: a join inside ``EXISTS {…}`` or a
nested list comprehension goes on past its time limit until the memory is gone. In a process of
its own every query can be ended, whatever it does.

Protocol, one JSON object a line: first ``{"path"}``, answered by what loading found; then
``{"query", "seconds", "rows", "characters"}``, answered by ``{"columns", "rows", "total"}``. Both
may be answered by ``{"error", "message"}``.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, cast

import kglite

from planweave.errors import PlanweaveError
from planweave.tools.cypher.cells import cut, has_element_as_text, plain
from planweave.tools.cypher.own import NO_TEXT, shown
from planweave.tools.cypher.script import load
from planweave.tools.process import Channel, forbid_new_files, limit_memory

_MEMORY = 2 << 30  # bytes of address space
_LATENESS = 0.5  # seconds: the engine looks at its clock now and then only


class Request(TypedDict):
    """One query and its limits."""

    query: str
    seconds: float
    rows: int
    characters: int


def main() -> None:
    """Serve one graph until standard input ends."""
    channel = Channel()
    limit_memory(_MEMORY)
    graph, answer = _open(channel.receive()["path"])
    channel.send(answer)
    while graph is not None:
        channel.send(_run(graph, cast("Request", channel.receive())))


def _open(path: str) -> tuple[kglite.FrozenGraph | None, dict[str, object]]:
    kglite.set_query_warning_policy("silent")
    graph = kglite.KnowledgeGraph()
    try:
        script = Path(path).read_text(encoding="utf-8")
        forbid_new_files()  # the engine could read any that a query names
        keys = load(script, graph)
    except PlanweaveError as error:
        message = f"The graph script {path} is faulty. {error.problem}"
        return None, {"error": "script", "message": message, "fix": error.fix}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        return None, {"error": "script", "message": f"{path} cannot be read: {reason}."}
    return graph.freeze(), {"keys": keys}


def _run(graph: kglite.FrozenGraph, request: Request) -> dict[str, object]:
    seconds = request["seconds"]
    try:
        view = graph.cypher(
            request["query"],
            timeout_ms=max(int(1000 * max(seconds / 2, seconds - _LATENESS)), 1),
            row_limit=request["rows"],
        )
        columns: Sequence[str] = view.columns
        records = view.to_list()
    except kglite.CypherTimeoutError:
        return {"error": "timeout", "message": ""}
    except MemoryError:
        os._exit(1)
    except Exception as error:  # the engine's errors share no other base class
        said = "A node or relationship is no text" if NO_TEXT in str(error) else shown(str(error))
        return {"error": "failed", "message": said}
    rows = [[plain(one[name]) for name in columns] for one in records]
    if any(has_element_as_text(cell) for row in rows for cell in row):
        return {"error": "failed", "message": "A node or relationship is no text"}
    total = (view.diagnostics or {}).get("total_rows") or len(rows)
    kept = cut(rows, request["characters"])
    return {"columns": [shown(name) for name in columns], "rows": kept, "total": total}
