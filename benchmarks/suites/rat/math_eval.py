"""Word problems of GSM8K and GSM-Hard, and the number that a program returns."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from planweave import BadInput
from planweave.benchmarks.core.lines import read_published
from planweave.tools import sandbox

LIMITS = sandbox.SandboxLimits(seconds=20, cpu=5)

_NUMBER = re.compile(
    r"""
    (?: (?<![\w)]) [-\u2212] )? \$?                       # a sign, not a subtraction
    (?: (?: \d{1,3} (?:,\d{3})+ (?!\d) | \d+ ) (?:\.\d+)? | \.\d+ )
    (?: e[+-]?\d+ )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A model's program defines solution(), or assigns its result to a variable, or prints it.
_LAST = """
def _last():
    found = globals()
    value = found["solution"]() if callable(found.get("solution")) else None
    for name in ("answer", "result", "ans"):
        value = found.get(name) if value is None else value
    if value is not None:
        print("\\n" + repr(float(value)))
_last()
"""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One word problem, its answer, and the published program if there is one."""

    id: str
    question: str
    answer: float
    code: str = ""


class Computed(NamedTuple):
    """A program's number, or None with the sandbox's reason or ``no number``."""

    value: float | None
    reason: str


def load(path: Path) -> list[Problem]:
    """Load the problems of a published file of GSM8K or GSM-Hard, gzipped or not."""
    rows = read_published(path)
    try:
        return [_parse_problem(number, row) for number, row in enumerate(rows, 1)]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path} is not in a known format of word problems: {error!r}.",
            fix="Give a published file of GSM8K or GSM-Hard.",
        ) from error


def _parse_problem(number: int, row: Mapping[str, object]) -> Problem:
    if "target" in row:
        target, code = float(str(row["target"])), str(row["code"])
        return Problem(id=str(number), question=str(row["input"]), answer=target, code=code)
    _, mark, last = str(row["answer"]).rpartition("####")
    numbers = _numbers(last) if mark else []
    if not numbers:
        raise ValueError(f"problem {number} has no answer behind ####")
    return Problem(id=str(number), question=str(row["question"]), answer=numbers[-1])


def _numbers(text: str) -> list[float]:
    found = (match.group() for match in _NUMBER.finditer(text))
    return [float(re.sub("[$,]", "", one).replace("\u2212", "-")) for one in found]


def same_number(found: float | None, answer: float) -> bool:
    """Whether a number is the answer: within 0.001 as in PAL's evaluation, or 1e-9 of it."""
    return found is not None and math.isclose(found, answer, rel_tol=1e-9, abs_tol=1e-3)


def compute(program: str, *, limits: sandbox.SandboxLimits = LIMITS) -> Computed:
    """Run a program and return the result of its ``solution()``.

    Without this function, the result is the value of ``answer``, ``result`` or ``ans``, or else the
    last number printed.
    """
    ended = sandbox.run(program + _LAST, limits=limits)
    if ended.reason != "ok":
        return Computed(None, ended.reason)
    lines = ended.stdout.split("\n")
    try:  # solution() may return inf or nan, which are no answers
        value = next(float(line) for line in reversed(lines) if line.strip())
    except (ValueError, StopIteration):
        numbers = _numbers(ended.stdout)
        value = numbers[-1] if numbers else math.nan
    return Computed(value, "ok") if math.isfinite(value) else Computed(None, "no number")
