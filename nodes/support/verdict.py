"""Verdict: what the check of an answer came to, made and worded in one place for all interfaces."""

from collections.abc import Sequence

from planweave.memory import (
    NO_DECISION,
    Answer,
    Claim,
    Context,
    Fact,
    Verdict,
    VerdictKind,
    WorkingMemory,
)
from planweave.nodes.assist.row_answer import row_answer
from planweave.tools.checking import DecisionCheck, check_decision, check_rows

LABELS: dict[VerdictKind, str] = {
    "supported": "In the facts",
    "unsure": "Not sure",
    "not_in_facts": "Not in the facts",
    "contradicted": "The facts say otherwise",
    "undecided": "Undecided",
}
_NO_BASIS = {"how": "stated", "column": ""}
_HALF = 0.5
_UNLIKELY = 0.2
"""What a model finds less likely is in doubt even if all candidate queries returned it."""


def followed(answer: Answer, state: WorkingMemory, context: Context) -> DecisionCheck:
    """Whether the decision of an answer follows from the facts that it cites.

    A decision that cites none may follow from any fact.
    """
    basis = answer.get("basis") or _NO_BASIS
    made = row_answer(state, context) if basis["how"] == "rows" else None
    if made is not None and made["decision"] == answer["decision"]:  # nobody has edited it
        fact = state["facts"][0]
        return check_rows(fact, state["question"], trusted=_is_trusted(fact, context))
    if basis["how"] == "learned":
        cited = "".join(f"[{number}]" for number in answer["facts"])
        return DecisionCheck(
            "supported", f"A learned query gives it {cited}.", tuple(answer["facts"])
        )
    ranking = next((f for f in reversed(state["facts"]) if f["number"] in answer["facts"]), None)
    if ranking and (led := _led(answer["decision"] or "", ranking, context)):
        return led
    cited_facts = [fact for fact in state["facts"] if fact["number"] in answer["facts"]]
    found = check_decision(
        answer["decision"] or "",
        cited_facts or state["facts"],
        question=state["question"],
        rules=context.rules,
        how=basis["how"],
        column=basis["column"],
        read=state["facts"],
    )
    if found.kind == "contradicted" and not _admits(found.gives, context):
        return DecisionCheck("not_in_facts", found.reason)
    return found


def _led(decision: str, fact: Fact, context: Context) -> DecisionCheck | None:
    """Whether a decision follows because it leads a ranking; None where the ranking was not read.

    The program has carried the ranking out. What its query leaves out is said.
    """
    table, how, doubts = fact.get("table"), fact.get("ranks"), fact.get("doubts")
    if table is None or how is None or doubts is None:
        return None
    known = {candidate.casefold() for candidate in context.candidates}
    rows = [
        (option, row[-1])
        for row in table["rows"]
        if row[-1] is not None and ((option := str(row[0]).casefold()) in known or not known)
    ]
    if not rows or rows[0][0] != decision.strip().casefold():
        return None
    if len(rows) > 1 and rows[0][1] == rows[1][1]:
        return DecisionCheck("not_in_facts", "Another option has the same value.")
    if doubts:
        return DecisionCheck("not_in_facts", " ".join(doubts))
    number = fact["number"]
    return DecisionCheck(
        "supported", f"It has the {how} {table['columns'][-1]} in fact [{number}].", (number,)
    )


def _admits(given: str, context: Context) -> bool:
    """Whether what a rule gives is a decision that the question admits."""
    known = {candidate.casefold() for candidate in context.candidates}
    return not known or not {one.casefold() for one in given.split(" or ")}.isdisjoint(known)


