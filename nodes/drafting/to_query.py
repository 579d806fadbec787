"""To-query: what is looked up to check a step of the draft."""

from collections.abc import Iterable

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, Lookup, WorkingMemory
from planweave.nodes.support.lengths import SEARCH
from planweave.nodes.support.role import ask_writer, spent
from planweave.nodes.support.thoughts import checked, numbered, seen_with
from planweave.prompts import load

_AS_IT_STANDS = ("code", "maths")
"""Families whose drafts are queries themselves: examples are found by what they look like."""


class Query(BaseModel):
    """The reply: what would settle the step."""

    query: str = Field(max_length=SEARCH)


async def to_query(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write the query for ``state["step"]``; an unreadable reply leaves the step's own words.

    For programs and word problems it is the draft so far, T*(1..i-1) and T(i) (section 3), unless
    ``query_from`` says the step alone.
    """
    context = runtime.context
    text = _steps(state, checked(state))
    if context.family in _AS_IT_STANDS or context.revision == "cot_rag":
        earlier = [*seen_with(state)] if context.query_from == "draft" else []
        return {"lookups": [_lookup(state, _steps(state, [*earlier, *checked(state)]))]}
    task = load("rat/to_query").fill(
        earlier=numbered(state, seen_with(state)), step=numbered(state, checked(state))
    )
    reply = await ask_writer("to_query", Query, task, state, runtime)
    query = reply.value.query.strip() if reply.value else ""
    return {"lookups": [_lookup(state, query or text)], **spent(reply)}


def _steps(state: WorkingMemory, numbers: Iterable[int]) -> str:
    return "\n".join(state["revised"][number - 1] for number in numbers)


def _lookup(state: WorkingMemory, query: str) -> Lookup:
    return Lookup(step=state["step"], query=query, page=None, problem="")
