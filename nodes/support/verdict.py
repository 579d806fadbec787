"""Verdict: the result of the check of an answer, with its text for all interfaces."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from planweave.memory import (
    NO_DECISION,
    Answer,
    Claim,
    Context,
    Fact,
    Reading,
    Value,
    Verdict,
    VerdictKind,
    WorkingMemory,
)
from planweave.nodes.assist.row_answer import answer_from_rows
from planweave.tools.checking import DecisionCheck, check_decision, check_rows

LABELS: dict[VerdictKind, str] = {
    "supported": "In the facts",
    "unsure": "Not sure",
    "not_in_facts": "Not in the facts",
    "contradicted": "The facts say otherwise",
    "undecided": "Undecided",
}
_NO_BASIS = {"how": "stated", "column": ""}


def check_answer(answer: Answer, state: WorkingMemory, context: Context) -> DecisionCheck:
    """Whether the decision of an answer follows from the facts that it cites.

    A decision that cites none may follow from any fact.
    """
    basis, decision = answer.get("basis") or _NO_BASIS, answer["decision"] or ""
    made = answer_from_rows(state, context) if basis["how"] == "rows" else None
    if made is not None and made["decision"] == answer["decision"]:  # unless somebody has edited it
        fact = state["facts"][0]
        if fact.get("confirmed") and fact["table"]["complete"]:
            reason = f"You confirmed the query of fact [{fact['number']}] for this question."
            return DecisionCheck("supported", reason, (fact["number"],))
        return check_rows(fact, state["question"], trusted=fact.get("agreement") == 1)
    if basis["how"] == "learned":
        numbers = "".join(f"[{number}]" for number in answer["facts"])
        return DecisionCheck(
            "supported", f"A learned query gives it {numbers}.", tuple(answer["facts"])
        )
    cited = [fact for fact in state["facts"] if fact["number"] in answer["facts"]]
    if cited and (found := _check_ranking(decision, cited[-1], context)):
        return found
    found = check_decision(
        decision,
        cited or state["facts"],
        question=state["question"],
        rules=context.rules,
        how=basis["how"],
        column=basis["column"],
        read=state["facts"],
    )
    if found.kind == "contradicted" and not _is_admitted(found.gives, context):
        return DecisionCheck("not_in_facts", found.reason)
    return found


def _check_ranking(decision: str, fact: Fact, context: Context) -> DecisionCheck | None:
    """Whether a decision is the first of a ranking; None if the fact is not such a ranking.

    The program made the ranking. The reason names what its query leaves out.
    """
    doubts, known = fact.get("doubts"), _known_options(context)
    options = ranked_options(
        fact, lambda name: name.casefold() if not known or name.casefold() in known else None
    )
    if doubts is None or not options or options[0][0] != decision.strip().casefold():
        return None
    if len(options) > 1 and options[0][1] == options[1][1]:
        return DecisionCheck("not_in_facts", "Another option has the same value.")
    if doubts:
        return DecisionCheck("not_in_facts", " ".join(doubts))
    number, column = fact["number"], fact["table"]["columns"][-1]
    reason = f"It has the {fact['ranks']} {column} in fact [{number}]."
    return DecisionCheck("supported", reason, (number,))


def ranked_options(fact: Fact, admit: Callable[[str], str | None]) -> list[tuple[str, Value]]:
    """The options of a ranking that ``admit`` names, best first, each with its value.

    Empty if the fact ranks nothing.
    """
    rows = fact["table"]["rows"] if "table" in fact and "ranks" in fact else []
    return [
        (option, row[-1])
        for row in rows
        if row[-1] is not None and (option := admit(str(row[0]))) is not None
    ]


def _known_options(context: Context) -> set[str]:
    return {candidate.casefold() for candidate in context.candidates}


def _is_admitted(given: str, context: Context) -> bool:
    known = _known_options(context)
    return not known or not {one.casefold() for one in given.split(" or ")}.isdisjoint(known)


def add_verdict(
    answer: Answer, claims: Sequence[Claim], state: WorkingMemory, context: Context
) -> Answer:
    """Add the verdict to an answer; a strict context withholds a decision without support.

    A requested program or text gets no verdict, since it is not an answer from facts.
    """
    if "verdict" in answer or context.family != "answer":
        return answer
    if not answer["decision"] and not (answer["why"] and context.in_words):
        return withhold_decision(answer, answer["unknown"])
    kind, reason, other = _check_answer(answer, claims, state, context)
    if context.strict and kind != "supported":
        answer = withhold_decision(answer, reason)
    else:
        answer = answer | {"verdict": Verdict(kind=kind, text=_verdict_text(kind, reason))}
    if other:
        answer["verdict"]["other"] = other
    return answer


class _Finding(NamedTuple):
    """The kind and reason of a verdict, and the other reading if it is the reason."""

    kind: VerdictKind
    reason: str
    other: Reading | None = None


def _check_answer(
    answer: Answer, claims: Sequence[Claim], state: WorkingMemory, context: Context
) -> _Finding:
    """Check the decision, or else the sentences of the text.

    The reasons of the answer that no decision helps are checked: no row or column states it.
    """
    if answer["decision"] and answer["decision"] != NO_DECISION:
        found = check_answer(answer, state, context)
        if found.kind == "supported" and (doubt := _find_doubt(answer, state, context)):
            return doubt
        rows = (answer.get("basis") or _NO_BASIS)["how"] == "rows"
        kind = "unsure" if rows and found.kind == "not_in_facts" else found.kind
        return _Finding(kind, found.reason)
    if not claims:
        return _Finding("not_in_facts", "The answer was not checked.")
    wrong = [claim for claim in claims if not claim["supported"]]
    if wrong:
        return _Finding("not_in_facts", f"{len(wrong)} of {len(claims)} sentences have no source.")
    if doubt := _find_doubt(answer, state, context):
        return doubt
    return _Finding("supported", "Every sentence has its source.")


def _find_doubt(answer: Answer, state: WorkingMemory, context: Context) -> _Finding | None:
    """Doubt the cited fact that the fewest queries gave, if they are too few."""
    cited = [f for f in state["facts"] if not answer["facts"] or f["number"] in answer["facts"]]
    shares = [(fact.get("agreement", 1.0), fact.get("other")) for fact in cited]
    least, other = min(shares, key=lambda share: share[0], default=(1.0, None))
    if least >= context.agreement_needed:
        return None
    reason = f"Only {least:.0%} of the queries tried for this returned these rows."
    return _Finding("unsure", reason, other)


def withhold_decision(answer: Answer, reason: str, gives: str = "") -> Answer:
    """Remove the decision of an answer; the verdict keeps it, and what a rule ``gives`` instead."""
    verdict = Verdict(kind="undecided", text=_verdict_text("undecided", reason))
    if named := answer["decision"]:
        verdict["said"] = named
        stated = f'the model says "{named}"'
        differs = f'{stated}; the rule gives "{gives}"' if gives else stated
        verdict["text"] = _verdict_text("undecided", f"{differs}. {reason}")
    if gives:
        verdict["gives"] = gives
    return answer | {"decision": None, "verdict": verdict}


def _verdict_text(kind: VerdictKind, reason: str) -> str:
    label = LABELS[kind]
    reason = reason.strip()
    if not reason:
        return f"{label}."
    is_acronym = reason[1:2].isupper()
    return f"{label}: {reason if is_acronym else reason[0].lower() + reason[1:]}"


def other_reading_text(answer: Answer, mark: str = "") -> str:
    """The other reading of an answer in doubt, with ``mark`` around its query; may be empty."""
    verdict = answer.get("verdict")
    other = verdict.get("other") if verdict else None
    if other is None:
        return ""
    return f"Another reading: {other['text']} ({mark}{' '.join(other['query'].split())}{mark})"


def find_warning(answer: Answer) -> str:
    """The text of a verdict other than supported; empty without one."""
    verdict = answer.get("verdict")
    return "" if verdict is None or verdict["kind"] == "supported" else verdict["text"]
