"""Documents: searches the web or the connected collection for pages about the query."""

from collections.abc import Collection, Sequence
from random import Random
from time import perf_counter

from langgraph.runtime import Runtime

from planweave import PlanweaveError
from planweave.memory import Context, Page, WorkingMemory
from planweave.nodes.assist.replies import clean_search
from planweave.nodes.support.progress import report
from planweave.nodes.support.turns import (
    as_seen_by,
    chosen_action,
    count_earlier_turns,
    repetition,
    turn_taken,
)
from planweave.tools.documents.collection import open_collection
from planweave.tools.web.search import search_web
from planweave.usage import Usage


def documents(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Find pages for ``action.input``; the reader turns them into facts.

    A repeated search continues with the next pages. A search that fails or finds nothing more is a
    problem and gives no pages.
    """
    report(runtime, "searching the documents")
    return _search(state, runtime.context, continues=True)


def unseen_documents(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """As :func:`documents`, but skip the pages of known facts."""
    report(runtime, "searching the documents")
    quotes = [fact["quote"] for fact in state["facts"] if fact["quote"]]
    seen = [(quote["document"], quote["page"]) for quote in quotes]
    found = _search(state, runtime.context, skipped=seen)
    if found["pages"]:
        found["pages"] = [*found["pages"], *_draw_irrelevant(found["pages"], seen, runtime.context)]
    return found


def _draw_irrelevant(
    found: Sequence[Page], seen: Sequence[tuple[str, int]], context: Context
) -> list[Page]:
    """Random other pages of the collection, the same for the same search."""
    if not (context.irrelevant_pages and context.collection):
        return []
    known = {*seen, *((page["document"], page["page"]) for page in found)}
    others = [p for p in open_collection(context.collection).all_pages() if p[:2] not in known]
    random = Random(f"{context.seed} {sorted(known)}")  # noqa: S311 - no secret
    drawn = random.sample(others, min(len(others), context.irrelevant_pages))
    return [
        Page(document=document, page=page, text=text, nearest=text, score=0.0)
        for document, page, text in drawn
    ]


def _search(
    state: WorkingMemory,
    context: Context,
    *,
    skipped: Collection[tuple[str, int]] = (),
    continues: bool = False,
) -> WorkingMemory:
    started = perf_counter()
    action = chosen_action(state)
    pages: list[Page] = []
    problem = ""
    try:
        if continues:
            asked = state.get("task") or state["question"]
            action = {**action, "input": clean_search(action["input"], asked, context)}
        state = {**state, "action": action}
        start = count_earlier_turns(state) * context.pages if continues else 0
        found_all = find_pages(action["input"], context, context.pages + start + len(skipped))
    except PlanweaveError as error:
        problem = str(as_seen_by(context.owner, error))
    else:
        new = [page for page in found_all if (page["document"], page["page"]) not in skipped]
        pages = new[start : start + context.pages]
    if not pages:
        problem = problem or repetition(state) or "The documents hold nothing like that."
    seconds = perf_counter() - started
    found: WorkingMemory = {"action": action, "pages": pages}
    if problem:
        return found | turn_taken(state, [], problem, seconds) | {"pages": []}
    found["usage"] = {"documents": Usage(seconds=seconds).model_dump()}
    return found


def find_pages(query: str, context: Context, count: int) -> list[Page]:
    """The best pages for a query, from the web if the context names a search tool."""
    if context.web_search:
        found = search_web(context.web_search, query, k=count)
    else:
        found = open_collection(context.collection or "").search(
            query, k=count, mode=context.search
        )
    return [
        Page(
            document=page.document,
            page=page.page,
            text=page.text,
            nearest=page.chunk,
            score=page.score,
        )
        for page in found
    ]
