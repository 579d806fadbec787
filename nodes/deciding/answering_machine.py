"""Answering machine: decides or answers from the facts, cites them, and says what is unknown."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, ValidationError

from planweave.memory import (
    NO_DECISION,
    Answer,
    Basis,
    Context,
    Fact,
    Failure,
    WorkingMemory,
    add_usage,
)
from planweave.models import StructuredReply
from planweave.nodes.assist.asking import without_guesses
from planweave.nodes.assist.replies import cites_support, own_answer, unless_nothing
from planweave.nodes.assist.row_answer import row_answer
from planweave.nodes.deciding.path_follower import Finish, finish
from planweave.nodes.deciding.selector import action_of
from planweave.nodes.shared.citation_check import CITATION
from planweave.nodes.support.briefing import source_text
from planweave.nodes.support.combined import answer_text
from planweave.nodes.support.limits import budget_spent, reason_to_answer
from planweave.nodes.support.replies import (
    CitedAnswer,
    Decision,
    Verdict,
    answer_form,
    decision_form,
    verdict_form,
)
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import same
from planweave.nodes.support.verdict import followed, undecided
from planweave.prompts import load
from planweave.texts import listed
from planweave.tools import nearest
from planweave.tools.checking import Following
from planweave.tools.result_text import in_a_sentence

Form = TypeVar("Form", bound=BaseModel)

_ROLE = "answering_machine"
_SHOWN_CANDIDATES = 10
_FAINT = 0.3  # resemblance by which candidates are put in order
_AFTER = re.compile(r"[,;:.(]\s|\s[(\u2013\u2014-]")
"""Where a decision ends and what is said of it begins, as in "No, it does not"."""
_NEGATIONS = frozenset({"not", "no", "never", "except", "avoid", "without"})


async def answering_machine(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Answer now, with what is known."""
    if not state["facts"]:
        reason = reason_to_answer(state, runtime.context)
        return {"answer": _without_facts(state, reason)}
    if runtime.context.in_words:
        return await _cited_answer(state, runtime)
    return await _decision(state, runtime)


