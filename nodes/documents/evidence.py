"""Evidence: turns the pages found into facts unchanged, without a reader."""

from langgraph.runtime import Runtime

from planweave.memory import Context, Found, Quote, WorkingMemory
from planweave.nodes.support.pages import excerpt
from planweave.nodes.support.turns import turn_taken


def evidence(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Add the text of each page as a fact."""
    if not state["pages"]:
        return {}
    whole, characters = state.get("whole"), runtime.context.page_characters
    found = []
    for page in state["pages"]:
        text = page["text"] if whole else excerpt(page, characters)
        words = page["nearest"] or page["text"]
        quote = Quote(document=page["document"], page=page["page"], text=words)
        found.append(Found(text=text, values={}, quote=quote))
    return turn_taken(state, found, "", 0.0)
