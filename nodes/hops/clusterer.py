"""Clusterer: keeps one of several queries with the same meaning, and none that was run before."""

from collections.abc import Sequence

import numpy as np
from langgraph.runtime import Runtime
from numpy.typing import NDArray

from planweave.memory import Action, Context, WorkingMemory
from planweave.models.embeddings import embeddings
from planweave.nodes.support.turns import turn_taken


def clusterer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Keep the new queries; without any, raise the temperature and reason again.

    If the reasoner proposes nothing, as small models do, the question itself is the query.
    """
    proposed = state["candidate_queries"] or [state["question"]]
    done = [turn["input"] for turn in state["turns"] if turn["tool"] == "documents"]
    if kept := _select_new(proposed, done, runtime.context.same_query):
        return {"candidate_queries": kept}
    action = Action(step=state["step"], thought=state["reasoning"], tool="documents", input="")
    problem = "Every query that was proposed is one that was already carried out."
    turn = turn_taken({**state, "action": action}, [], problem, 0.0)
    raised = state["raises"] + runtime.context.temperature_raise
    return turn | {"candidate_queries": [], "pages": [], "raises": raised}


def _select_new(proposed: Sequence[str], done: Sequence[str], threshold: float) -> list[str]:
    """Select the first query of each cluster that contains none of ``done``."""
    vectors = np.array(embeddings().embed_documents([*done, *proposed]), np.float32)
    taken: list[NDArray[np.float32]] = list(vectors[: len(done)])
    kept = []
    for query, vector in zip(proposed, vectors[len(done) :], strict=True):
        if all(float(vector @ other) < threshold for other in taken):
            taken.append(vector)
            kept.append(query)
    return kept
