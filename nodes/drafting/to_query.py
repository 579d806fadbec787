"""To-query: writes the query that checks a step of the draft."""

from collections.abc import Iterable

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, Lookup, WorkingMemory
from planweave.nodes.support.lengths import SEARCH
from planweave.nodes.support.role import ask_writer, spent
from planweave.nodes.support.thoughts import checked_steps, earlier_steps, steps_text
from planweave.prompts import load

_DRAFT_IS_QUERY = ("code", "maths")
"""Families whose draft is the query: similar examples look like it."""


class Query(BaseModel):
    """The reply: what would settle the step."""

    query: str = Field(max_length=SEARCH)


async def to_query(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write the query for ``state["step"]``; after an unreadable reply it is the step itself.

    For programs and word problems the query is the draft so far, T*(1..i-1) and T(i) (section 3),
    or only the step, by ``query_from``.
    """
    context = runtime.context
    text = _steps_text(state, checked_steps(state))
    if context.family in _DRAFT_IS_QUERY or context.revision == "cot_rag":
        earlier = [*earlier_steps(state)] if context.query_from == "draft" else []
        return {"lookups": [_lookup(state, _steps_text(state, [*earlier, *checked_steps(state)]))]}
    task = load("rat/to_query").fill(
        earlier=steps_text(state, earlier_steps(state)),
        step=steps_text(state, checked_steps(state)),
    )
    reply = await ask_writer("to_query", Query, task, state, runtime)
    query = reply.value.query.strip() if reply.value else ""
    return {"lookups": [_lookup(state, query or text)], **spent(reply)}


def _steps_text(state: WorkingMemory, numbers: Iterable[int]) -> str:
    return "\n".join(state["revised"][number - 1] for number in numbers)


def _lookup(state: WorkingMemory, query: str) -> Lookup:
    return Lookup(step=state["step"], query=query, page=None, problem="")
