"""Pair judge: says which of two texts is better, in a person's stead; no part of any method."""

from collections.abc import Callable
from typing import Literal

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from planweave.memory import Context
from planweave.models import CallRecord, achat_model, ask
from planweave.prompts import load

JUDGE = "pair_judge"
"""The role, in the context's ``models`` and in the records of calls."""


class Preference(BaseModel):
    """The judge's reply; the reason comes first."""

    reason: str = Field(max_length=300)
    better: Literal["1", "2", "tie", "both bad"]


async def prefer(
    task: str,
    first: str,
    second: str,
    context: Context,
    on_call: Callable[[CallRecord], None],
) -> Preference | None:
    """Have two texts compared, at temperature 0; a judge may well prefer one for its place.

    Args:
        task: What both were written for.
        first: The text that is shown first.
        second: The other.
        context: Names the judge's model.
        on_call: Called with each call of a model.

    Returns:
        None if the reply could not be read.

    Raises:
        ModelUnavailable: The model cannot be reached; a malformed reply never raises.
    """
    model = await achat_model(
        context.model_for(JUDGE),
        temperature=0.0,
        max_tokens=context.reply_tokens,
        seed=context.seed,
    )
    ground = SystemMessage(load("arena/ground").fill(task=task))
    question = HumanMessage(load("arena/judge").fill(first=first, second=second))
    reply = await ask(model, [ground, question], Preference, role=JUDGE)
    for call in reply.calls:
        on_call(call)
    return reply.value
