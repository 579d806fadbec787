"""How the roles that write (RAT and its baselines) speak to their model: the task, no analyst's."""

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from memory import Context, WorkingMemory
from models import Reply, achat_model, ask
from nodes.role import Output
from prompts import load


async def ask_writer(
    role: str, output: type[Output], task: str, state: WorkingMemory, runtime: Runtime[Context]
) -> Reply[Output]:
    """Ask the model that plays ``role`` for an ``output``; it sees the question and ``task``.

    Raises:
        ModelUnavailable: The model cannot be reached; a malformed reply never raises.
    """
    context = runtime.context
    model = await achat_model(
        context.model_for(role),
        temperature=context.temperature,
        max_tokens=context.max_reply_tokens,
        seed=context.seed,
    )
    rules = context.rules.strip() or "(none given)"
    ground = load("rat/ground").fill(question=state["question"], rules=rules)
    reply = await ask(model, [SystemMessage(ground), HumanMessage(task)], output, role=role)
    for call in reply.calls:
        runtime.stream_writer({"call": call.model_dump(mode="json")})
    return reply