def may_continue(prompt: str, *, combined: str) -> Node:
    """Make the answering machine of V3: it terminates with the answer, or says why it goes on.

    At a limit it answers; while nothing is known it goes on without asking the model. The prompt
    ``combined`` is for a reply that may also carry the answer, or set the next task.
    """

    async def may_continue(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if reason_to_answer(state, context):
            return await answering_machine(state, runtime)
        if not state["facts"]:
            return {"reason": load("agent_v3/nothing_known").fill(), "task": ""}
        combines = context.combines(_ROLE)
        form = verdict_form(answer_form(context)) if combines else Verdict
        task = load(combined).fill(answer=answer_text(context)) if combines else load(prompt).fill()
        reply = await ask_role(_ROLE, form, task, state, runtime)
        used = spent(reply)
        fields = reply.value.model_dump() if reply.value else {}
        if fields.get("verdict", "CONTINUE") == "CONTINUE":
            reason: str = fields.get("reason", "")
            wanted: str = fields.get("task", "")
            return used | {"reason": reason.strip(), "task": wanted.strip()}
        if fields.get("answer"):
            last = action_of(state, thought=fields["reason"], tool="finish", input="")
            state = {**state, "action": last | {"answer": fields["answer"]}}
        answered = await answering_machine(state, runtime)
        return answered | {
            "usage": add_usage(used["usage"], answered.get("usage", {})),
            "failures": used["failures"] + answered.get("failures", []),
        }

    return may_continue


def given(form: type[Form], state: WorkingMemory) -> StructuredReply[Form] | None:
    """The answer that came with the action that finished, as a reply that cost no call; or None."""
    action = state["action"]
    if action is None or "answer" not in action:
        return None
    try:
        return StructuredReply(form.model_validate(action["answer"]), None, ())
    except ValidationError:  # somebody has edited it
        return None


async def _cited_answer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """An answer in words; a citation that names no fact is taken out."""
    occasion = reason_to_answer(state, runtime.context)
    context = runtime.context
    told = [text for fact in state["facts"] if (text := _told(fact))]
    task = load("documents/answering_machine").fill(
        occasion=occasion, told="\n".join(told) or "(none)"
    )
    asked = without_guesses(state, context)
    reply = given(CitedAnswer, state) or await ask_role(_ROLE, CitedAnswer, task, asked, runtime)
    update = spent(reply)
    if reply.value is None:
        return update | {"answer": _unreadable(reply)}
    answer = cited(reply.value.text, reply.value.short, reply.value.unknown, state, context)
    if not answer["facts"]:
        answer = cites_support(answer, reply.value.told_by, state, context)
    return update | {"answer": answer}


def cited(
    text: str, short: str | None, unknown: str, state: WorkingMemory, context: Context
) -> Answer:
    """An answer in words with the facts that its text cites; a citation of no fact is taken out."""
    known = {fact["number"] for fact in state["facts"]}
    text = CITATION.sub(lambda found: found[0] if int(found[1]) in known else "", text)
    return Answer(
        decision=own_answer(short, state, context),
        why=unless_nothing(text),
        facts=list(dict.fromkeys(int(number) for number in CITATION.findall(text))),
        unknown=unless_nothing(unknown),
    )


def _told(fact: Fact) -> str:
    """The words of a page or the result of a calculation; rows of a database stand above."""
    if fact["quote"]:
        return source_text(fact)
    return f"[{fact['number']}] {fact['text']}" if fact["source"] == "calculator" else ""


async def _decision(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """A decision; one that the question does not admit is asked for once more.

    So is one that differs from what a rule on the cited facts gives; if they still differ, it is
    withheld and both are reported. Where a learned path has decided, that decision stays.
    """
    candidates = runtime.context.candidates
    if found := ranked_answer(state, candidates) or row_answer(state, runtime.context):
        return {"answer": found}
    learned = finish(state)
    stands = admitted(learned.decision, candidates) if learned else None
    occasion = reason_to_answer(state, runtime.context) or _learned_text(learned)
    task = load("common/answering_machine").fill(occasion=occasion)
    form = decision_form(max(map(len, candidates), default=0))
    replies = [given(form, state) or await ask_role(_ROLE, form, task, state, runtime)]
    if stands is None and (complaint := _complaint(replies[0].value, candidates)):
        replies.append(await ask_role(_ROLE, form, task, state, runtime, followup=complaint))
    answer = _answer(replies[-1], state, candidates)
    refused = _refused(replies[-1].value, answer)
    if learned and stands and answer["decision"] in (None, stands):
        answer = learned_answer(learned, stands, answer)
    elif runtime.context.ask_again and (differs := _contradicting(answer, state, runtime)):
        if len(replies) == 1 and not budget_spent(state, runtime.context):
            complaint = _rule_differs(replies[0].value, differs)
            replies.append(await ask_role(_ROLE, form, task, state, runtime, followup=complaint))
            second = _answer(replies[1], state, candidates)
            answer = second if second["decision"] else answer  # an unreadable one changes nothing
        if differs := _contradicting(answer, state, runtime):
            answer = undecided(answer, differs.reason, differs.gives)
    used = spent(*replies)
    return used | {"answer": answer, "failures": used["failures"] + refused}


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
    if answer["decision"] in (None, NO_DECISION):
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


def _learned_text(learned: Finish | None) -> str:
    """What a learned path has decided, for the model to see."""
    if learned is None:
        return ""
    return load("planrag/learned_finish").fill(decision=learned.decision, fact=str(learned.fact))


def admitted(decision: str | None, candidates: Sequence[str]) -> str | None:
    """The candidate that ``decision`` means, whatever its case and the words around it.

    Without candidates every decision is admitted, and always that none improves anything. A
    sentence that names several is none.
    """
    plain = (decision or "").strip().strip("\"'`.").strip()
    if not candidates:
        return plain or None
    by_fold = {candidate.casefold(): candidate for candidate in candidates}
    for text in (plain, _AFTER.split(plain)[0]):
        if text.casefold() in by_fold:
            return by_fold[text.casefold()]
    if plain.casefold() == NO_DECISION:
        return NO_DECISION
    words, spelled = _words(plain), Counter(map(_words, candidates))
    known = {one: c for c in candidates if spelled[one := _words(c)] == 1}
    if words in known:
        return known[words]
    named = [one for one in known if one and f" {one} " in f" {words} "]
    longest = [one for one in named if not any(one != o and f" {one} " in f" {o} " for o in named)]
    beside = f" {words} ".replace(f" {longest[0]} ", " ") if len(longest) == 1 else ""
    denied = not _NEGATIONS.isdisjoint(beside.split())
    return known[longest[0]] if len(longest) == 1 and not denied else None


def _words(text: str) -> str:
    """What two spellings of a name have in common: its letters and figures, without accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.findall(r"[\w-]+(?:[.,]\d+)*", bare.replace("_", " ")))


def _complaint(value: Decision | None, candidates: Sequence[str]) -> list[BaseMessage]:
    if value is None or not value.decision or admitted(value.decision, candidates):
        return []
    text = load("common/not_admitted").fill(
        decision=value.decision, choices=_choices(value.decision, candidates)
    )
    return [AIMessage(value.model_dump_json()), HumanMessage(text)]


def _choices(decision: str, candidates: Sequence[str]) -> str:
    """All candidates where they are few, else how many there are, the nearest first."""
    close = nearest(decision, candidates, _SHOWN_CANDIDATES, close=_FAINT)
    return listed([*close, *(one for one in candidates if one not in close)], _SHOWN_CANDIDATES)


def _answer(
    reply: StructuredReply[Decision], state: WorkingMemory, candidates: Sequence[str]
) -> Answer:
    value = reply.value
    if value is None:
        return _unreadable(reply)
    known = {fact["number"] for fact in state["facts"]}
    return Answer(
        decision=admitted(value.decision, candidates),
        why=value.why.strip(),
        facts=[number for number in dict.fromkeys(value.facts) if number in known],
        unknown=unless_nothing(value.unknown),
        basis=Basis(how=value.how, column=value.column.strip()),
    )


def _unreadable(reply: StructuredReply[Any]) -> Answer:
    reason = reply.failure.message if reply.failure else ""
    unknown = f"No readable answer: {reason or 'it was empty'}"
    return Answer(decision=None, why="", facts=[], unknown=unknown)


def _without_facts(state: WorkingMemory, reason: str) -> Answer:
    """No model is asked to decide from nothing: say why nothing was found."""
    action = state["action"]
    why = action["input"] if action and action["tool"] == "finish" else ""
    # What an action led to when it was taken first: a repetition only points there.
    led_to = {
        (turn["tool"], same(turn["input"])): turn["problem"] for turn in reversed(state["turns"])
    }
    problem = next(filter(None, led_to.values()), "No tool has returned anything.")
    unknown = in_a_sentence(problem)
    return Answer(decision=None, why=why, facts=[], unknown=f"{unknown} {reason}".strip())


def _refused(value: Decision | None, answer: Answer) -> list[Failure]:
    if value is None or not value.decision or answer["decision"]:
        return []
    return [Failure(role=_ROLE, kind="not_admitted", detail=value.decision)]
