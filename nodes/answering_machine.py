"""Answering machine: decides or answers from the facts, cites them, and says what is unknown."""

import re
from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from memory import Answer, Context, Failure, WorkingMemory, add_usage
from models import Reply
from nodes.briefing import source_text
from nodes.citation_check import CITATION, in_words
from nodes.limits import reason_to_answer
from nodes.path_follower import Finish, finish
from nodes.role import Node, ask_role, failures, usage
from prompts import load
from tools import nearest

_ROLE = "answering_machine"
_SHOWN_CANDIDATES = 10
_NEGATIONS = frozenset({"not", "no", "never", "except", "avoid", "without"})
_NOTHING = ("", "null", "none", "nothing", "n/a", "unknown", "not known", "not given")


class Decision(BaseModel):
    """The answering machine's reply to a decision question; the reasons come before it."""

    why: str = Field(max_length=600)
    facts: list[int]
    decision: str | None = Field(max_length=100)
    unknown: str = Field(max_length=300)


class CitedAnswer(BaseModel):
    """The answering machine's reply to a question about documents, with citations in its text."""

    text: str = Field(max_length=1500)
    short: str | None = Field(max_length=100)
    unknown: str = Field(max_length=300)


class Verdict(BaseModel):
    """Whether V3's answering machine answers now; the reason comes before it."""

    reason: str = Field(max_length=300)
    verdict: Literal["CONTINUE", "TERMINATE"]


async def answering_machine(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Answer now, with what is known."""
    if not state["facts"]:
        reason = reason_to_answer(state, runtime.context)
        return {"answer": _without_facts(state, reason)}
    if in_words(runtime.context):
        return await _cited_answer(state, runtime)
    return await _decision(state, runtime)


def may_continue(prompt: str) -> Node:
    """Make the answering machine of V3: it terminates with the answer, or says why it goes on.

    At a limit it answers; while nothing is known it goes on without asking the model.
    """

    async def may_continue(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        if reason_to_answer(state, runtime.context):
            return await answering_machine(state, runtime)
        if not state["facts"]:
            return {"reason": load("agent_v3/nothing_known").fill()}
        reply = await ask_role(_ROLE, Verdict, load(prompt).fill(), state, runtime)
        used: WorkingMemory = {"usage": usage(reply), "failures": failures(reply)}
        if reply.value is None or reply.value.verdict == "CONTINUE":
            return used | {"reason": reply.value.reason.strip() if reply.value else ""}
        answered = await answering_machine(state, runtime)
        return answered | {
            "usage": add_usage(used["usage"], answered.get("usage", {})),
            "failures": used["failures"] + answered.get("failures", []),
        }

    return may_continue


async def _cited_answer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """An answer in words; a citation that names no fact is taken out."""
    occasion = reason_to_answer(state, runtime.context)
    quoted = [source_text(fact) for fact in state["facts"] if fact["quote"]]
    task = load("documents/answering_machine").fill(
        occasion=occasion, quotes="\n".join(quoted) or "(none)"
    )
    reply = await ask_role(_ROLE, CitedAnswer, task, state, runtime)
    update: WorkingMemory = {"usage": usage(reply), "failures": failures(reply)}
    if reply.value is None:
        return update | {"answer": _unreadable(reply.failure.message if reply.failure else "")}
    known = {fact["number"] for fact in state["facts"]}
    text = CITATION.sub(lambda cited: cited[0] if int(cited[1]) in known else "", reply.value.text)
    answer = Answer(
        decision=_unless_nothing(reply.value.short or "") or None,
        why=_unless_nothing(text),
        facts=list(dict.fromkeys(int(number) for number in CITATION.findall(text))),
        unknown=_unless_nothing(reply.value.unknown),
    )
    if not (answer["why"] or answer["decision"] or answer["unknown"]):
        answer = _facts_alone(state)
    return update | {"answer": answer}


def _facts_alone(state: WorkingMemory) -> Answer:
    """Where the model says nothing at all, which small ones do, the facts speak for themselves."""
    told = [f"{fact['text'].rstrip('.')} [{fact['number']}]." for fact in state["facts"]]
    return Answer(
        decision=None,
        why=" ".join(told),
        facts=[fact["number"] for fact in state["facts"]],
        unknown="The model wrote no answer; these facts were found.",
    )


async def _decision(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """A decision; one that the question does not admit is asked for once more."""
    candidates = runtime.context.candidates
    learned = finish(state)
    occasion = reason_to_answer(state, runtime.context) or _learned_text(learned)
    task = load("common/answering_machine").fill(occasion=occasion)
    replies = [await ask_role(_ROLE, Decision, task, state, runtime)]
    if complaint := _complaint(replies[0].value, candidates):
        replies.append(await ask_role(_ROLE, Decision, task, state, runtime, followup=complaint))
    answer = _answer(replies[-1], state, candidates)
    refused = _refused(replies[-1].value, answer)
    if learned and answer["decision"] is None:  # the path has decided; its fact stands for it
        decision = admitted(learned.decision, candidates)
        answer = Answer(decision=decision, why=learned.why, facts=[learned.fact], unknown="")
    return {
        "answer": answer,
        "usage": usage(*replies),
        "failures": failures(*replies) + refused,
    }


def _learned_text(learned: Finish | None) -> str:
    """What a learned path has decided, for the model to see."""
    if learned is None:
        return ""
    return load("planrag/learned_finish").fill(decision=learned.decision, fact=str(learned.fact))


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
        return _unreadable(reply.failure.message if reply.failure else "")
    known = {fact["number"] for fact in state["facts"]}
    return Answer(
        decision=admitted(value.decision, candidates),
        why=value.why.strip(),
        facts=[number for number in dict.fromkeys(value.facts) if number in known],
        unknown=_unless_nothing(value.unknown),
    )


def _unreadable(reason: str) -> Answer:
    unknown = f"No readable answer: {reason or 'it was empty'}"
    return Answer(decision=None, why="", facts=[], unknown=unknown)


def _unless_nothing(text: str) -> str:
    return "" if text.strip().lower().rstrip(".") in _NOTHING else text.strip()


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
