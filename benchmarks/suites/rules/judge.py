"""Scores an answer by the rule of its domain."""

import re

from pydantic import JsonValue

from planweave.benchmarks.core.record import Score
from planweave.benchmarks.suites.agents.quantity import quantities, split_result
from planweave.benchmarks.suites.rules.load import LeagueVerdict, Problem
from planweave.memory import Answer

_CENT = 0.011
_DOLLAR = 1.0
_NO_VIOLATION = re.compile(
    r"^\s*(?:no|none|false)\b|\bno (?:\w+ )?violations?\b|\bnot (?:a )?violat", re.IGNORECASE
)
_OPERATION = re.compile(r"\boperation\s+([A-Z])\b|(?:^|[:(,])\s*([A-Z])\s*(?=[,;.)]|$)", re.I)
_TEAM = re.compile(r"\bteam\s+([A-Z])\b", re.IGNORECASE)


def score_answer(problem: Problem, answer: Answer | None) -> Score:
    """1 for the right answer, 0 for a wrong or missing one.

    Fees are compared to a cent, taxes to a dollar. If the printed form gives another tax than the
    reference, either is right. A league answer must have all parts right: whether there is a
    violation, the operation and the team.
    """
    gold = problem.answer
    given = (answer["decision"] if answer else None) or None
    parts = (
        _check_verdict(given, gold)
        if isinstance(gold, LeagueVerdict)
        else _check_amount(given, problem)
    )
    right = bool(parts) and all(parts.values())
    return Score(
        value=float(right),
        answer=given,
        explanation=f"{given or 'no answer'}; right is {_gold_text(problem)}",
        details={
            "domain": problem.domain,
            "level": problem.level,
            "gold": _gold_text(problem),
            "doubts": list[JsonValue](problem.doubts),
            "parts": dict[str, JsonValue](parts),
        },
    )


def _check_amount(given: str | None, problem: Problem) -> dict[str, bool]:
    amount = read_amount(given or "")
    if amount is None:
        return {}
    within = _DOLLAR if problem.domain == "tax" else _CENT
    golds = (problem.answer, problem.form_answer)
    right = any(isinstance(gold, float) and abs(amount - gold) <= within for gold in golds)
    return {"amount": right}


def read_amount(given: str) -> float | None:
    """The single amount in an answer, negative for a refund; None if it is unclear.

    Text in brackets is ignored; the last side of an equation counts.
    """
    plain, _ = split_result(given)
    found = [one for one in quantities(plain) if not (one.percent or one.unit)]
    money = [one for one in found if one.currency]
    amounts = {one.value * one.scale for one in money or found}
    if len(amounts) != 1:
        return None
    (amount,) = amounts
    is_back = re.search(r"\b(overpa\w+|refund\w*)\b", plain, re.IGNORECASE)
    return -amount if is_back and amount > 0 else amount


def _check_verdict(given: str | None, gold: LeagueVerdict) -> dict[str, bool]:
    if not given:
        return {}
    violates = not _NO_VIOLATION.search(given)
    if not (gold.violation and violates):
        return {"violation": violates == gold.violation}
    operations = {(one or other).upper() for one, other in _OPERATION.findall(given)}
    teams = {team.upper() for team in _TEAM.findall(given)}
    return {
        "violation": True,
        "operation": operations == {gold.operation},
        "team": teams == {gold.team},
    }


def _gold_text(problem: Problem) -> str:
    gold = problem.answer
    if isinstance(gold, LeagueVerdict):
        where = f": {gold.operation}, Team {gold.team}" if gold.violation else ""
        return f"{'violation' if gold.violation else 'no violation'}{where}"
    golds = [gold, *([problem.form_answer] if problem.form_answer is not None else [])]
    return " or ".join(f"${one:,.2f}".replace("$-", "-$") for one in golds)
