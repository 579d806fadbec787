"""Assessor: which of the proposed queries would find the next piece of evidence."""

import random

from langgraph.runtime import Runtime

from planweave import PlanweaveError
from planweave.learning import CandidateQuery, RetrievedPage, plan_assessor
from planweave.memory import Action, Context, Fact, WorkingMemory
from planweave.nodes.documents.documents import find_pages

_NEW = 5
"""New pages that are looked at for each candidate; searching them costs no model call."""


def assessor(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Choose the query to carry out: by the trained plan assessor, the first, or a random one."""
    context, queries = runtime.context, state["candidate_queries"]
    scores: list[float] = []
    if context.assessor == "trained":
        evidence = [_titled(fact) for fact in state["facts"]]
        count = _NEW + len(evidence)
        candidates = [CandidateQuery(query, _hits(query, context, count)) for query in queries]
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


def _hits(query: str, context: Context, count: int) -> list[RetrievedPage]:
    """What the query finds; nothing where it cannot be searched for."""
    try:
        found = find_pages(query, context, count)
    except PlanweaveError:
        return []
    return [_hit(page["document"], page["text"]) for page in found]


def _titled(fact: Fact) -> str:
    """A passage as the assessor was trained on it: the title once, then the text."""
    if not fact["quote"]:
        return fact["text"]
    hit = _hit(fact["quote"]["document"], fact["text"])
    return f"{hit.title}: {hit.text}"


def _hit(document: str, text: str) -> RetrievedPage:
    """A page, without its title at the head of the text."""
    return RetrievedPage(title=document, text=text.removeprefix(f"{document}: "))
