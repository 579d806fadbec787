"""How the roles that write (RAT and its baselines) speak to their model: the task, no analyst's."""

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from planweave.memory import Context, WorkingMemory
from planweave.models import Reply
from planweave.nodes.support.role import Output, ask_with
from planweave.prompts import load


async def ask_writer(
    role: str, output: type[Output], task: str, state: WorkingMemory, runtime: Runtime[Context]
) -> Reply[Output]:
    """Ask the model that plays ``role`` for an ``output``; it sees the question and ``task``."""
    rules = runtime.context.rules.strip() or "(none given)"
    ground = load("rat/ground").fill(question=state["question"], rules=rules)
    return await ask_with(role, output, [SystemMessage(ground), HumanMessage(task)], runtime)
