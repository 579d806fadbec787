"""Grader: drops pages that do not bear on what was looked for (corrective retrieval)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel

from planweave.memory import Context, WorkingMemory
from planweave.nodes.support.pages import pages_text
from planweave.nodes.support.role import ask_role, failures, usage
from planweave.nodes.support.turns import chosen_action, turn_taken
from planweave.prompts import load


class Grades(BaseModel):
    """The grader's reply: the numbers of the pages to keep."""

    relevant: list[int]


async def grader(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Keep the pages that the model finds relevant; without ``context.corrective``, all of them.

    An unreadable reply keeps all pages too: the reader sees for itself.
    """
    if not runtime.context.corrective or not state["pages"]:
        return {}
    task = load("documents/grader").fill(
        query=chosen_action(state)["input"], pages=pages_text(state["pages"], runtime.context)
    )
    reply = await ask_role("grader", Grades, task, state, runtime)
    update: WorkingMemory = {"usage": usage(reply), "failures": failures(reply)}
    if reply.value is None:
        return update
    wanted = set(reply.value.relevant)
    kept = [page for number, page in enumerate(state["pages"], start=1) if number in wanted]
    if not kept:
        turn = turn_taken(state, [], "No page that was found bears on this.", 0.0)
        update = turn | update
    return update | {"pages": kept}
