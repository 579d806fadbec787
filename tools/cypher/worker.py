"""The process that runs the embedded graph.

The engine itself stops most runaway queries, but not all: a join inside ``EXISTS {…}`` or a nested
list comprehension runs past its time limit until the memory is full. A separate process can always
be ended.

Protocol, one JSON object per line: first ``{"path"}``, answered by ``{"keys"}``; then ``{"query",
"seconds", "rows", "characters"}``, answered by ``{"columns", "rows", "total"}``. Both may be
answered by ``{"error", "message"}``.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import TypedDict, cast

import kglite

from planweave.errors import PlanweaveError
from planweave.tools.cypher.cells import cut_rows, path_items, to_cell
from planweave.tools.cypher.rewriting import (
    ELEMENT_AS_TEXT,
    NO_TEXT_ERROR,
    restore_map,
    restore_names,
)
from planweave.tools.cypher.script import load_script
from planweave.tools.database import Cell
from planweave.tools.process import Channel, forbid_new_files, limit_memory

_MEMORY = 2 << 30
"""Bytes of address space."""
_CLOCK_DELAY = 0.5
"""Seconds that the engine may run past its time limit: it rarely checks its clock."""
_NO_TEXT = "A node or relationship is no text"
_NODE = {"id", "labels", "properties"}
_RELATIONSHIP = {"id", "start", "end", "type", "properties"}
_PATH = {"nodes", "relationships"}


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
    graph, answer = _load_graph(channel.receive()["path"])
    channel.send(answer)
    while graph is not None:
        channel.send(_run_query(graph, cast("Request", channel.receive())))


def _load_graph(path: str) -> tuple[kglite.FrozenGraph | None, dict[str, object]]:
    kglite.set_query_warning_policy("silent")
    graph = kglite.KnowledgeGraph()
    try:
        script = Path(path).read_text(encoding="utf-8")
        forbid_new_files()  # a query could name a file that the engine would read
        keys = load_script(script, graph)
    except PlanweaveError as error:
        message = f"The graph script {path} is faulty. {error.problem}"
        return None, {"error": "script", "message": message, "fix": error.fix}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        return None, {"error": "script", "message": f"{path} cannot be read: {reason}."}
    return graph.freeze(), {"keys": keys}


def _run_query(graph: kglite.FrozenGraph, request: Request) -> dict[str, object]:
    seconds = request["seconds"]
    try:
        view = graph.cypher(
            request["query"],
            timeout_ms=max(int(1000 * max(seconds / 2, seconds - _CLOCK_DELAY)), 1),
            row_limit=request["rows"],
        )
        columns: Sequence[str] = view.columns
        records = view.to_list()
    except kglite.CypherTimeoutError:
        return {"error": "timeout", "message": ""}
    except MemoryError:
        os._exit(1)
    except Exception as error:  # the engine's errors share no other base class
        message = restore_names(str(error))
        return {"error": "failed", "message": _NO_TEXT if NO_TEXT_ERROR in message else message}
    rows = [[to_cell(record[name], _convert) for name in columns] for record in records]
    if any(_has_element_as_text(cell) for row in rows for cell in row):
        return {"error": "failed", "message": _NO_TEXT}
    total = (view.diagnostics or {}).get("total_rows") or len(rows)
    kept = cut_rows(rows, request["characters"])
    return {"columns": [restore_names(name) for name in columns], "rows": kept, "total": total}


def _convert(value: object) -> object:
    """A date as text, a node or relationship as its properties, a path as a list."""
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if not isinstance(value, Mapping):
        return value
    keys = set(value)
    if keys == _PATH and all(isinstance(part, list) for part in value.values()):
        return path_items(value["nodes"], value["relationships"])
    if keys in (_NODE, _RELATIONSHIP) and isinstance(value["properties"], Mapping):
        value = value["properties"]
    return restore_map(value)


def _has_element_as_text(cell: Cell) -> bool:
    """Whether a text contains a node or relationship, with the engine's own number."""
    if isinstance(cell, str):
        return bool(ELEMENT_AS_TEXT.search(cell))
    items = cell.values() if isinstance(cell, dict) else cell if isinstance(cell, list) else ()
    return any(_has_element_as_text(item) for item in items)
