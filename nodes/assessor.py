"""Assessor: which of the proposed queries would find the next piece of evidence."""

import random

from langgraph.runtime import Runtime

from learning import Candidate, Hit, plan_assessor
from memory import Action, Context, WorkingMemory
from nodes.documents import find_pages
from planweave import PlanweaveError

_NEW = 5
"""New pages that are looked at for each candidate; searching them costs no model call."""


def assessor(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Choose the query to carry out: by the trained plan assessor, the first, or a random one."""
    context, queries = runtime.context, state["candidate_queries"]
    scores: list[float] = []
    if context.assessor == "trained":
        quotes = [(fact["quote"], fact["text"]) for fact in state["facts"]]
        evidence = [f"{quote['document']}: {text}" if quote else text for quote, text in quotes]
        count = _NEW + len(evidence)
        candidates = [Candidate(query, _hits(query, context, count)) for query in queries]
        scores = plan_assessor().scores(state["question"], evidence, candidates)
        best = max(range(len(queries)), key=scores.__getitem__)
    elif context.assessor == "random":
        seed = f"{context.seed} {state['question']} {state['iteration']}"
        best = random.Random(seed).randrange(len(queries))  # noqa: S311 (a baseline, no secret)
    else:
        best = 0
    action = Action(
        step=state["step"], thought=state["reasoning"], tool="documents", input=queries[best]
    )
    return {"action": action, "query_scores": scores}


def _hits(query: str, context: Context, count: int) -> list[Hit]:
    """What the query finds; nothing where it cannot be searched for."""
    try:
        found = find_pages(query, context.model_copy(update={"reranker": None}), count)
    except PlanweaveError:
        return []
    return [Hit(title=page["document"], text=page["text"]) for page in found]
