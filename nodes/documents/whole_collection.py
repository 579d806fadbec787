"""Whole collection: takes every page of a collection that fits into one prompt."""

from time import perf_counter

from langgraph.runtime import Runtime

from planweave import BadInput
from planweave.memory import Action, Context, Page, WorkingMemory
from planweave.nodes.assist.asking import searches_first
from planweave.nodes.documents.glossary import glossary
from planweave.tools.documents.collection import open_collection
from planweave.usage import Usage


def whole_collection(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Take all pages; the whole reader turns them into facts."""
    started = perf_counter()
    name = runtime.context.collection
    if not name:
        raise BadInput("No document collection is connected.", fix="Give `collection`.")
    _check_fits(name, runtime.context)
    pages = [
        Page(document=document, page=number, text=text, nearest="", score=0.0)
        for document, number, text in open_collection(name).all_pages()
    ]
    return {
        "whole": True,
        "pages": pages,
        # Step 0, since it completes no step of a plan.
        "action": Action(step=0, thought="", tool="documents", input=state["question"]),
        "usage": {"documents": Usage(seconds=perf_counter() - started).model_dump()},
    }


async def whole_glossary(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Learn abbreviations from the pages, then drop the pages."""
    return await glossary(state, runtime) | {"pages": []}


def is_read_whole(context: Context) -> bool:
    """Whether the collection is read whole before the method begins."""
    if not context.collection or context.web_search or context.environment:
        return False
    if context.whole_collection != "auto":
        return context.whole_collection == "on"
    if searches_first(context):
        return False
    return open_collection(context.collection).characters() <= context.whole_characters


def _check_fits(name: str, context: Context) -> None:
    characters = open_collection(name).characters()
    if characters > context.whole_characters:
        raise BadInput(
            f"The collection {name!r} has {characters:,} characters; at most "
            f"{context.whole_characters:,} are read whole.",
            fix="Raise `whole_characters`, or choose a method that searches, with "
            "`whole_collection` off.",
        )
