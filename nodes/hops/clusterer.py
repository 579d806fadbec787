"""Clusterer: of queries that mean the same one is kept, and none that was carried out before."""

from collections.abc import Sequence

import numpy as np
from langgraph.runtime import Runtime
from numpy.typing import NDArray

from planweave.memory import Action, Context, WorkingMemory
from planweave.models.embeddings import embeddings
from planweave.nodes.support.turns import turn_taken


def clusterer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Keep the new queries; where there is none, raise the temperature and reason once more.

    A reasoner that proposes nothing, as small models do, searches for the question itself.
    """
    proposed = state["candidate_queries"] or [state["question"]]
    done = [turn["input"] for turn in state["turns"] if turn["tool"] == "documents"]
    if kept := _new(proposed, done, runtime.context.same_query):
        return {"candidate_queries": kept}
    action = Action(step=state["step"], thought=state["reasoning"], tool="documents", input="")
    problem = "Every query that was proposed is one that was already carried out."
    turn = turn_taken({**state, "action": action}, [], problem, 0.0)
    raised = state["raises"] + runtime.context.temperature_raise
    return turn | {"candidate_queries": [], "pages": [], "raises": raised}


def _new(proposed: Sequence[str], done: Sequence[str], same: float) -> list[str]:
    """The first query of each cluster that holds none of ``done``."""
    vectors = np.array(embeddings().embed_documents([*done, *proposed]), np.float32)
    taken: list[NDArray[np.float32]] = list(vectors[: len(done)])
    kept = []
    for query, vector in zip(proposed, vectors[len(done) :], strict=True):
        if all(float(vector @ other) < same for other in taken):
            taken.append(vector)
            kept.append(query)
    return kept
