"""Documents: searches the connected collection for the pages that bear on the chosen query."""

from time import perf_counter

from langgraph.runtime import Runtime
from tools.documents.collection import open_collection

from memory import Context, Page, WorkingMemory
from nodes.turns import chosen_action, repetition, turn_taken
from planweave import PlanweaveError
from planweave.usage import Usage


def documents(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Find pages for ``action.input``; the reader makes facts of them.

    A search that was already made, fails, or finds nothing is a problem, and there are no pages.
    """
    started = perf_counter()
    problem = repetition(state)
    pages: list[Page] = []
    if not problem:
        try:
            pages = _search(chosen_action(state)["input"], runtime.context)
        except PlanweaveError as error:
            problem = str(error)
        else:
            problem = "" if pages else "The documents hold nothing like that."
    seconds = perf_counter() - started
    if problem:
        return turn_taken(state, [], problem, seconds) | {"pages": []}
    return {"pages": pages, "usage": {"documents": Usage(seconds=seconds).model_dump()}}


def _search(query: str, context: Context) -> list[Page]:
    found = open_collection(context.collection or "").search(
        query, k=context.pages, mode=context.search, reranker=context.reranker
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
