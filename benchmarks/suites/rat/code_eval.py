"""Runs the tests of HumanEval(+) and MBPP(+) on programs in the sandbox."""

import ast
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import NamedTuple, TypeAlias
from uuid import uuid4

from planweave import BadInput
from planweave.benchmarks.core.lines import read_published
from planweave.tools import sandbox

Row: TypeAlias = Mapping[str, object]

LIMITS = sandbox.SandboxLimits(seconds=60, cpu=30, memory=1 << 30)
_DEFINED = re.compile(r"^def\s+(\w+)", re.MULTILINE)
# A passing program ends by echoing its input, so that one that exits early does not pass.
_LAST = "\nimport sys as _sys\n_sys.stdout.write(chr(10) + _sys.stdin.read())\n"
_CONSTANTS = "inf, nan = float('inf'), float('nan')\n"
# MBPP+ compares the results of _SETS as sets, and those of _PRESENCE by whether there is a match.
_SETS = {"similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"}
_SETS |= {"larg_nnum", "intersection_array", "find_dissimilar", "Diff"}
_PRESENCE = {"check_str", "text_match_three", "text_starta_endb"}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One task."""

    id: str
    prompt: str  # the head of a function, or a sentence with an example
    head: str  # the code in `prompt` that a solution may continue; else empty
    entry: str
    solution: str
    tests: str  # code that raises unless the function is right
    files: Mapping[str, str]  # files that `tests` reads


class Grade(NamedTuple):
    """Whether a product is right, and why or why not."""

    right: bool
    reason: str


def load(path: Path) -> list[Problem]:
    """Load the problems of one of the four published files, gzipped or not."""
    rows = read_published(path)
    try:
        return [_parser(row)(row) for row in rows]
    except (ValueError, KeyError, TypeError, SyntaxError) as error:
        raise BadInput(
            f"{path} is not in a known format of programming tasks: {error!r}.",
            fix="Give a published file of HumanEval, HumanEval+, MBPP or MBPP+.",
        ) from error


def _parser(row: Row) -> Callable[[Row], Problem]:
    if "plus_input" in row:
        return _parse_plus
    return _parse_humaneval if "entry_point" in row else _parse_mbpp


def _parse_humaneval(row: Row) -> Problem:
    prompt, entry = str(row["prompt"]), str(row["entry_point"])
    return Problem(
        id=str(row["task_id"]),
        prompt=prompt,
        head=prompt,
        entry=entry,
        solution=prompt + str(row["canonical_solution"]),
        tests=f"{row['test']}\ncheck({entry})\n",
        files={},
    )


def _parse_mbpp(row: Row) -> Problem:
    tests = [str(test) for test in _as_list(row["test_list"])]
    solution = str(row["code"])
    (*_, entry) = [name for name in _DEFINED.findall(solution) if f"{name}(" in "".join(tests)]
    return Problem(
        id=str(row["task_id"]),
        prompt=f"{row['text']}\n{tests[0]}",
        head="",
        entry=entry,
        solution=solution,
        tests="\n".join([str(row["test_setup_code"]), *tests]),
        files={},
    )


def _parse_plus(row: Row) -> Problem:
    """Parse a problem of a plus set, whose solution computes the right result of each input.

    JSON turned MBPP+'s tuples and sets into lists; the examples in the task's assertions show how
    to restore them. Inputs that the solution still does not accept are skipped.
    """
    prompt, entry = str(row["prompt"]), str(row["entry_point"])
    solution = prompt + str(row["canonical_solution"])
    inputs = [*_as_list(row["base_input"]), *_as_list(row["plus_input"] or [])]
    example = _example_arguments(str(row.get("assertion", "")), entry)
    inputs = [_restore_types(example, given) for given in inputs]
    about: dict[str, object] = {"entry": entry, "inputs": inputs, "atol": row["atol"]}
    about["as_set"], about["as_presence"] = entry in _SETS, entry in _PRESENCE
    return Problem(
        id=str(row["task_id"]),
        prompt=prompt,
        head=prompt if "def " in prompt else "",
        entry=entry,
        solution=solution,
        tests=f"import math\n{row.get('assertion', '')}\n{_COMPARE}",
        files={"reference.py": solution, "about.py": f"{_CONSTANTS}ABOUT = {about!r}"},
    )


def _example_arguments(assertion: str, entry: str) -> list[object]:
    """The arguments of the first call of ``entry`` with only literals; empty if there is none."""
    for node in ast.walk(ast.parse(assertion)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry:
            with suppress(ValueError):
                return [ast.literal_eval(argument) for argument in node.args]
    return []


def _restore_types(example: object, value: object) -> object:
    """Give ``value`` the tuples, sets and number types of ``example``."""
    if isinstance(example, int | float | complex) and isinstance(value, str):
        with suppress(ValueError):  # an input that has another type on purpose
            return complex(value) if isinstance(example, complex) else float(value)
        return value
    if isinstance(example, dict) and isinstance(value, dict):
        other = next(iter(example.values()), None)
        return {key: _restore_types(example.get(key, other), one) for key, one in value.items()}
    if not isinstance(example, list | tuple | set) or not isinstance(value, list):
        return value
    known = list(example)
    items = [
        _restore_types(known[min(i, len(known) - 1)] if known else None, v)
        for i, v in enumerate(value)
    ]
    with suppress(TypeError):  # a set cannot hold these items
        return type(example)(items)
    return items


# Floats agree within 1e-6 unless another tolerance is published (EvalPlus). find_zero has many
# right answers, so the test evaluates its polynomial.
_COMPARE = """
def _compare(functions):
    import copy, math
    about, right = {}, {}
    for name, names in (("about.py", about), ("reference.py", right)):
        with open(name) as file:
            exec(compile(file.read(), name, "exec"), names)
    about = about["ABOUT"]

    def alike(a, b, atol):
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(alike(x, y, atol) for x, y in zip(a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(alike(a[k], b[k], atol) for k in a)
        if isinstance(a, float) or isinstance(b, float):
            try:
                near = abs(a - b) <= (atol or 1e-6) + 1e-7 * abs(b)
                return near or a == b or (math.isnan(a) and math.isnan(b))
            except (TypeError, OverflowError):
                return False
        return a == b

    def present(value):
        return value if isinstance(value, bool) else value is not None

    used = 0
    for given in about["inputs"]:
        try:
            expected = right[about["entry"]](*copy.deepcopy(given))
        except Exception:
            continue
        found = functions[about["entry"]](*copy.deepcopy(given))
        used += 1
        if about["entry"] == "find_zero":
            good = abs(sum(c * found**i for i, c in enumerate(given[0]))) <= about["atol"]
        elif about["as_set"]:
            good = set(found) == set(expected)
        elif about["as_presence"]:
            good = present(found) == present(expected)
        else:
            good = alike(found, expected, about["atol"])
        assert good, (given, found, expected)
    assert used


_compare(globals())
"""


def _as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"no list: {value!r:.40}")
    return value


def program(problem: Problem, code: str) -> str:
    """The program to run: the solution, whole or as a continuation, and the tests."""
    whole = problem.entry in _DEFINED.findall(code)
    # The head's imports and other definitions are kept either way.
    head = problem.head.rsplit(f"def {problem.entry}", 1)[0] if whole else problem.head
    return f"{head}{code}\n{problem.tests}\n{_LAST}"


def judge(problem: Problem, code: str, *, limits: sandbox.SandboxLimits = LIMITS) -> Grade:
    """Run a solution's tests in the sandbox; a failure's reason is the sandbox's or ``tests``."""
    word = uuid4().hex
    result = sandbox.run(program(problem, code), stdin=word, files=problem.files, limits=limits)
    if result.reason == "ok" and result.stdout.endswith(word):
        return Grade(right=True, reason="ok")
    return Grade(right=False, reason="tests" if result.reason == "ok" else result.reason)


def pass_at_k(samples: int, right: int, k: int) -> float:
    """Probability that one of ``k`` samples is right, estimated without bias.

    Chen et al. 2021, eq. 1: one minus the share of draws of ``k`` samples that are all wrong.
    """
    if not 0 <= right <= samples or not 1 <= k <= samples:
        raise ValueError(f"pass@{k} of {right} right among {samples} samples is not defined")
    return 1 - comb(samples - right, k) / comb(samples, k)
