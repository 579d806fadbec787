"""Answering machine: decides or answers from the facts, cites them, and says what is unknown."""

import re
from collections.abc import Sequence
from string import punctuation
from typing import Literal, get_args

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, field_validator

from planweave.memory import Answer, Basis, Context, Fact, Failure, WorkingMemory, add_usage
from planweave.models import Reply
from planweave.nodes.briefing import source_text
from planweave.nodes.citation_check import CITATION, in_words, sentences, supporting
from planweave.nodes.limits import budget_spent, reason_to_answer
from planweave.nodes.path_follower import Finish, finish
from planweave.nodes.role import Node, ask_role, failures, usage
from planweave.nodes.turns import same
from planweave.nodes.verdict import followed, undecided
from planweave.prompts import load
from planweave.tools import nearest
from planweave.tools.checking import Following, said_by, says_result
from planweave.tools.documents.quotes import adds, alike

_ROLE = "answering_machine"
_SHOWN_CANDIDATES = 10
_NEGATIONS = frozenset({"not", "no", "never", "except", "avoid", "without"})
_NOTHING = ("", "null", "none", "nothing", "n/a", "unknown", "not known", "not given")


Rule = Literal["stated", "highest", "lowest", "count", "sum", "comparison"]


class Decision(BaseModel):
    """The answering machine's reply to a decision question; the reasons come before it."""

    why: str = Field(max_length=600)
    facts: list[int]
    decision: str | None = Field(max_length=100)
    how: Rule = "stated"
    column: str = Field(default="", max_length=60)
    unknown: str = Field(max_length=300)

    @field_validator("how", mode="before")
    @classmethod
    def _known(cls, how: object) -> object:
        """A rule by another name is none: no reason to ask again."""
        return how if how in get_args(Rule) else "stated"


class CitedAnswer(BaseModel):
    """The answering machine's reply to a question about documents, with citations in its text."""

    # A small model that first says what is asked and what tells it answers more fully, and owns
    # more often that nothing does.
    asked: str = Field(max_length=300)
    told_by: list[int] = Field(max_length=20)
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
    told = [text for fact in state["facts"] if (text := _told(fact))]
    task = load("documents/answering_machine").fill(
        occasion=occasion, told="\n".join(told) or "(none)"
    )
    reply = await ask_role(_ROLE, CitedAnswer, task, _without_guesses(state), runtime)
    update: WorkingMemory = {"usage": usage(reply), "failures": failures(reply)}
    if reply.value is None:
        return update | {"answer": _unreadable(reply.failure.message if reply.failure else "")}
    answer = cited(reply.value.text, reply.value.short, reply.value.unknown, state)
    if not answer["facts"]:
        answer = _resting_on(_told_by(reply.value, answer, state), answer)
    return update | {"answer": answer}


def cited(text: str, short: str | None, unknown: str, state: WorkingMemory) -> Answer:
    """An answer in words with the facts that its text cites.

    A citation of no fact is taken out, and so is what a model writes where it has nothing to say,
    or where its short answer only says again what was asked.
    """
    known = {fact["number"] for fact in state["facts"]}
    if short and _asks_again(short, state):
        short = None
    text = CITATION.sub(lambda found: found[0] if int(found[1]) in known else "", text)
    return Answer(
        decision=unless_nothing(short or "") or None,
        why=unless_nothing(text),
        facts=list(dict.fromkeys(int(number) for number in CITATION.findall(text))),
        unknown=unless_nothing(unknown),
    )


def _asks_again(short: str, state: WorkingMemory) -> bool:
    """Whether a short answer is the question in other words, and nothing from the facts."""
    said = said_by(state["facts"])
    return alike(state["question"], short) and not adds(short, said, state["question"])


def _without_guesses(state: WorkingMemory) -> WorkingMemory:
    """Working memory without what was thought before a calculation: small models repeat that."""
    turns = [t | {"thought": ""} if t["tool"] == "calculator" else t for t in state["turns"]]
    return {**state, "turns": turns}


