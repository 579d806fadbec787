"""Evidence: turns the pages found into facts as they are, without a reader."""

from langgraph.runtime import Runtime

from planweave.memory import Context, Quote, WorkingMemory
from planweave.nodes.support.pages import excerpt
from planweave.nodes.support.turns import Observation, turn_taken


def evidence(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Add the text of each page as a fact."""
    if not state["pages"]:
        return {}
    found = [
        Observation(
            page["text"] if state.get("whole") else excerpt(page, runtime.context.page_characters),
            quote=Quote(
                document=page["document"], page=page["page"], text=page["nearest"] or page["text"]
            ),
        )
        for page in state["pages"]
    ]
    return turn_taken(state, found, "", 0.0)