def with_verdict(
    answer: Answer, claims: Sequence[Claim], state: WorkingMemory, context: Context
) -> Answer:
    """The answer with its verdict; a decision is withheld where the context is strict.

    What is no answer from facts, as a program or a text that was asked for, has no verdict.
    """
    if "verdict" in answer or context.family != "answer":
        return answer
    if not answer["decision"] and not (answer["why"] and context.in_words):
        return undecided(answer, answer["unknown"])
    kind, reason = _checked(answer, claims, state, context)
    if context.strict and kind != "supported":
        return undecided(answer, reason)
    return answer | {"verdict": Verdict(kind=kind, text=_worded(kind, reason))}


def _checked(
    answer: Answer, claims: Sequence[Claim], state: WorkingMemory, context: Context
) -> tuple[VerdictKind, str]:
    """The verdict on a decision is that of the decision, on a text that of its sentences.

    That no decision improves anything is in no row or column: its reasons are checked.
    """
    if answer["decision"] and answer["decision"] != NO_DECISION:
        found = followed(answer, state, context)
        if found.kind == "supported" and (doubt := _doubt(answer, state, context)):
            return "unsure", doubt
        rows = (answer.get("basis") or _NO_BASIS)["how"] == "rows"
        return ("unsure" if rows and found.kind == "not_in_facts" else found.kind), found.reason
    if not claims:
        return "not_in_facts", "The answer was not checked."
    wrong = [claim for claim in claims if not claim["supported"]]
    if wrong:
        return "not_in_facts", f"{len(wrong)} of {len(claims)} sentences have no source."
    if doubt := _doubt(answer, state, context):
        return "unsure", doubt
    return "supported", "Every sentence has its source."


def _doubt(answer: Answer, state: WorkingMemory, context: Context) -> str:
    """Why the facts themselves are in doubt: other queries returned something else."""
    cited = [f for f in state["facts"] if not answer["facts"] or f["number"] in answer["facts"]]
    shares = [fact.get("agreement", 1.0) for fact in cited if _is_doubted(fact, context)]
    if not shares:
        return ""
    if (least := min(shares)) == 1:
        return "The model itself doubts that these rows are the answer."
    return f"Only {least:.0%} of the queries tried for this returned these rows."


def _is_doubted(fact: Fact, context: Context) -> bool:
    """Whether candidate queries or the model speak against it."""
    if "chance" in fact:
        return not _is_trusted(fact, context)
    return fact.get("agreement", 1.0) < context.agreement_needed


def _is_trusted(fact: Fact, context: Context) -> bool:
    """Whether candidate queries and the model speak for it.

    Half of the queries are enough where the model finds it likely that this is the answer, and all
    are not where the model finds it most unlikely.
    """
    share, chance = fact.get("agreement", 0.0), fact.get("chance")
    if chance is None:
        return share == 1
    if share >= (1.0 if context.least_agreement is None else context.least_agreement):
        return chance >= _UNLIKELY
    return share >= _HALF and chance >= context.rightness_needed


def undecided(answer: Answer, reason: str, gives: str = "") -> Answer:
    """The answer without a decision; one that it had is kept in the verdict."""
    verdict = Verdict(kind="undecided", text=_worded("undecided", reason))
    if named := answer["decision"]:
        verdict["said"] = named
        says = f'the model says "{named}"'
        differs = f'{says}; the rule gives "{gives}"' if gives else says
        verdict["text"] = _worded("undecided", f"{differs}. {reason}")
    if gives:
        verdict["gives"] = gives
    return answer | {"decision": None, "verdict": verdict}


def _worded(kind: VerdictKind, reason: str) -> str:
    label = LABELS[kind]
    reason = reason.strip()
    if not reason:
        return f"{label}."
    is_acronym = reason[1:2].isupper()
    return f"{label}: {reason if is_acronym else reason[0].lower() + reason[1:]}"


def is_good(answer: Answer) -> bool:
    """Whether an answer may be shown in the colour of success."""
    return not warning(answer)


def warning(answer: Answer) -> str:
    """The verdict in words, where it is not that the facts say so; else nothing."""
    verdict = answer.get("verdict")
    return "" if verdict is None or verdict["kind"] == "supported" else verdict["text"]
