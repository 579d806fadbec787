"""Agreement: takes the answer that most of several runs give."""

import re
from collections.abc import Sequence

from langgraph.types import Overwrite

from planweave.memory import Answer, Claim, Member, WorkingMemory
from planweave.nodes.support.verdict import withhold_decision

_WORD = re.compile(r"(?:(?<!\w)-(?=\d))?\w+(?:[.,]\d+)*%?")
_NO_ANSWER = withhold_decision(
    Answer(decision=None, why="", facts=[], unknown=""), "No run came to an answer."
)


def agreement(state: WorkingMemory) -> WorkingMemory:
    """Take the answer of the best run, with its plan, facts and claims.

    Runs agree if their decisions have the same words and numbers. Among the runs that agree with
    most others, the one with the best supported claims is best. Answers without a decision are
    compared by their shared words.
    """
    answered = [member for member in state["members"] if member["answer"]]
    best = max(answered, key=lambda one: _rank(one, answered), default=None)
    if best is None:
        return {"answer": _NO_ANSWER, "agreement": 0.0}
    agreeing = sum(_similarity(best, other) == 1 for other in answered)
    return {
        "answer": best["answer"],
        "plan": best["plan"],
        "facts": Overwrite(best["facts"]),  # type: ignore[typeddict-item]  # each run numbers its own
        "turns": best["turns"],
        "claims": best["claims"],
        "agreement": agreeing / len(state["members"]),
    }


def _rank(member: Member, others: Sequence[Member]) -> tuple[float, float, int]:
    """How far the others agree, and how well its claims are supported; the first run wins a tie."""
    return (
        sum(_similarity(member, other) for other in others),
        support_rate(member["claims"]),
        -member["number"],
    )


def support_rate(claims: Sequence[Claim]) -> float:
    """The share of claims that their facts support; 0 without claims."""
    return sum(claim["supported"] for claim in claims) / len(claims) if claims else 0.0


def _similarity(left: Member, right: Member) -> float:
    """1 for the same decision, else 0; without decisions, the share of common words."""
    first, second = left["answer"], right["answer"]
    if first is None or second is None:
        return 0.0
    if first["decision"] or second["decision"]:
        return float(_words(first["decision"] or "") == _words(second["decision"] or ""))
    mine, theirs = set(_words(first["why"])), set(_words(second["why"]))
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("\N{MINUS SIGN}", "-"))
