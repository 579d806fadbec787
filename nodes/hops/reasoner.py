"""Furthest reasoner: thinks from question and evidence only, then answers or proposes queries."""

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Answer, Context, Fact, WorkingMemory
from planweave.nodes.shared.citation_check import CITATION
from planweave.nodes.support.briefing import fact_text
from planweave.nodes.support.lengths import REASONING, SEARCH, SHORT
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.role import ask_role, spent
from planweave.prompts import load


class Reasoning(BaseModel):
    """The reasoner's reply: a chain of thought, then the answer or what to search for."""

    reasoning: str = Field(max_length=REASONING)
    answer: str | None = Field(max_length=SHORT)
    queries: list[Annotated[str, Field(max_length=SEARCH)]] = Field(max_length=20)


async def reasoner(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Think, then answer or propose queries; at a limit make no model call.

    With ``context.masking`` the prompt hides earlier reasoning and queries, except the latest
    rounds (``context.unmasked``), so that an early mistake cannot mislead the model. The
    temperature starts at ``context.first_temperature`` and rises by ``context.temperature_step``
    each time the queries repeat.
    """
    context = runtime.context
    if reason_to_answer(state, context):
        return {"candidate_queries": []}
    task = load("furepa/reasoner").fill(
        evidence="\n\n".join(fact_text(fact) for fact in state["facts"]) or "(none yet)",
        count=str(context.proposals),
    )
    visible = context.unmasked if context.masking else len(state["turns"])
    reply = await ask_role(
        "reasoner",
        Reasoning,
        task,
        {**state, "turns": state["turns"][max(0, len(state["turns"]) - visible) :]},
        runtime,
        extra_temperature=context.first_temperature + context.temperature_step * state["raises"],
        briefed=bool(visible) or not context.masking,
    )
    update = spent(reply)
    thought = reply.value or Reasoning(reasoning="", answer=None, queries=[])
    queries = [query.strip() for query in thought.queries if query.strip()]
    return update | {
        "reasoning": thought.reasoning.strip(),
        "candidate_queries": queries[: context.proposals],
        "answer": _build_answer(thought, state["facts"]),
    }


def _build_answer(thought: Reasoning, facts: list[Fact]) -> Answer | None:
    """The reasoner's answer; None without evidence."""
    short = (thought.answer or "").strip()
    if not facts or short.lower().rstrip(".") in ("", "null", "none", "unknown", "n/a"):
        return None
    known = {fact["number"] for fact in facts}
    cited = [int(number) for number in CITATION.findall(thought.reasoning)]
    numbers = [number for number in dict.fromkeys(cited) if number in known]
    return Answer(decision=short, why=thought.reasoning.strip(), facts=numbers, unknown="")
