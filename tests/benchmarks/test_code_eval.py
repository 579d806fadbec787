"""Judging programs and numbers: published formats, right and wrong solutions, pass@k."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from cases import cases
from json_lines import write_lines
from published import published

from planweave import BadInput
from planweave.benchmarks.suites.rat import code_eval, math_eval
from planweave.benchmarks.suites.rat.code_eval import Problem, judge, load, pass_at_k
from planweave.tools import sandbox

confined = pytest.mark.skipif(
    not {"seccomp"} < set(sandbox.protection()), reason="programs cannot be confined here"
)
HUMAN = {
    "task_id": "Human/0",
    "prompt": "from math import sqrt\n\ndef half(x):\n    return x / 2\n\n\ndef root(x):\n"
    '    """The square root of half of x."""\n',
    "entry_point": "root",
    "canonical_solution": "    return sqrt(half(x))\n",
    "test": "def check(candidate):\n    assert candidate(8) == 2\n    assert candidate(0) == 0\n",
}
MBPP = {
    "task_id": 12,
    "text": "Write a function to double.",
    "code": "def helper(x):\r\n\treturn x\r\ndef double(x):\r\n\treturn 2 * helper(x)",
    "test_setup_code": "TWO = 2",
    "test_list": ["assert double(TWO) == 4", "assert double(-1) == -2"],
}
PLUS = {
    "task_id": "Plus/1",
    "prompt": "def third(x):\n",
    "entry_point": "third",
    "canonical_solution": "    return [x / 3, (x,), float('nan')]\n",
    "base_input": [[1]],
    "plus_input": [["text"], [10**20]],
    "atol": 0,
}


def wrong(problem: Problem) -> str:
    """A solution that cannot be right: the function always returns None."""
    return f"{problem.solution}\n\ndef {problem.entry}(*_, **__):\n    return None\n"


@pytest.fixture
def problems(tmp_path: Path) -> list[Problem]:
    return load(write_lines(tmp_path / "rows.jsonl.gz", HUMAN, MBPP, PLUS))


@confined
def test_right_solutions_pass_and_wrong_ones_fail(problems: list[Problem]) -> None:
    for problem in problems:
        assert judge(problem, problem.solution) == (True, "ok")
        assert judge(problem, wrong(problem)) == (False, "error")


@confined
@cases(
    ("    return sqrt(half(x))", True, "ok"),  # continues the head
    ("def root(x):\n    return sqrt(half(x))", True, "ok"),  # takes its place
    ("import math\ndef root(x): return math.sqrt(x / 2)", True, "ok"),
    ("    return x ** 0.5", False, "error"),
    ("    while True: pass", False, "cpu"),
    ("    return (", False, "error"),
    ("    import sys; sys.exit(0)", False, "tests"),
    ("    import os; os._exit(0)", False, "tests"),
    ("    return type('Any', (), {'__eq__': lambda *_: 1})()", True, "ok"),  # a known weakness
)
def test_sorts_of_solutions(code: str, passed: bool, reason: str, problems: list[Problem]) -> None:
    limits = sandbox.SandboxLimits(seconds=30, cpu=1)
    assert judge(problems[0], code, limits=limits) == (passed, reason)


@confined
def test_a_head_without_the_function_is_kept(problems: list[Problem]) -> None:
    headed = replace(problems[1], head="import math\n", entry="f", tests="assert f() == 3")
    assert judge(headed, "def f():\n    return math.floor(3.5)").right


@confined
def test_plus_compares_values_but_for_what_the_reference_refuses(problems: list[Problem]) -> None:
    plus = problems[2]
    near = "def third(x):\n    return (x * (1 / 3), [x], float('nan'))\n"
    assert judge(plus, near).right  # lists for tuples, as after JSON; floats within the tolerance
    assert not judge(plus, near.replace("* (1", "* (1.01")).right
    assert not judge(plus, near.replace("'nan'", "'inf'")).right
    assert not judge(plus, "def third(x):\n    raise ValueError\n").right


def test_shapes_that_json_lost_are_restored(tmp_path: Path) -> None:
    row = {
        "task_id": "Plus/2",
        "prompt": '"""Join."""\n',
        "entry_point": "join",
        "canonical_solution": "def join(a, b, c):\n    return a + (len(b), abs(c[0]))\n",
        "assertion": "assert join((1, 2), {3}, [1j]) == (1, 2, 1, 1)",
        "base_input": [[[1, 2], [3], ["1j"]]],
        "plus_input": [[[], [3, 3], ["3+4j", "0j"]], [[1], [float("inf")], ["1j"]]],
        "atol": 0,
    }
    (problem,) = load(write_lines(tmp_path / "rows.jsonl.gz", row))
    assert "[(), {3}, [(3+4j), 0j]]" in problem.files["about.py"]
    assert "[(1,), {inf}, [1j]]" in problem.files["about.py"]


@cases(
    (code_eval.load, {"question": 1}),
    (math_eval.load, {"question": 1}),
    (code_eval.load, PLUS | {"assertion": "assert ("}),
)
def test_an_unknown_format_is_an_error(
    read: Callable[[Path], object], row: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="not in a known format"):
        read(write_lines(tmp_path / "rows.jsonl.gz", row))


@pytest.mark.parametrize(("samples", "right"), [(5, 0), (5, 1), (5, 3), (5, 5), (1, 1)])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_pass_at_k_is_a_share_of_choices(samples: int, right: int, k: int) -> None:
    if k > samples:
        with pytest.raises(ValueError, match="not defined"):
            pass_at_k(samples, right, k)
        return
    choices = list(combinations([i < right for i in range(samples)], k))
    share = sum(map(any, choices)) / len(choices)
    assert pass_at_k(samples, right, k) == pytest.approx(share)


def test_numbers_are_compared_as_in_pal() -> None:
    assert math_eval.same_number(5.0009, 5)
    assert not math_eval.same_number(5.002, 5)
    assert math_eval.same_number(-9_867_630.0, -9867630)
    assert math_eval.same_number(1e15 + 1, 1e15)
    assert not math_eval.same_number(None, 0)


@confined
@cases(
    ("def solution():\n    return 7 / 2", 3.5, "ok"),
    ("from fractions import Fraction\nresult = Fraction(1, 4)", 0.25, "ok"),
    ("print('It is', 12, 'euros')", 12, "ok"),
    ("print(5)\ndef solution(): return 6", 6, "ok"),
    ("def solution(): return 1 / 0", None, "error"),
    ("def solution(): return float('inf')", None, "no number"),
    ("def solution(): return 'seven'", None, "error"),
    ("pass", None, "no number"),
    ("import socket; socket.socket()", None, "error"),
)
def test_a_program_gives_a_number(reply: str, value: float | None, reason: str) -> None:
    assert math_eval.compute(reply) == (value, reason)


@confined
@pytest.mark.published
@cases(
    ("humaneval", 164),
    ("HumanEvalPlus", 164),
    ("mbpp", 974),
    ("MbppPlus", 378),
)
def test_published_solutions_pass(file: str, count: int) -> None:
    problems = load(published(f"code/{file}.jsonl.gz"))
    assert len(problems) == count
    for problem in problems[10:13]:
        assert judge(problem, problem.solution) == (True, "ok")
        assert not judge(problem, wrong(problem)).right


@confined
@pytest.mark.published
def test_published_word_problems() -> None:
    easy = math_eval.load(published("math/gsm8k_test.jsonl.gz"))
    hard = math_eval.load(published("math/gsm_hard.jsonl.gz"))
    assert len(easy) == len(hard) == 1319
    assert (easy[0].answer, hard[0].answer) == (18, -9_867_630)
    for problem in hard[:3]:
        assert math_eval.same_number(math_eval.compute(problem.code).value, problem.answer)
