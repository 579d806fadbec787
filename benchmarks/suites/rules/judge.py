"""Whether an answer is the right one, by the rule of its domain."""

import re

from pydantic import JsonValue

from planweave.benchmarks.core.record import Score
from planweave.benchmarks.suites.agents.quantity import quantities, result_of
from planweave.benchmarks.suites.rules.load import LeagueVerdict, Problem
from planweave.memory import Answer

_CENT = 0.011
_DOLLAR = 1.0
_NO_VIOLATION = re.compile(
    r"^\s*(?:no|none|false)\b|\bno (?:\w+ )?violations?\b|\bnot (?:a )?violat", re.IGNORECASE
)
_OPERATION = re.compile(r"\boperation\s+([A-Z])\b|(?:^|[:(,])\s*([A-Z])\s*(?=[,;.)]|$)", re.I)
_TEAM = re.compile(r"\bteam\s+([A-Z])\b", re.IGNORECASE)


def scored(problem: Problem, answer: Answer | None) -> Score:
    """1 for the right answer, 0 for another one and for none.

    Fees are compared to a cent, taxes to a dollar; where the printed form gives another tax than
    the reference, either is right. Of the league all must be right: that there is a violation, by
    which operation, and by which team.
    """
    gold = problem.answer
    given = (answer["decision"] if answer else None) or None
    parts = _league(given, gold) if isinstance(gold, LeagueVerdict) else _dollars(given, problem)
    right = bool(parts) and all(parts.values())
    return Score(
        value=float(right),
        answer=given,
        explanation=f"{given or 'no answer'}; right is {_shown(problem)}",
        details={
            "domain": problem.domain,
            "level": problem.level,
            "gold": _shown(problem),
            "doubts": list[JsonValue](problem.doubts),
            "parts": dict[str, JsonValue](parts),
        },
    )


def _dollars(given: str | None, problem: Problem) -> dict[str, bool]:
    amount = amount_of(given or "")
    if amount is None:
        return {}
    within = _DOLLAR if problem.domain == "tax" else _CENT
    golds = (problem.answer, problem.form_answer)
    right = any(isinstance(gold, float) and abs(amount - gold) <= within for gold in golds)
    return {"amount": right}


def amount_of(given: str) -> float | None:
    """The one amount that an answer gives, negative for what is paid back; None if it is unclear.

    Text in brackets only explains it; of an equation the last side counts.
    """
    plain, _ = result_of(given)
    found = [one for one in quantities(plain) if not (one.percent or one.unit)]
    money = [one for one in found if one.currency]
    amounts = {one.value * one.scale for one in money or found}
    if len(amounts) != 1:
        return None
    (amount,) = amounts
    is_back = re.search(r"\b(overpa\w+|refund\w*)\b", plain, re.IGNORECASE)
    return -amount if is_back and amount > 0 else amount


def _league(given: str | None, gold: LeagueVerdict) -> dict[str, bool]:
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


def _shown(problem: Problem) -> str:
    gold = problem.answer
    if isinstance(gold, LeagueVerdict):
        where = f": {gold.operation}, Team {gold.team}" if gold.violation else ""
        return f"{'violation' if gold.violation else 'no violation'}{where}"
    golds = [gold, *([problem.form_answer] if problem.form_answer is not None else [])]
    return " or ".join(f"${one:,.2f}".replace("$-", "-$") for one in golds)
