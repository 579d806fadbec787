"""The tasks of RAT's families, from published files, and the grading of products."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from planweave import BadInput
from planweave.benchmarks.suites.rat import code_eval, math_eval
from planweave.benchmarks.suites.rat.code_eval import Grade
from planweave.tools.crafting import CraftingWorld, executable, load_world
from planweave.tools.documents.store import collections

Family = Literal["code", "maths", "planning", "writing"]

FILES: Mapping[Family, Mapping[str, str]] = {
    "code": {
        "HumanEval": "humaneval.jsonl.gz",
        "HumanEval+": "HumanEvalPlus.jsonl.gz",
        "MBPP": "mbpp.jsonl.gz",
        "MBPP+": "MbppPlus.jsonl.gz",
    },
    "maths": {"GSM8K": "gsm8k_test.jsonl.gz", "GSM-Hard": "gsm_hard.jsonl.gz"},
    "planning": {"Minecraft": "goals.jsonl.gz"},
}
"""Data sets of each family by name; the tasks of ``writing`` are our own."""

MBPP_TASKS = range(11, 176)
MBPP_PLUS_TASKS = 164
MATHS_ITEMS = 200
"""The parts that the paper tests on (section 4.1 and appendix A)."""


@dataclass(frozen=True)
class Item:
    """One task."""

    dataset: str
    id: str
    asked: str
    content: str  # the data that decides whether a product is right
    grade: Callable[[str], Grade]  # grades a program or plan; blocks while the sandbox runs

    @property
    def question(self) -> str:
        """Its name in result files."""
        return f"{self.dataset}-{self.id}".replace("/", "-")


def load(family: Family, dataset: str, data: Path) -> list[Item]:
    """Load the items of a data set, in the published order."""
    path = data / FILES[family][dataset]
    if family == "code":
        return [
            Item(dataset, one.id, one.prompt, one.tests, partial(code_eval.judge, one))
            for one in _tested_problems(dataset, code_eval.load(path))
        ]
    if family == "maths":
        return [
            Item(dataset, one.id, one.question, str(one.answer), partial(_grade_number, one.answer))
            for one in math_eval.load(path)[:MATHS_ITEMS]
        ]
    world = load_world(data)
    return [
        Item(dataset, goal, _goal_question(goal, world), goal, partial(_grade_plan, goal, world))
        for goal in world.goals
    ]


def corpus_name(family: str) -> str:
    """The collection name of a family's corpus."""
    return f"rat-{family}"


def require_corpus(family: Family, data: str) -> str:
    """The collection of a family's corpus; raises if it is missing."""
    name = corpus_name(family)
    if name not in collections():
        raise BadInput(
            f"There is no corpus for {family} yet.",
            fix=f"Build it: planweave bench rat-corpus --family {family} --data {data}",
        )
    return name


def _tested_problems(dataset: str, problems: list[code_eval.Problem]) -> list[code_eval.Problem]:
    if dataset == "MBPP":
        return [problem for problem in problems if int(problem.id) in MBPP_TASKS]
    return problems[:MBPP_PLUS_TASKS] if dataset == "MBPP+" else problems


def _grade_number(answer: float, program: str) -> Grade:
    value, reason = math_eval.compute(program)
    right = math_eval.same_number(value, answer)
    return Grade(right, reason if value is None else f"{value:g} for {answer:g}")


def _goal_question(goal: str, world: CraftingWorld) -> str:
    return (
        f"Obtain 1 {goal} ({world.displays.get(goal, goal)}) in Minecraft's survival "
        "mode, starting with nothing in the inventory."
    )


def _grade_plan(goal: str, world: CraftingWorld, plan: str) -> Grade:
    verdict = executable(plan, goal, world)
    return Grade(verdict.reached, verdict.reason)
