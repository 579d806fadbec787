"""Answer judge: says whether an answer is right, by a reference; no part of any method."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from planweave.memory import Context
from planweave.models import CallRecord, achat_model, ask
from planweave.prompts import load

JUDGE = "answer_judge"
"""The role, in the context's ``models`` and in the records of calls."""


class Opinion(BaseModel):
    """The judge's reply; the reason comes first."""

    reason: str = Field(max_length=300)
    verdict: Literal["Correct", "Incorrect", "Unsure"]


class Judged(NamedTuple):
    """What the judge thinks of an answer; ``verdict`` is None if its reply could not be read."""

    verdict: Literal["Correct", "Incorrect", "Unsure"] | None
    reason: str

    @property
    def correct(self) -> bool:
        """Whether the answer counts as right: only where the judge is sure of it."""
        return self.verdict == "Correct"


async def judge_answer(
    question: str,
    reference: str,
    answer: str,
    context: Context,
    on_call: Callable[[CallRecord], None],
) -> Judged:
    """Have an answer judged, at temperature 0.

    Args:
        question: What was asked.
        reference: The right answer.
        answer: The answer to judge.
        context: Names the judge's model.
        on_call: Called with each call of a model.

    Raises:
        ModelUnavailable: The model cannot be reached; a malformed reply never raises.
    """
    model = await achat_model(
        context.model_for(JUDGE),
        temperature=0.0,
        max_tokens=context.reply_tokens,
        seed=context.seed,
    )
    ground = SystemMessage(load("agents_bench/ground").fill(question=question, reference=reference))
    task = HumanMessage(load("agents_bench/judge").fill(answer=answer))
    reply = await ask(model, [ground, task], Opinion, role=JUDGE)
    for call in reply.calls:
        on_call(call)
    if reply.value is None:
        return Judged(None, reply.failure.message if reply.failure else "")
    return Judged(reply.value.verdict, reply.value.reason.strip())
