"""Answering machine: decides or answers from the facts, cites them, reports what is unknown."""

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
    Failure,
    WorkingMemory,
    add_usage,
)
from planweave.models import StructuredReply
from planweave.nodes.assist.asking import hide_guesses
from planweave.nodes.assist.replies import add_citations, clean_short_answer, drop_if_empty
from planweave.nodes.assist.row_answer import answer_from_rows
from planweave.nodes.deciding.path_follower import LearnedDecision, find_decision
from planweave.nodes.deciding.selector import build_action
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
from planweave.nodes.support.role import ask_role, ask_with, build_messages, spent
from planweave.nodes.support.turns import normalise
from planweave.nodes.support.verdict import check_answer, ranked_options, withhold_decision
from planweave.prompts import load
from planweave.texts import listed
from planweave.tools import nearest
from planweave.tools.checking import DecisionCheck
from planweave.tools.result_text import to_sentences

Form = TypeVar("Form", bound=BaseModel)

_ROLE = "answering_machine"
_SHOWN_CANDIDATES = 10
_LEAST_SIMILARITY = 0.3  # of candidates that are listed first
_DECISION_END = re.compile(r"[,;:.(]\s|\s[(\u2013\u2014-]")
"""Where a decision ends and its explanation begins, as in "No, it does not"."""
_NEGATIONS = frozenset({"not", "no", "never", "except", "avoid", "without"})