def _told(fact: Fact) -> str:
    """The words of a page or the result of a calculation; rows of a database stand above."""
    if fact["quote"]:
        return source_text(fact)
    return f"[{fact['number']}] {fact['text']}" if fact["source"] == "calculator" else ""


def _told_by(reply: CitedAnswer, answer: Answer, state: WorkingMemory) -> list[Fact]:
    """The facts that tell an answer without citations.

    Those that the model names. The smallest models leave the list empty whatever they answer: where
    it is, nothing is said to be unknown, and the text speaks of what was asked or says what was
    worked out, those that support a sentence of it.
    """
    numbers, why = set(reply.told_by), answer["why"]
    speaks = alike(state["question"], why) or says_result(why, state["facts"])
    if speaks and not (numbers or answer["unknown"]):
        numbers = {n for text in sentences(why) for n in supporting(text, state)}
    return [fact for fact in state["facts"] if fact["number"] in numbers]


def _resting_on(told_by: Sequence[Fact], answer: Answer) -> Answer:
    """An answer whose text cites nothing, with the facts that tell it; without any, it is none.

    Where the model says nothing at all, which small ones do, those facts speak for themselves.
    """
    if not told_by:
        unknown = answer["unknown"] or "The facts that were found do not tell it."
        return Answer(decision=None, why="", facts=[], unknown=unknown)
    why, unknown = answer["why"], answer["unknown"]
    numbers = [fact["number"] for fact in told_by]
    if why:
        why = f"{why.rstrip('.')} {''.join(f'[{number}]' for number in numbers)}."
    elif not (answer["decision"] or unknown):
        why = " ".join(f"{fact['text'].rstrip('.')} [{fact['number']}]." for fact in told_by)
        unknown = "The model wrote no answer; these facts were found."
    return answer | {"why": why, "facts": numbers, "unknown": unknown}


