"""Word problems of GSM8K and GSM-Hard: the number in a reply, or the number a program returns.

Run ``python -m planweave.benchmarks.suites.rat.math_eval --data FOLDER [--output FILE]``: how often
the answer is found in GSM8K's own solutions without the mark before it, and how many of GSM-Hard's
own programs give their target when they are run in the sandbox as a model's would be.
"""

import argparse
import math
import re
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from planweave import BadInput, PlanweaveError
from planweave.benchmarks.core.lines import published
from planweave.benchmarks.suites.rat.code_eval import report
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
_FINAL = re.compile(r"####|\\boxed\s*\{|\banswer\b(?:\s+is)?\s*:?", re.IGNORECASE)
# A model's program defines solution(), or leaves its result in a variable, or prints it.
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
    """One word problem, its answer, and the published program or worked solution."""

    id: str
    question: str
    answer: float
    code: str = ""
    worked: str = ""


class Computed(NamedTuple):
    """What a program gave: a number, or None with the sandbox's reason or ``no number``."""

    value: float | None
    reason: str


def load(path: Path) -> list[Problem]:
    """Problems of a published file of GSM8K or GSM-Hard, gzipped or not.

    Raises:
        BadInput: It cannot be read or is in another format.
    """
    rows = published(path)
    try:
        return [_problem(number, row) for number, row in enumerate(rows, 1)]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path} is not in a known format of word problems: {error!r}.",
            fix="Give a published file of GSM8K or GSM-Hard.",
        ) from error


def _problem(number: int, row: Mapping[str, object]) -> Problem:
    if "target" in row:
        target, code = float(str(row["target"])), str(row["code"])
        return Problem(id=str(number), question=str(row["input"]), answer=target, code=code)
    worked, mark, last = str(row["answer"]).rpartition("####")
    answer = final_number(last) if mark else None
    if answer is None:
        raise ValueError(f"problem {number} has no answer behind ####")
    worked = re.sub("<<.*?>>", "", worked)  # the annotations of a calculator
    return Problem(id=str(number), question=str(row["question"]), answer=answer, worked=worked)


def final_number(text: str) -> float | None:
    """The number that a reply ends in: the first behind its last mark of an answer, else its last.

    Marks are ``####``, a box of TeX and the word answer. Signs of currency, blanks and thousands
    separators are passed over, and a percent sign is not reckoned with.
    """
    *_, last = [0, *(mark.end() for mark in _FINAL.finditer(text))]
    behind = _numbers(text[last:]) if last else []
    everywhere = _numbers(text)
    return behind[0] if behind else everywhere[-1] if everywhere else None


def _numbers(text: str) -> list[float]:
    found = (match.group() for match in _NUMBER.finditer(text))
    return [float(re.sub("[$,]", "", one).replace("\u2212", "-")) for one in found]


def same_number(found: float | None, answer: float) -> bool:
    """Whether a number is the answer: within 0.001 as in PAL's evaluation, or 1e-9 of it."""
    return found is not None and math.isclose(found, answer, rel_tol=1e-9, abs_tol=1e-3)


def compute(
    program: str, *, limits: sandbox.SandboxLimits = LIMITS, unprotected: bool = False
) -> Computed:
    """Run a program; its number is what ``solution()`` returns.

    Without such a function it is what ``answer`` or ``result`` holds, else the last number printed.

    Raises:
        SandboxUnavailable: Programs cannot be confined here.
    """
    ended = sandbox.run(program + _LAST, limits=limits, unprotected=unprotected)
    if ended.reason != "ok":
        return Computed(None, ended.reason)
    lines = ended.stdout.split("\n")
    try:  # what solution() returned, also as inf or nan, which are no answers
        value = next(float(line) for line in reversed(lines) if line.strip())
    except (ValueError, StopIteration):
        numbers = _numbers(ended.stdout)
        value = numbers[-1] if numbers else math.nan
    return Computed(value, "ok") if math.isfinite(value) else Computed(None, "no number")


@dataclass(frozen=True, kw_only=True)
class Result:
    """One line of the benchmark: what agreed with the published answer, and what did not."""

    suite: str
    problems: int
    agreed: int
    failed: list[str]
    seconds: float


def run(folder: Path, jobs: int, limit: int | None = None) -> list[Result]:
    """Measure what there is in a folder of the published files, under their published names."""
    results = []
    if (path := folder / "gsm8k_test.jsonl.gz").exists():
        results.append(_unmarked(load(path)[:limit]))
    if (path := folder / "gsm_hard.jsonl.gz").exists():
        results.append(_programs(load(path)[:limit], jobs))
    if not results:
        raise BadInput(f"{folder} holds neither gsm8k_test.jsonl.gz nor gsm_hard.jsonl.gz.")
    return results


def _unmarked(problems: list[Problem]) -> Result:
    """How often the last number of a solution is its answer where no mark says which it is."""
    found = [(problem, final_number(problem.worked)) for problem in problems]
    return _result(
        "GSM8K, last number of an unmarked solution",
        [(problem, Computed(value, "ok")) for problem, value in found],
        0.0,
    )


def _programs(problems: list[Problem], jobs: int) -> Result:
    start = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(compute, (problem.code for problem in problems)))
    seconds = round(time.monotonic() - start, 1)
    return _result("GSM-Hard, published programs", list(zip(problems, found, strict=True)), seconds)


def _result(suite: str, found: list[tuple[Problem, Computed]], seconds: float) -> Result:
    failed = [
        f"{problem.id}: {one.reason}, {one.value} for {problem.answer}"
        for problem, one in found
        if not same_number(one.value, problem.answer)
    ]
    agreed = len(found) - len(failed)
    return Result(suite=suite, problems=len(found), agreed=agreed, failed=failed, seconds=seconds)


def main(arguments: list[str] | None = None) -> int:
    """Print one line per suite."""
    parser = argparse.ArgumentParser(
        prog="python -m planweave.benchmarks.suites.rat.math_eval", description=__doc__
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the published files")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--limit", type=int, help="problems of each file")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    given = parser.parse_args(arguments)
    try:
        results = run(given.data, max(1, given.jobs), given.limit)
    except PlanweaveError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return error.exit_code
    for r in results:
        print(f"{r.suite:<44} {r.agreed:>5} of {r.problems:<5} {r.seconds:>7.1f} s")  # noqa: T201
    if given.output:
        words = [
            "python",
            "-m",
            "planweave.benchmarks.suites.rat.math_eval",
            *(arguments or sys.argv[1:]),
        ]
        given.output.write_text(report(words, [asdict(r) for r in results]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
