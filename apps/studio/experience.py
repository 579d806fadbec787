"""Experience: an owner's paths, and the instruction graph made from them."""

import io
import re
from collections import Counter
from dataclasses import asdict
from functools import cached_property
from math import isfinite, nan
from pathlib import Path as FilePath
from typing import Annotated, Any, cast

from pydantic import BaseModel, StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave import BadInput
from planweave.apps.request_body import parse_object, read_bytes, validate
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import parameter
from planweave.apps.studio.uploads import bytes_left
from planweave.apps.trajectory import path_of
from planweave.learning import SentenceVectors
from planweave.learning.experience import Experience, experience_of
from planweave.learning.instruction_graph import THRESHOLD, InstructionGraph
from planweave.learning.paths import TaskPath, read_paths, select_succeeded
from planweave.learning.trained import EMBEDDINGS
from planweave.memory import LOCAL, Turn
from planweave.models import embeddings

_MAX_NODES = 300
"""Nodes that the page can draw; the paper's largest graph has 725."""
_MAX_BYTES = 20_000_000
_MAX_UNPACKED_BYTES = 50_000_000
_FILE_NAME = re.compile(r"[\w(][\w ()+,.&@'-]{0,110}\.jsonl(\.gz)?")

_Text = Annotated[str, StringConstraints(max_length=10_000)]


class JudgedTurn(BaseModel):
    """The parts of a turn that become an instruction."""

    tool: _Text
    input: _Text
    facts: list[int]
    problem: str


class Judgement(BaseModel, extra="forbid", hide_input_in_errors=True):
    """A person's judgement of an answer, with the turns that led to it."""

    thread: _Text
    task: _Text
    question: _Text
    turns: list[JudgedTurn]
    right: bool
    in_context: bool = False


class Experiences:
    """The routes; ``access`` says whose experience a caller sees."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def paths(self, request: Request) -> JSONResponse:
        """All paths, the oldest first."""
        owner, experience = self._of(request)
        listed = [_path_json(entry.path) | {"added": entry.added} for entry in experience.entries()]
        return JSONResponse({"owner": owner, "threshold": THRESHOLD, "paths": listed})

    async def add(self, request: Request) -> JSONResponse:
        """Add the paths of the request's body, a file of trajectories."""
        experience = await self._experience_with_room(request)
        name = parameter(request, "name")
        if not _FILE_NAME.fullmatch(name):
            raise BadInput(
                f"{name!r} is not a file of trajectories.", fix="Choose a .jsonl or .jsonl.gz file."
            )
        content = await read_bytes(request, _MAX_BYTES)
        paths = await run_in_threadpool(
            read_paths, FilePath(name), opened=io.BytesIO(content), most_bytes=_MAX_UNPACKED_BYTES
        )
        new = await run_in_threadpool(experience.add, paths)
        succeeded = sum(path.reward == 1 for path in paths)
        return JSONResponse({"new": len(new), "paths": len(paths), "succeeded": succeeded})

    async def judge(self, request: Request) -> JSONResponse:
        """Save the turns of a run as a path that succeeded or failed."""
        experience = await self._experience_with_room(request)
        judged = validate(Judgement, parse_object(await read_bytes(request, _MAX_BYTES)), "The run")
        path = path_of(
            judged.question,
            cast("list[Turn]", [turn.model_dump() for turn in judged.turns]),
            task=judged.task,
            reward=1.0 if judged.right else 0.0,
            thread=judged.thread,
            in_context=judged.in_context,
        )
        await run_in_threadpool(experience.add, [path])
        return JSONResponse(_path_json(path))

    def graph(self, request: Request) -> JSONResponse:
        """The nodes that most paths visit, the edges between them, and the nodes of each path."""
        _, experience = self._of(request)
        threshold = _number(request, "threshold", THRESHOLD)
        most = min(int(_number(request, "most", 40)), _MAX_NODES)
        paths = select_succeeded(entry.path for entry in experience.entries())
        made = InstructionGraph.of(paths, self._embed, threshold)
        return JSONResponse(_graph_json(made, most))

    def remove(self, request: Request) -> JSONResponse:
        """Delete a path permanently."""
        self._of(request)[1].remove([parameter(request, "key")])
        return JSONResponse({})

    @cached_property
    def _embed(self) -> SentenceVectors:
        """Embeds each instruction once for all graphs; the vectors are only in memory."""
        return SentenceVectors(embeddings(EMBEDDINGS))

    async def _experience_with_room(self, request: Request) -> Experience:
        """The caller's experience, if their quota has room for more."""
        owner, quota = self._access.owner(request), self._access.quota(request)
        await run_in_threadpool(bytes_left, owner, quota)
        return self._of(request)[1]

    def _of(self, request: Request) -> tuple[str, Experience]:
        owner = self._access.owner(request) or request.query_params.get("owner") or LOCAL
        return owner, experience_of(owner)


def _path_json(path: TaskPath) -> dict[str, Any]:
    return {"key": path.key, **asdict(path)}


def _graph_json(graph: InstructionGraph, most: int) -> dict[str, Any]:
    walks = {path.key: graph.walk(path.key) for path in graph.paths}
    through = Counter(node for walk in walks.values() for node in set(walk))
    shown = {node for node, _ in through.most_common(most)}
    return {
        "all_nodes": len(graph.nodes),
        "all_edges": len(graph.edges),
        "nodes": [
            {"id": node, "instructions": [*graph.nodes[node]], "paths": through[node]}
            for node in sorted(shown)
        ],
        "edges": [
            {
                "source": a,
                "target": b,
                "tasks": {task: sorted(questions) for task, questions in tasks.items()},
            }
            for (a, b), tasks in graph.edges.items()
            if a in shown and b in shown
        ],
        "walks": {key: [*walk] for key, walk in walks.items()},
    }


def _number(request: Request, name: str, default: float) -> float:
    given = request.query_params.get(name)
    try:
        number = default if given is None else float(given)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise BadInput(f"The parameter {name} is not a number.")
    return number
