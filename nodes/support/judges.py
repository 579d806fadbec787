"""Judges: models that compare answers or texts instead of people.

No method uses them. They judge at temperature 0.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from planweave.memory import Context
from planweave.models import CallRecord, StructuredReply, achat_model, ask
from planweave.prompts import load

ANSWER_JUDGE = "answer_judge"
PAIR_JUDGE = "pair_judge"
"""The roles, in the context's ``models`` and in the records of calls."""

Judgement = TypeVar("Judgement", bound=BaseModel)
OnCall = Callable[[CallRecord], None]


class Opinion(BaseModel):
    """The judge's reply; the reason comes first."""

    reason: str = Field(max_length=300)
    verdict: Literal["Correct", "Incorrect", "Unsure"]


class Preference(BaseModel):
    """The judge's reply; the reason comes first."""

    reason: str = Field(max_length=300)
    better: Literal["1", "2", "tie", "both bad"]


class JudgedAnswer(NamedTuple):
    """The judge's opinion of an answer; ``verdict`` is None if its reply could not be read."""

    verdict: Literal["Correct", "Incorrect", "Unsure"] | None
    reason: str

    @property
    def correct(self) -> bool:
        """Whether the answer counts as right; the judge must be sure."""
        return self.verdict == "Correct"


async def judge_answer(
    question: str, reference: str, answer: str, context: Context, on_call: OnCall
) -> JudgedAnswer:
    """Compare an answer with the right one."""
    ground = load("agents_bench/ground").fill(question=question, reference=reference)
    task = load("agents_bench/judge").fill(answer=answer)
    reply = await _ask_judge(ANSWER_JUDGE, ground, task, Opinion, context, on_call)
    if reply.value is None:
        return JudgedAnswer(None, reply.failure.message if reply.failure else "")
    return JudgedAnswer(reply.value.verdict, reply.value.reason.strip())


async def prefer(
    task: str, first: str, second: str, context: Context, on_call: OnCall
) -> Preference | None:
    """Compare two texts on a task; None if the reply could not be read.

    A judge may prefer a text for its position, so ask in both orders.
    """
    ground = load("arena/ground").fill(task=task)
    question = load("arena/judge").fill(first=first, second=second)
    return (await _ask_judge(PAIR_JUDGE, ground, question, Preference, context, on_call)).value


async def _ask_judge(
    role: str,
    ground: str,
    task: str,
    form: type[Judgement],
    context: Context,
    on_call: OnCall,
) -> StructuredReply[Judgement]:
    model = await achat_model(
        context.model_for(role), temperature=0.0, max_tokens=context.reply_tokens, seed=context.seed
    )
    reply = await ask(model, [SystemMessage(ground), HumanMessage(task)], form, role=role)
    for call in reply.calls:
        on_call(call)
    return reply
