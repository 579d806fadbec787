"""Experience: an owner's paths, and the instruction graph that is made from them."""

import io
import re
from collections import Counter
from dataclasses import asdict
from math import isfinite, nan
from pathlib import Path as FilePath
from typing import Annotated, Any, cast

from pydantic import BaseModel, StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave import BadInput
from planweave.apps.sent import body, checked, json_object
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import asked
from planweave.apps.studio.uploads import bytes_left
from planweave.apps.trajectory import path_of
from planweave.learning import SentenceVectors
from planweave.learning.experience import Experience, experience_of
from planweave.learning.instruction_graph import THRESHOLD, InstructionGraph
from planweave.learning.paths import TaskPath, read_paths
from planweave.learning.trained import EMBEDDINGS
from planweave.memory import LOCAL, Turn
from planweave.models import embedding_id, embeddings

_MOST = 300
"""Nodes that a page can draw; the paper's largest graph has 725."""
_MOST_BYTES = 20_000_000
_MOST_UNPACKED = 50_000_000
_FILE_NAME = re.compile(r"[\w(][\w ()+,.&@'-]{0,110}\.jsonl(\.gz)?")

_Text = Annotated[str, StringConstraints(max_length=10_000)]


class Did(BaseModel):
    """Of a turn of a run, what becomes an instruction."""

    tool: _Text
    input: _Text
    facts: list[int]
    problem: str


class PersonsJudgement(BaseModel, extra="forbid", hide_input_in_errors=True):
    """What a person says of the answer to a question, and how the run came to it."""

    thread: _Text
    task: _Text
    question: _Text
    turns: list[Did]
    right: bool


class Experiences:
    """The routes; ``access`` says whose experience a caller sees."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def paths(self, request: Request) -> JSONResponse:
        """All paths, the oldest first."""
        owner, experience = self._of(request)
        listed = [_told(entry.path) | {"added": entry.added} for entry in experience.entries()]
        return JSONResponse({"owner": owner, "threshold": THRESHOLD, "paths": listed})

    async def add(self, request: Request) -> JSONResponse:
        """Add the paths of the file of trajectories that is the request's body."""
        experience = await self._with_room(request)
        name = asked(request, "name")
        if not _FILE_NAME.fullmatch(name):
            raise BadInput(
                f"{name!r} is no file of trajectories.", fix="Choose a .jsonl or .jsonl.gz file."
            )
        content = await body(request, _MOST_BYTES)
        paths = await run_in_threadpool(
            read_paths, FilePath(name), opened=io.BytesIO(content), most_bytes=_MOST_UNPACKED
        )
        new = await run_in_threadpool(experience.add, paths)
        succeeded = sum(path.reward == 1 for path in paths)
        return JSONResponse({"new": len(new), "paths": len(paths), "succeeded": succeeded})

    async def judge(self, request: Request) -> JSONResponse:
        """Keep what a run did for a question as a path that succeeded or failed."""
        experience = await self._with_room(request)
        judged = checked(PersonsJudgement, json_object(await body(request, _MOST_BYTES)), "The run")
        path = path_of(
            judged.question,
            cast("list[Turn]", [turn.model_dump() for turn in judged.turns]),
            task=judged.task,
            reward=1.0 if judged.right else 0.0,
            thread=judged.thread,
        )
        await run_in_threadpool(experience.add, [path])
        return JSONResponse(_told(path))

    def graph(self, request: Request) -> JSONResponse:
        """The nodes that most paths lead through, the edges between them, and the paths' walks."""
        _, experience = self._of(request)
        threshold = _number(request, "threshold", THRESHOLD)
        most = min(int(_number(request, "most", 40)), _MOST)
        embed = SentenceVectors(embeddings(EMBEDDINGS))
        made = experience.graph(embed, embedding_id(EMBEDDINGS), threshold=threshold)
        return JSONResponse(_drawn(made, most))

    def remove(self, request: Request) -> JSONResponse:
        """Forget a path for good."""
        self._of(request)[1].remove([asked(request, "key")])
        return JSONResponse({})

    async def _with_room(self, request: Request) -> Experience:
        """The caller's experience, if their quota leaves room for more."""
        owner, quota = self._access.owner(request), self._access.quota(request)
        await run_in_threadpool(bytes_left, owner, quota)
        return self._of(request)[1]

    def _of(self, request: Request) -> tuple[str, Experience]:
        owner = self._access.owner(request) or request.query_params.get("owner") or LOCAL
        return owner, experience_of(owner)


def _told(path: TaskPath) -> dict[str, Any]:
    return {"key": path.key, **asdict(path)}


def _drawn(graph: InstructionGraph, most: int) -> dict[str, Any]:
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
        raise BadInput(f"The parameter {name} is no number.")
    return number
