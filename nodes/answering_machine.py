"""Answering machine: decides from the facts, cites them, and says what stayed unknown."""

import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from memory import Answer, Context, Failure, WorkingMemory
from models import Reply
from nodes.limits import reason_to_answer
from nodes.role import ask_role, failures, usage
from prompts import load
from tools import nearest

_ROLE = "answering_machine"
_SHOWN_CANDIDATES = 10
_NEGATIONS = frozenset({"not", "no", "never", "except", "avoid", "without"})
_NOTHING = ("", "null", "none", "nothing", "n/a")


class Decision(BaseModel):
    """The answering machine's reply; the reasons come before the decision."""

    why: str = Field(max_length=600)
    facts: list[int]
    decision: str | None = Field(max_length=100)
    unknown: str = Field(max_length=300)


async def answering_machine(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Answer now, with what is known; a decision that is not admitted is asked for once more."""
    reason = reason_to_answer(state, runtime.context)
    if not state["facts"]:
        return _spoken(_without_facts(state, reason))
    candidates = runtime.context.candidates
    task = load("common/answering_machine").fill(occasion=reason)
    replies = [await ask_role(_ROLE, Decision, task, state, runtime)]
    if complaint := _complaint(replies[0].value, candidates):
        replies.append(await ask_role(_ROLE, Decision, task, state, runtime, followup=complaint))
    answer = _answer(replies[-1], state, candidates)
    return _spoken(answer) | {
        "usage": usage(*replies),
        "failures": failures(*replies) + _refused(replies[-1].value, answer),
    }


def admitted(decision: str | None, candidates: Sequence[str]) -> str | None:
    """The candidate that ``decision`` means, whatever its case and the words around it.

    Without candidates every decision is admitted; a sentence that names several is none.
    """
    plain = (decision or "").strip().strip("\"'`.").strip()
    if not candidates:
        return plain or None
    by_fold = {candidate.casefold(): candidate for candidate in candidates}
    if plain.casefold() in by_fold:
        return by_fold[plain.casefold()]
    words = re.findall(r"[\w-]+", plain.casefold())
    named = {by_fold[word] for word in words if word in by_fold}
    return named.pop() if len(named) == 1 and _NEGATIONS.isdisjoint(words) else None


def _complaint(value: Decision | None, candidates: Sequence[str]) -> list[BaseMessage]:
    if value is None or not value.decision or admitted(value.decision, candidates):
        return []
    text = load("common/not_admitted").fill(
        decision=value.decision,
        examples=", ".join(_choices(value.decision, candidates)),
    )
    return [AIMessage(value.model_dump_json()), HumanMessage(text)]


def _choices(decision: str, candidates: Sequence[str]) -> Sequence[str]:
    """All candidates where they are few, else the nearest, else some."""
    if len(candidates) <= _SHOWN_CANDIDATES:
        return candidates
    return nearest(decision, candidates, n=_SHOWN_CANDIDATES) or candidates[:_SHOWN_CANDIDATES]


def _answer(reply: Reply[Decision], state: WorkingMemory, candidates: Sequence[str]) -> Answer:
    value = reply.value
    if value is None:
        reason = reply.failure.message if reply.failure else "it was empty"
        return Answer(decision=None, why="", facts=[], unknown=f"No readable answer: {reason}")
    known = {fact["number"] for fact in state["facts"]}
    return Answer(
        decision=admitted(value.decision, candidates),
        why=value.why.strip(),
        facts=[number for number in dict.fromkeys(value.facts) if number in known],
        unknown="" if value.unknown.strip().lower() in _NOTHING else value.unknown.strip(),
    )


def _without_facts(state: WorkingMemory, reason: str) -> Answer:
    """No model is asked to decide from nothing: say why nothing was found."""
    action = state["action"]
    why = action["input"] if action and action["tool"] == "finish" else ""
    problems = [turn["problem"] for turn in state["turns"] if turn["problem"]]
    unknown = problems[-1] if problems else "No tool has returned anything."
    return Answer(decision=None, why=why, facts=[], unknown=f"{unknown} {reason}".strip())


def _refused(value: Decision | None, answer: Answer) -> list[Failure]:
    if value is None or not value.decision or answer["decision"]:
        return []
    return [Failure(role=_ROLE, kind="not_admitted", detail=value.decision)]


def _spoken(answer: Answer) -> WorkingMemory:
    citations = "".join(f"[{number}]" for number in answer["facts"])
    parts = [
        f"**{answer['decision']}**" if answer["decision"] else "I cannot decide this.",
        f"{answer['why']} {citations}".strip(),
        f"Not known: {answer['unknown']}" if answer["unknown"] else "",
    ]
    text = "\n\n".join(part for part in parts if part)
    return {"answer": answer, "messages": [AIMessage(text)]}