async def answering_machine(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Answer now, from the known facts."""
    if not state["facts"]:
        reason = reason_to_answer(state, runtime.context)
        return {"answer": _answer_without_facts(state, reason)}
    if runtime.context.in_words:
        return await _answer_in_words(state, runtime)
    return await _decide(state, runtime)


async def answer_or_continue(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Answer, or give a reason to continue (V3).

    At a limit it answers. Without facts it continues without a model call. A combined reply may
    also contain the answer or set the next task.
    """
    context = runtime.context
    if reason_to_answer(state, context):
        return await answering_machine(state, runtime)
    if not state["facts"]:
        return {"reason": load("agent_v3/nothing_known").fill(), "task": ""}
    combines = context.combines(_ROLE)
    form = verdict_form(answer_form(context)) if combines else Verdict
    if combines:
        task = load("agent_v3/answer_or_task").fill(answer=answer_text(context))
    else:
        task = load("agent_v3/answering_machine").fill()
    reply = await ask_role(_ROLE, form, task, state, runtime)
    used = spent(reply)
    fields = reply.value.model_dump() if reply.value else {}
    if fields.get("verdict", "CONTINUE") == "CONTINUE":
        reason: str = fields.get("reason", "")
        wanted: str = fields.get("task", "")
        return used | {"reason": reason.strip(), "task": wanted.strip()}
    if fields.get("answer"):
        last = build_action(state, thought=fields["reason"], tool="finish", input="")
        state = {**state, "action": last | {"answer": fields["answer"]}}
    answered = await answering_machine(state, runtime)
    return answered | {
        "usage": add_usage(used["usage"], answered.get("usage", {})),
        "failures": used["failures"] + answered.get("failures", []),
    }


def given_answer(form: type[Form], state: WorkingMemory) -> StructuredReply[Form] | None:
    """The answer that came with the action ``finish``, as a reply without a call; else None."""
    action = state["action"]
    if action is None or "answer" not in action:
        return None
    try:
        return StructuredReply(form.model_validate(action["answer"]), None, ())
    except ValidationError:  # a person edited it
        return None


async def _answer_in_words(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Answer in words, without citations of unknown facts."""
    occasion = reason_to_answer(state, runtime.context)
    context = runtime.context
    # The prompt shows rows elsewhere.
    sources = [
        source_text(fact) if fact["quote"] else f"[{fact['number']}] {fact['text']}"
        for fact in state["facts"]
        if fact["quote"] or fact["source"] == "calculator"
    ]
    shown = "\n".join(filter(None, sources)) or "(none)"
    task = load("documents/answering_machine").fill(occasion=occasion, told=shown)
    asked = hide_guesses(state, context)
    reply = given_answer(CitedAnswer, state) or await ask_role(
        _ROLE, CitedAnswer, task, asked, runtime
    )
    update = spent(reply)
    if reply.value is None:
        return update | {"answer": _unreadable_answer(reply)}
    answer = build_cited_answer(
        reply.value.text, reply.value.short, reply.value.unknown, state, context
    )
    if not answer["facts"]:
        answer = add_citations(answer, reply.value.told_by, state, context)
    return update | {"answer": answer}


def build_cited_answer(
    text: str, short: str | None, unknown: str, state: WorkingMemory, context: Context
) -> Answer:
    """Build an answer in words with its cited facts; citations of unknown facts are removed."""
    known = {fact["number"] for fact in state["facts"]}
    text = CITATION.sub(lambda found: found[0] if int(found[1]) in known else "", text)
    return Answer(
        decision=clean_short_answer(short, state, context),
        why=drop_if_empty(text),
        facts=list(dict.fromkeys(int(number) for number in CITATION.findall(text))),
        unknown=drop_if_empty(unknown),
    )


async def _decide(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Decide; ask again if the question does not admit the decision.

    It also asks again if a rule on the cited facts gives another decision; if the second reply
    still differs, it withholds the decision and reports both. The decision of a learned path stays.
    """
    candidates = runtime.context.candidates
    if found := answer_from_ranking(state, candidates) or answer_from_rows(state, runtime.context):
        return {"answer": found}
    learned = find_decision(state)
    learned_decision = match_candidate(learned.decision, candidates) if learned else None
    occasion = reason_to_answer(state, runtime.context)
    if learned and not occasion:
        learned_finish = load("planrag/learned_finish")
        occasion = learned_finish.fill(decision=learned.decision, fact=str(learned.fact))
    task = load("common/answering_machine").fill(occasion=occasion)
    form = decision_form(max(map(len, candidates), default=0))
    prompt = build_messages(task, state, runtime.context)
    replies = [given_answer(form, state) or await ask_with(_ROLE, form, prompt, runtime)]
    if learned_decision is None and (complaint := _not_admitted(replies[0].value, candidates)):
        replies.append(await ask_with(_ROLE, form, [*prompt, *complaint], runtime))
    answer = _build_answer(replies[-1], state, candidates)
    last = replies[-1].value
    refused: list[Failure] = []
    if last and last.decision and not answer["decision"]:
        refused = [Failure(role=_ROLE, kind="not_admitted", detail=last.decision)]
    if learned and learned_decision and answer["decision"] in (None, learned_decision):
        answer = answer_from_path(learned, learned_decision, answer)
    elif runtime.context.ask_again and (
        contradiction := _find_contradiction(answer, state, runtime)
    ):
        if last and len(replies) == 1 and not budget_spent(state, runtime.context):
            complaint = _follow_up(
                last,
                "common/rule_differs",
                decision=last.decision or "nothing",
                reason=contradiction.reason,
            )
            replies.append(await ask_with(_ROLE, form, [*prompt, *complaint], runtime))
            second = _build_answer(replies[1], state, candidates)
            answer = second if second["decision"] else answer
        if contradiction := _find_contradiction(answer, state, runtime):
            answer = withhold_decision(answer, contradiction.reason, contradiction.gives)
    used = spent(*replies)
    return used | {"answer": answer, "failures": used["failures"] + refused}


def answer_from_ranking(state: WorkingMemory, candidates: Sequence[str]) -> Answer | None:
    """The decision by a ranking: its first admitted option.

    None if the last fact ranks no options. If the first two are equal, there is no decision.
    """
    fact = state["facts"][-1]
    options = ranked_options(fact, lambda name: match_candidate(name, candidates) or None)
    if not options or not isinstance(options[0][1], int | float):
        return None
    (best, value), *others = options
    if others and others[0][1] == value:
        equal = " and ".join(option for option, one in options if one == value)
        unknown = load("common/ranked_equal").fill(options=equal, value=str(value))
        return Answer(decision=None, why="", facts=[fact["number"]], unknown=unknown)
    how, column = fact["ranks"], fact["table"]["columns"][-1]
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


def answer_from_path(
    learned: LearnedDecision, decision: str, answer: Answer | None = None
) -> Answer:
    """The decision of a learned path, with the model's reasons if there are any."""
    result = answer or Answer(decision=None, why="", facts=[], unknown="")
    if result["decision"] is None:
        result = Answer(decision=decision, why=learned.why, facts=[learned.fact], unknown="")
    facts = list(dict.fromkeys([learned.fact, *result["facts"]]))
    return result | {"facts": facts, "basis": Basis(how="learned", column="")}


def _find_contradiction(
    answer: Answer, state: WorkingMemory, runtime: Runtime[Context]
) -> DecisionCheck | None:
    """The rule on the facts that gives another decision; None if none does."""
    if answer["decision"] in (None, NO_DECISION):
        return None
    found = check_answer(answer, state, runtime.context)
    return found if found.kind == "contradicted" else None


def _follow_up(value: Decision, prompt: str, **fills: str) -> list[BaseMessage]:
    """The reply and a request to answer again."""
    return [AIMessage(value.model_dump_json()), HumanMessage(load(prompt).fill(**fills))]


def match_candidate(decision: str | None, candidates: Sequence[str]) -> str | None:
    """The candidate that ``decision`` means, whatever its case and the words around it.

    Without candidates every decision is admitted. ``NO_DECISION`` is always admitted. A sentence
    that names several candidates is not.
    """
    plain = (decision or "").strip().strip("\"'`.").strip()
    if not candidates:
        return plain or None
    by_fold = {candidate.casefold(): candidate for candidate in candidates}
    for text in (plain, _DECISION_END.split(plain)[0]):
        if text.casefold() in by_fold:
            return by_fold[text.casefold()]
    if plain.casefold() == NO_DECISION:
        return NO_DECISION
    words, spelled = _normalise(plain), Counter(map(_normalise, candidates))
    known = {one: c for c in candidates if spelled[one := _normalise(c)] == 1}
    if words in known:
        return known[words]
    named = [one for one in known if one and f" {one} " in f" {words} "]
    longest = [one for one in named if not any(one != o and f" {one} " in f" {o} " for o in named)]
    rest = f" {words} ".replace(f" {longest[0]} ", " ") if len(longest) == 1 else ""
    denied = not _NEGATIONS.isdisjoint(rest.split())
    return known[longest[0]] if len(longest) == 1 and not denied else None


def _normalise(text: str) -> str:
    """A name reduced to what all its spellings share: letters and digits without accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.findall(r"[\w-]+(?:[.,]\d+)*", bare.replace("_", " ")))


def _not_admitted(value: Decision | None, candidates: Sequence[str]) -> list[BaseMessage]:
    if value is None or not value.decision or match_candidate(value.decision, candidates):
        return []
    close = nearest(value.decision, candidates, _SHOWN_CANDIDATES, close=_LEAST_SIMILARITY)
    choices = [*close, *(one for one in candidates if one not in close)]
    shown = listed(choices, _SHOWN_CANDIDATES)
    return _follow_up(value, "common/not_admitted", decision=value.decision, choices=shown)


def _build_answer(
    reply: StructuredReply[Decision], state: WorkingMemory, candidates: Sequence[str]
) -> Answer:
    value = reply.value
    if value is None:
        return _unreadable_answer(reply)
    known = {fact["number"] for fact in state["facts"]}
    return Answer(
        decision=match_candidate(value.decision, candidates),
        why=value.why.strip(),
        facts=[number for number in dict.fromkeys(value.facts) if number in known],
        unknown=drop_if_empty(value.unknown),
        basis=Basis(how=value.how, column=value.column.strip()),
    )


def _unreadable_answer(reply: StructuredReply[Any]) -> Answer:
    reason = reply.failure.message if reply.failure else ""
    unknown = f"No readable answer: {reason or 'it was empty'}"
    return Answer(decision=None, why="", facts=[], unknown=unknown)


def _answer_without_facts(state: WorkingMemory, reason: str) -> Answer:
    """Report why nothing was found, without a model call."""
    action = state["action"]
    why = action["input"] if action and action["tool"] == "finish" else ""
    # The problem of each action's first turn; a repetition only refers to it.
    problems = {
        (turn["tool"], normalise(turn["input"])): turn["problem"]
        for turn in reversed(state["turns"])
    }
    problem = next(filter(None, problems.values()), "No tool has returned anything.")
    unknown = to_sentences(problem)
    return Answer(decision=None, why=why, facts=[], unknown=f"{unknown} {reason}".strip())
