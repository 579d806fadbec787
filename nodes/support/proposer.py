"""Proposer: a model's own ideas of what decides, to begin learning with."""

from collections.abc import Sequence

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field

from planweave import BadInput
from planweave.learning.queries.formulas import Formula
from planweave.models import achat_model, ask
from planweave.prompts import load
from planweave.simulators.scenario import Question

COUNT = 8


class Proposals(BaseModel):
    """The proposer's reply."""

    formulas: list[str] = Field(max_length=2 * COUNT)


async def proposer(model: str, question: Question, names: Sequence[str]) -> list[Formula]:
    """Ask a model for formulas over ``names``; what is none, or names something else, is left out.

    Raises:
        ModelUnavailable: The model cannot be reached; a malformed reply proposes nothing.
    """
    text = load("learning/proposer").fill(
        rules=question.rules.strip(),
        question=question.prompt,
        names="\n".join(f"- {name}" for name in names),
        count=str(COUNT),
    )
    chat = await achat_model(model, temperature=0.0, max_tokens=600, seed=0)
    reply = await ask(chat, [HumanMessage(text)], Proposals, role="proposer")
    proposed = reply.value.formulas if reply.value else []
    read = [formula for formula in map(_read, proposed) if formula]
    return [formula for formula in dict.fromkeys(read) if formula.names <= set(names)]


def _read(text: str) -> Formula | None:
    try:
        return Formula.read(text.strip().rstrip(".;"))
    except BadInput:
        return None