async def _decision(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """A decision; one that the question does not admit is asked for once more.

    So is one that differs from what a rule on the cited facts gives; if they still differ, it is
    withheld and both are reported. Where a learned path has decided, that decision stands.
    """
    candidates = runtime.context.candidates
    if ranked := ranked_answer(state, candidates):
        return {"answer": ranked}
    learned = finish(state)
    stands = admitted(learned.decision, candidates) if learned else None
    occasion = reason_to_answer(state, runtime.context) or _learned_text(learned)
    task = load("common/answering_machine").fill(occasion=occasion)
    replies = [await ask_role(_ROLE, Decision, task, state, runtime)]
    if stands is None and (complaint := _complaint(replies[0].value, candidates)):
        replies.append(await ask_role(_ROLE, Decision, task, state, runtime, followup=complaint))
    answer = _answer(replies[-1], state, candidates)
    refused = _refused(replies[-1].value, answer)
    if learned and stands and answer["decision"] in (None, stands):
        answer = learned_answer(learned, stands, answer)
    elif runtime.context.ask_again and (differs := _contradicting(answer, state, runtime)):
        if len(replies) == 1 and not budget_spent(state, runtime.context):
            complaint = _rule_differs(replies[0].value, differs)
            replies.append(
                await ask_role(_ROLE, Decision, task, state, runtime, followup=complaint)
            )
            answer = _second(replies[1], answer, state, candidates)
        if differs := _contradicting(answer, state, runtime):
            answer = undecided(answer, differs.reason, differs.gives)
    return {
        "answer": answer,
        "usage": usage(*replies),
        "failures": failures(*replies) + refused,
    }


def ranked_answer(state: WorkingMemory, candidates: Sequence[str]) -> Answer | None:
    """The decision that a ranking gives: its first option that may be decided.

    None where the last fact ranks no options. Where the first two are equal nothing is decided.
    """
    fact = state["facts"][-1]
    how, table = fact.get("ranks"), fact.get("table")
    if how is None or table is None:
        return None
    rows = [
        (option, row[-1])
        for row in table["rows"]
        if row[-1] is not None and (option := admitted(str(row[0]), candidates))
    ]
    if not rows or not isinstance(rows[0][1], int | float):
        return None
    if len(rows) > 1 and rows[0][1] == rows[1][1]:
        equal = " and ".join(option for option, value in rows if value == rows[0][1])
        unknown = load("common/ranked_equal").fill(options=equal, value=str(rows[0][1]))
        return Answer(decision=None, why="", facts=[fact["number"]], unknown=unknown)
    (best, value), *others = rows
    column = table["columns"][-1]
    why = load("common/ranked").fill(
        best=best, how=how, column=column, value=str(value), fact=str(fact["number"])
    )
    if others:
        why += " " + load("common/ranked_next").fill(
            second=others[0][0], value=str(others[0][1]), fact=str(fact["number"])
        )
    return Answer(
        decision=best,
        why=why,
        facts=[fact["number"]],
        unknown="",
        basis=Basis(how=how, column=column),
    )


def learned_answer(learned: Finish, decision: str, answer: Answer | None = None) -> Answer:
    """What a learned path has decided, with the model's reasons where there are any."""
    given = answer or Answer(decision=None, why="", facts=[], unknown="")
    if given["decision"] is None:
        given = Answer(decision=decision, why=learned.why, facts=[learned.fact], unknown="")
    facts = list(dict.fromkeys([learned.fact, *given["facts"]]))
    return given | {"facts": facts, "basis": Basis(how="learned", column="")}


def _contradicting(
    answer: Answer, state: WorkingMemory, runtime: Runtime[Context]
) -> Following | None:
    """What a rule on the facts gives in place of the decision; None if it gives nothing else."""
    if not answer["decision"]:
        return None
    found = followed(answer, state, runtime.context)
    return found if found.kind == "contradicted" else None


def _rule_differs(value: Decision | None, differs: Following) -> list[BaseMessage]:
    if value is None:
        return []
    text = load("common/rule_differs").fill(
        decision=value.decision or "nothing", reason=differs.reason
    )
    return [AIMessage(value.model_dump_json()), HumanMessage(text)]


def _second(
    reply: Reply[Decision], first: Answer, state: WorkingMemory, candidates: Sequence[str]
) -> Answer:
    """The second answer; the first stays where that is unreadable or decides nothing."""
    answer = _answer(reply, state, candidates)
    return answer if answer["decision"] else first


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
        unknown=unless_nothing(value.unknown),
        basis=Basis(how=value.how, column=value.column.strip()),
    )


def _unreadable(reason: str) -> Answer:
    unknown = f"No readable answer: {reason or 'it was empty'}"
    return Answer(decision=None, why="", facts=[], unknown=unknown)


def unless_nothing(text: str) -> str:
    """The text, or nothing where it says nothing, as "null", a comma and a bare "… [1]" do."""
    said = CITATION.sub("", text).strip(f"{punctuation} …").lower()
    return "" if said in _NOTHING else text.strip()


def _without_facts(state: WorkingMemory, reason: str) -> Answer:
    """No model is asked to decide from nothing: say why nothing was found."""
    action = state["action"]
    why = action["input"] if action and action["tool"] == "finish" else ""
    # What an action led to when it was taken first: a repetition only points there.
    led_to = {
        (turn["tool"], same(turn["input"])): turn["problem"] for turn in reversed(state["turns"])
    }
    unknown = next(filter(None, led_to.values()), "No tool has returned anything.")
    return Answer(decision=None, why=why, facts=[], unknown=f"{unknown} {reason}".strip())


def _refused(value: Decision | None, answer: Answer) -> list[Failure]:
    if value is None or not value.decision or answer["decision"]:
        return []
    return [Failure(role=_ROLE, kind="not_admitted", detail=value.decision)]
