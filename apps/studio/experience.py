"""Experience: an owner's paths, and the instruction graph that is made from them."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from apps.studio.access import Access
from apps.studio.guard import asked
from learning import SentenceVectors
from learning.experience import Experience, experience_of
from learning.instruction_graph import THRESHOLD, InstructionGraph
from learning.plan_assessor import EMBEDDINGS
from models import embedding_id, embeddings
from planweave import BadInput

_LOCAL = "local"
_MOST = 300
"""Nodes that a page can draw; the paper's largest graph has 725."""


class Experiences:
    """The routes; ``access`` says whose experience a caller sees."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def paths(self, request: Request) -> JSONResponse:
        """All paths, the oldest first."""
        owner, experience = self._of(request)
        listed = [
            {"key": entry.path.key, **asdict(entry.path), "added": entry.added}
            for entry in experience.entries()
        ]
        return JSONResponse({"owner": owner, "threshold": THRESHOLD, "paths": listed})

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

    def _of(self, request: Request) -> tuple[str, Experience]:
        owner = self._access.owner(request) or request.query_params.get("owner") or _LOCAL
        return owner, experience_of(owner)


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
        return default if given is None else float(given)
    except ValueError:
        raise BadInput(f"The parameter {name} is no number.") from None
