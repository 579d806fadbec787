"""Glossary: learns abbreviations from the pages; it never invents one."""

from langgraph.runtime import Runtime

from planweave.memory import Context, WorkingMemory
from planweave.memory.long_term import Term, propose
from planweave.tools.documents.abbreviations import abbreviations


async def glossary(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Learn each abbreviation that a page spells out, and propose it to long-term memory.

    This run uses it at once; later threads use it after the owner has confirmed it.
    """
    known = dict(state["abbreviations"])
    for page in state["pages"]:
        for short, long in abbreviations(page["text"]).items():
            if short in known:
                continue
            known[short] = long
            if runtime.store is not None:
                term = Term(
                    expansion=long, document=page["document"], page=page["page"], confirmed=False
                )
                await propose(runtime.store, runtime.context.owner, short, term)
    return {"abbreviations": known}
