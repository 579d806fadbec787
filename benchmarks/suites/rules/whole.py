"""The baseline without a method: all rules and the problem in one prompt, one call."""

import asyncio

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from planweave import prompts
from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.rules.load import RuleBook
from planweave.memory import Answer, WorkingMemory
from planweave.models import achat_model, ask

WHOLE = "whole"
"""Name of the baseline among the methods."""

_FEWEST_TOKENS = 2_000  # what a reply may need that works the problem out


class Worked(BaseModel):
    """The reply; the working comes before what follows from it."""

    working: str = Field(max_length=20_000)
    answer: str = Field(max_length=200)


async def play_whole(rules: RuleBook, sample: Sample, on_call: OnCall) -> WorkingMemory:
    """Ask once with the whole rules; a reply that cannot be read is asked for once more."""
    context = sample.context
    model = await achat_model(
        context.model,
        temperature=context.temperature,
        max_tokens=max(context.reply_tokens, _FEWEST_TOKENS),
        seed=context.seed,
    )
    text = await asyncio.to_thread(lambda: rules.text)
    messages = [
        SystemMessage(prompts.load("rules/whole").fill(rules=text)),
        HumanMessage(prompts.load("rules/whole_question").fill(question=sample.asked)),
    ]
    reply = await ask(model, messages, Worked, role=WHOLE)
    for record in reply.calls:
        on_call(record)
    if reply.value is None:
        reason = reply.failure.message if reply.failure else "it was empty"
        unread = f"The reply could not be read: {reason}"
        return {"answer": Answer(decision=None, why="", facts=[], unknown=unread)}
    worked = reply.value
    return {
        "answer": Answer(
            decision=worked.answer.strip() or None, why=worked.working, facts=[], unknown=""
        )
    }
