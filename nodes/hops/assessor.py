"""Assessor: chooses the proposed query that would find the next piece of evidence."""

import random

from langgraph.runtime import Runtime

from planweave import PlanweaveError
from planweave.learning import CandidateQuery, RetrievedPage, plan_assessor
from planweave.memory import Action, Context, Fact, WorkingMemory
from planweave.nodes.documents.documents import find_pages

_NEW_PAGES = 5
"""New pages that are searched for each candidate; a search needs no model call."""


def assessor(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Choose the query to carry out: by the trained plan assessor, the first, or a random one."""
    context, queries = runtime.context, state["candidate_queries"]
    scores: list[float] = []
    if context.assessor == "trained":
        evidence = [_with_title(fact) for fact in state["facts"]]
        count = _NEW_PAGES + len(evidence)
        candidates = [CandidateQuery(query, _find_hits(query, context, count)) for query in queries]
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


def _find_hits(query: str, context: Context, count: int) -> list[RetrievedPage]:
    """The pages that the query finds; none if the search fails."""
    try:
        found = find_pages(query, context, count)
    except PlanweaveError:
        return []
    return [_without_title(page["document"], page["text"]) for page in found]


def _with_title(fact: Fact) -> str:
    """A passage in the format that the assessor was trained on: the title once, then the text."""
    if not fact["quote"]:
        return fact["text"]
    hit = _without_title(fact["quote"]["document"], fact["text"])
    return f"{hit.title}: {hit.text}"


def _without_title(document: str, text: str) -> RetrievedPage:
    """A page whose text does not begin with the title."""
    return RetrievedPage(title=document, text=text.removeprefix(f"{document}: "))
