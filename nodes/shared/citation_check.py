"""Citation check: checks that each claim of the answer follows from the facts that it cites."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Answer, Claim, Context, Fact, WorkingMemory
from planweave.nodes.support.briefing import fact_text
from planweave.nodes.support.lengths import REASON
from planweave.nodes.support.limits import add_known_facts
from planweave.nodes.support.progress import report
from planweave.nodes.support.role import ask_role, spent
from planweave.nodes.support.verdict import add_verdict, check_answer
from planweave.prompts import load
from planweave.tools.checking import CITATION, judge

__all__ = ["CITATION", "UNSUPPORTED", "citation_check", "find_support", "sentences"]

UNSUPPORTED = "(no source)"
"""The mark after a claim that no fact supports."""

_BEFORE_POINT = re.compile(r"\s*([.!?])((?:\s*\[\d+\])+)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[*A-ZÀ-Þ0-9])|\n+")


class Entailment(BaseModel):
    """The judge's verdict on one claim."""

    claim: int
    reason: str = Field(max_length=REASON)
    supported: bool


class Entailments(BaseModel):
    """The judge's reply."""

    verdicts: list[Entailment]


async def citation_check(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Check the decision by rules, and every sentence by rules or by a model.

    A claim that cites nothing gets the fact that supports it; a claim without support is marked.
    The answer gets a verdict even if its sentences are not checked.
    """
    answer, context = state["answer"], runtime.context
    if answer is None:
        return {}
    answer = add_known_facts(answer, state, context)
    report(runtime, "checking the answer")
    inline = context.in_words
    claims: list[Claim] = []
    update: WorkingMemory = {}
    if context.citation_check != "off" and (state["facts"] if inline else answer["facts"]):
        claims = _check_claims(answer, state, context)
        if context.citation_check == "model":
            claims, update = await _ask_judge(claims, state, runtime)
        answer = _mark_answer(answer, claims, inline=inline)
    return update | {"claims": claims, "answer": add_verdict(answer, claims, state, context)}


def _check_claims(answer: Answer, state: WorkingMemory, context: Context) -> list[Claim]:
    """Check each sentence of an answer against its facts."""
    inline = context.in_words
    cited = None if inline else answer["facts"]
    decided = bool(answer["decision"]) and check_answer(answer, state, context).kind == "supported"
    given = _ClaimContext(answer["decision"] or "", decided=decided, rules=context.rules)
    return [_check_claim(text, cited, state, given) for text in sentences(answer["why"])]


def sentences(text: str) -> list[str]:
    """The sentences of an answer, each with the citations that follow its end."""
    moved = _BEFORE_POINT.sub(lambda match: f"{match[2]}{match[1]}", text)
    return [sentence for part in _SENTENCE.split(moved) if (sentence := part.strip())]


class _ClaimContext(NamedTuple):
    """What a sentence may also refer to: the decision, whether it follows, and the rules."""

    decision: str = ""
    decided: bool = False
    rules: str = ""


def _find_problem(
    text: str, facts: Sequence[Fact], state: WorkingMemory, given: _ClaimContext
) -> str:
    """Why ``facts`` do not support a sentence; empty if they do."""
    found = judge(
        text,
        facts,
        question=state["question"],
        rules=given.rules,
        subject=given.decision,
        settled=given.decided,
    )
    return "" if found.truth else found.reason or "the facts that it cites do not say it"


def _check_claim(
    text: str, whole: list[int] | None, state: WorkingMemory, given: _ClaimContext
) -> Claim:
    """Check a claim against the facts that it cites, or those that the ``whole`` answer cites."""
    own = [int(number) for number in CITATION.findall(text)]
    cited = whole or own or find_support(text, state, given)
    facts = [fact for fact in state["facts"] if fact["number"] in cited]
    reason = _find_problem(text, facts, state, given) if facts else "it cites no fact"
    return Claim(text=text, facts=cited, supported=not reason, reason=reason)


def find_support(text: str, state: WorkingMemory, given: _ClaimContext | None = None) -> list[int]:
    """Find the first fact that alone supports a claim without citations."""
    given = given or _ClaimContext()
    return next(
        ([f["number"]] for f in state["facts"] if not _find_problem(text, [f], state, given)), []
    )


async def _ask_judge(
    claims: list[Claim], state: WorkingMemory, runtime: Runtime[Context]
) -> tuple[list[Claim], WorkingMemory]:
    """Ask the judge about the claims; a claim without its verdict stays unchanged."""
    task = load("documents/citation_check").fill(
        facts="\n".join(fact_text(fact) for fact in state["facts"]),
        claims="\n".join(f"{n}. {claim['text']}" for n, claim in enumerate(claims, start=1)),
    )
    reply = await ask_role("judge", Entailments, task, state, runtime)
    verdicts = {v.claim: v for v in reply.value.verdicts} if reply.value else {}
    judged: list[Claim] = [
        {**claim, "supported": verdicts[n].supported, "reason": verdicts[n].reason}
        if n in verdicts
        else claim
        for n, claim in enumerate(claims, start=1)
    ]
    return judged, spent(reply)


def _mark_answer(answer: Answer, claims: Sequence[Claim], *, inline: bool) -> Answer:
    """Add the citations found to an answer, and a mark to each unsupported claim."""
    parts = [_mark_claim(claim, inline=inline) for claim in claims]
    cited = [number for claim in claims for number in claim["facts"]]
    facts = list(dict.fromkeys([*answer["facts"], *cited]))
    return answer | {"why": " ".join(parts), "facts": facts}


def _mark_claim(claim: Claim, *, inline: bool) -> str:
    text = claim["text"]
    if not claim["supported"]:
        return f"{text} {UNSUPPORTED}"
    if inline and not CITATION.search(text):
        citations = "".join(f"[{number}]" for number in claim["facts"])
        return re.sub(r"\s*([.!?]?)$", rf" {citations}\1", text, count=1)
    return text
