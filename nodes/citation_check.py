"""Citation check: does each claim of the answer rest on the facts that it cites?"""

import re
from collections.abc import Sequence

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from memory import Answer, Claim, Context, Fact, WorkingMemory
from nodes.briefing import fact_text
from nodes.role import ask_role, failures, usage
from prompts import load
from tools.documents.quotes import adds, alike, numbers, tells, unsaid

CITATION = re.compile(r"\[(\d+)\]")
UNSUPPORTED = "(no source)"
"""Stands behind a claim that no fact supports."""

_WORKED = "calculator"
_BEFORE_POINT = re.compile(r"\s*([.!?])((?:\s*\[\d+\])+)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[*A-ZÀ-Þ0-9])|\n+")


class Entailment(BaseModel):
    """The judge's verdict on one claim."""

    claim: int
    reason: str = Field(max_length=200)
    supported: bool


class Entailments(BaseModel):
    """The judge's reply."""

    verdicts: list[Entailment]


async def citation_check(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Check every claim by its words and numbers or by a model, as the context says.

    A claim that cites nothing gets the fact that supports it; one that no fact supports is marked.
    """
    answer = state["answer"]
    if runtime.context.citation_check == "off":
        return {}
    inline = in_words(runtime.context)
    if answer is None or not (state["facts"] if inline else answer["facts"]):
        return {}
    cited = None if inline else answer["facts"]
    claims = [_checked(text, cited, state) for text in sentences(answer["why"])]
    update: WorkingMemory = {}
    if runtime.context.citation_check == "model":
        claims, update = await _judged(claims, state, runtime)
    return update | {"claims": claims, "answer": _marked(answer, claims, inline=inline)}


def in_words(context: Context) -> bool:
    """Whether the answer is a text that cites facts in it, and not a decision that cites them."""
    return context.has_documents and not context.candidates


def sentences(text: str) -> list[str]:
    """The sentences of an answer, each with the citations that follow its end."""
    moved = _BEFORE_POINT.sub(lambda match: f"{match[2]}{match[1]}", text)
    return [sentence for part in _SENTENCE.split(moved) if (sentence := part.strip())]


def supports(claim: str, facts: Sequence[Fact], question: str) -> str:
    """Why ``facts`` do not support ``claim``; empty if they do.

    Its numbers must stand in them, rounded perhaps; and half of its words, if all are quotes from
    documents: the rows of a database are not said in words. Words of the question count as well,
    if the claim takes anything at all from the facts; of what was worked out, the result.
    """
    plain = CITATION.sub("", claim)
    there = said_by(facts)
    if missing := unsaid(plain, f"{there} {question}"):
        return f"{missing} stands in no fact that it cites"
    worked = all(fact["source"] == _WORKED for fact in facts)
    if worked and numbers(plain) and not says_result(plain, facts):
        return "it does not say what was worked out"
    if not all(fact["quote"] for fact in facts):
        return ""
    if not alike(plain, f"{there} {question}"):
        return "its words do not stand in the facts that it cites"
    if not (adds(plain, there, question) or alike(plain, there)):
        return "it says again what was asked, and nothing from the facts that it cites"
    return ""


def says_result(claim: str, facts: Sequence[Fact]) -> bool:
    """Whether a claim holds the number that one of the facts came to by the calculator."""
    results = [fact["text"].rpartition("=")[2] for fact in facts if fact["source"] == _WORKED]
    return tells(claim, " ".join(results))


def said_by(facts: Sequence[Fact]) -> str:
    """What facts state, and the words that they quote."""
    return " ".join(f"{fact['text']} {(fact['quote'] or {'text': ''})['text']}" for fact in facts)


def _checked(text: str, whole: list[int] | None, state: WorkingMemory) -> Claim:
    """A claim with the facts that it cites, or that a decision cites as a ``whole``."""
    cited = whole or [int(number) for number in CITATION.findall(text)] or supporting(text, state)
    facts = [fact for fact in state["facts"] if fact["number"] in cited]
    reason = supports(text, facts, state["question"]) if facts else "it cites no fact"
    return Claim(text=text, facts=cited, supported=not reason, reason=reason)


def supporting(text: str, state: WorkingMemory) -> list[int]:
    """The first fact that by itself supports a claim that cites none."""
    return next(
        ([f["number"]] for f in state["facts"] if not supports(text, [f], state["question"])), []
    )


async def _judged(
    claims: list[Claim], state: WorkingMemory, runtime: Runtime[Context]
) -> tuple[list[Claim], WorkingMemory]:
    """The claims as the judge sees them; one that it does not name stays as it was checked."""
    task = load("documents/citation_check").fill(
        facts="\n".join(fact_text(fact) for fact in state["facts"]),
        claims="\n".join(f"{n}. {claim['text']}" for n, claim in enumerate(claims, start=1)),
    )
    reply = await ask_role("judge", Entailments, task, state, runtime)
    verdicts = {v.claim: v for v in reply.value.verdicts} if reply.value else {}
    judged = [
        Claim(
            text=claim["text"],
            facts=claim["facts"],
            supported=verdicts[n].supported if n in verdicts else claim["supported"],
            reason=verdicts[n].reason if n in verdicts else claim["reason"],
        )
        for n, claim in enumerate(claims, start=1)
    ]
    return judged, {"usage": usage(reply), "failures": failures(reply)}


def _marked(answer: Answer, claims: Sequence[Claim], *, inline: bool) -> Answer:
    """The answer with the citations that were found and a mark on what nothing supports."""
    parts = [_mark(claim, inline=inline) for claim in claims]
    cited = [number for claim in claims for number in claim["facts"]]
    return Answer(
        decision=answer["decision"],
        why=" ".join(parts),
        facts=list(dict.fromkeys([*answer["facts"], *cited])),
        unknown=answer["unknown"],
    )


def _mark(claim: Claim, *, inline: bool) -> str:
    text = claim["text"]
    if not claim["supported"]:
        return f"{text} {UNSUPPORTED}"
    if inline and not CITATION.search(text):
        citations = "".join(f"[{number}]" for number in claim["facts"])
        return re.sub(r"\s*([.!?]?)$", rf" {citations}\1", text, count=1)
    return text
