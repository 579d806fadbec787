"""Reads problems and the rules that decide them.

A folder contains ``problems.jsonl[.gz]`` and ``rules_<domain>.txt`` for each domain. A problem has
``id``, ``domain``, ``level``, ``prompt`` and ``answer``: a number of dollars, or for the league
``{violation, operation, team}``. ``form_answer`` is a second right answer, ``doubts`` lists known
flaws of the problem.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from pydantic import BaseModel

from planweave import BadInput
from planweave.benchmarks.suites.query_writing.question import require_file
from planweave.records import read_records, read_text

Domain: TypeAlias = Literal["airline", "tax", "nba"]
DOMAINS: tuple[Domain, ...] = ("airline", "tax", "nba")

_FIX = "Give a folder with problems.jsonl (or .jsonl.gz) and a file rules_<domain>.txt per domain."


class LeagueVerdict(BaseModel):
    """Whether an operation violates the rules of the league, and if so, which and whose."""

    violation: bool
    operation: str | None = None
    team: str | None = None


class Problem(BaseModel):
    """A line of the problem file."""

    id: str
    domain: Domain
    level: int
    prompt: str
    answer: float | LeagueVerdict
    form_answer: float | None = None
    doubts: tuple[str, ...] = ()


class RuleBook(NamedTuple):
    """The rules of a domain: their file and its text."""

    path: Path
    text: str


class LoadedRules(NamedTuple):
    """The problems and rules of the requested domains."""

    problems: list[Problem]
    rules: dict[Domain, RuleBook]


def load(data: Path, domains: Sequence[Domain], levels: Sequence[int] = ()) -> LoadedRules:
    """Read the problems of these domains and levels, and the rules."""
    every = read_records(require_file(data, "problems", _FIX), Problem, fix=_FIX)
    wanted = [
        problem
        for problem in every
        if problem.domain in domains and (not levels or problem.level in levels)
    ]
    if not wanted:
        raise BadInput(f"{data} contains no problem of these domains and levels.", fix=_FIX)
    files = {domain: data / f"rules_{domain}.txt" for domain in domains}
    rules = {domain: RuleBook(file, read_text(file, fix=_FIX)) for domain, file in files.items()}
    return LoadedRules(wanted, rules)
