"""Asks the model of a role: first the shared ground, then working memory, then the task."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from planweave.memory import Context, Failure, Tool, UsageByRole, WorkingMemory
from planweave.models import (
    CallRecord,
    Chance,
    Samples,
    StructuredReply,
    achat_model,
    ask,
    chance_of_yes,
    several_replies,
    usage_by_role,
)
from planweave.models.lengths import tokens_of
from planweave.nodes.assist.asking import max_reply_tokens
from planweave.nodes.support.briefing import briefing, ground
from planweave.nodes.support.combined import instructions_text
from planweave.nodes.support.limits import OUT_OF_TIME
from planweave.nodes.support.progress import find_step, report_call, spoken_field
from planweave.prompts import load

Output = TypeVar("Output", bound=BaseModel)


Node: TypeAlias = Callable[[WorkingMemory, Runtime[Context]], Awaitable[WorkingMemory]]
"""A node that asks a model: reads working memory, returns an update."""
PlainNode: TypeAlias = Callable[[WorkingMemory, Runtime[Context]], WorkingMemory]
"""A node that asks no model."""


async def ask_role(
    role: str,
    output: type[Output],
    task: str,
    state: WorkingMemory,
    runtime: Runtime[Context],
    *,
    tools: Sequence[Tool] = (),
    extra_temperature: float = 0.0,
    briefed: bool = True,
) -> StructuredReply[Output]:
    """Ask the model that plays ``role`` for an ``output``.

    The messages begin with what never changes in a run and end with what changes at every call
    (system ground, memory, task), so that a server can reuse its prompt cache. With ``tools`` the
    ground contains the instructions for a reply that may hold several things at once.
    ``extra_temperature`` is added to the temperature of the run. A role that is not ``briefed``
    sees only its task, not the work so far.
    """
    messages = build_messages(task, state, runtime.context, tools=tools, briefed=briefed)
    return await ask_with(role, output, messages, runtime, extra_temperature=extra_temperature)


def build_messages(
    task: str,
    state: WorkingMemory,
    context: Context,
    *,
    tools: Sequence[Tool] = (),
    briefed: bool = True,
) -> list[BaseMessage]:
    """The messages of :func:`ask_role`, which another question to the same role may follow."""
    instructions = [instructions_text(tools, state, context)] if tools else []
    return [
        SystemMessage("\n\n".join([ground(state, context), *instructions])),
        HumanMessage(f"{briefing(state, context)}\n\n{task}" if briefed else task),
    ]


async def ask_writer(
    role: str, output: type[Output], task: str, state: WorkingMemory, runtime: Runtime[Context]
) -> StructuredReply[Output]:
    """Ask the model that plays ``role`` for an ``output``; it sees the question and ``task``.

    It is for the roles that write (RAT and its baselines).
    """
    rules = runtime.context.rules.strip() or "(none given)"
    ground = load("rat/ground").fill(question=state["question"], rules=rules)
    return await ask_with(role, output, [SystemMessage(ground), HumanMessage(task)], runtime)


async def ask_with(
    role: str,
    output: type[Output],
    messages: Sequence[BaseMessage],
    runtime: Runtime[Context],
    *,
    extra_temperature: float = 0.0,
) -> StructuredReply[Output]:
    """Ask the model that plays ``role`` with only these messages; see :func:`ask_role`."""
    model = await _model_for(role, runtime.context, extra_temperature, tokens_of(output))
    with report_call(role, runtime, spoken_field(output)) as config:
        reply = await ask(model, messages, output, role=role, config=config)
    _report_calls(reply.calls, runtime)
    return reply


async def sample_role(
    role: str,
    messages: Sequence[BaseMessage],
    count: int,
    runtime: Runtime[Context],
    *,
    extra_temperature: float = 0.0,
) -> Samples:
    """Ask the model that plays ``role`` for several free texts with only these messages."""
    model = await _model_for(role, runtime.context, extra_temperature, 0)
    with report_call(role, runtime):
        found = await several_replies(model, messages, count, role=role)
    _report_calls(found.records, runtime)
    return found


async def chance_for_role(
    role: str,
    messages: Sequence[BaseMessage],
    runtime: Runtime[Context],
) -> Chance:
    """The probability that the model that plays ``role`` answers these messages with yes."""
    model = await _model_for(role, runtime.context, 0.0, 0)
    with report_call(role, runtime):
        found = await chance_of_yes(model, messages, role=role)
    _report_calls(found.records, runtime)
    return found


async def _model_for(
    role: str, context: Context, extra_temperature: float, needed: int
) -> BaseChatModel:
    return await achat_model(
        context.model_for(role),
        temperature=min(context.temperature + extra_temperature, 2.0),
        max_tokens=max_reply_tokens(needed, role, context),
        seed=0
        if extra_temperature and context.seed is None
        else context.seed,  # a run can be repeated
        fresh=context.fresh,
    )


def _report_calls(calls: Sequence[CallRecord], runtime: Runtime[Context]) -> None:
    for call in calls:
        record = call.model_copy(update=find_step())
        runtime.stream_writer({"call": record.model_dump(mode="json")})


def spent(*replies: StructuredReply[Output]) -> WorkingMemory:
    """What these replies add to working memory: their usage by role, and their failures."""
    calls = [call for reply in replies for call in reply.calls]
    return {"usage": usage_of_calls(calls), "failures": failures(*replies)}


def usage_of_calls(calls: Sequence[CallRecord]) -> UsageByRole:
    """The usage of these calls by role."""
    return {role: used.model_dump() for role, used in usage_by_role(calls).items()}


def failures(*replies: StructuredReply[Output]) -> list[Failure]:
    """The failures of replies that stayed malformed after repair and retry, or came too late."""
    return [
        Failure(
            role=reply.role,
            kind=OUT_OF_TIME if reply.failure.kind == OUT_OF_TIME else "malformed_reply",
            detail=reply.failure.message,
        )
        for reply in replies
        if reply.failure
    ]
