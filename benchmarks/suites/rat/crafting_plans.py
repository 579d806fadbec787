"""The executor of plans judges right plans for every goal of a crafting world, and spoiled ones.

Run ``python -m planweave.benchmarks.suites.rat.crafting_plans --data FOLDER [--output FILE]``,
where FOLDER holds the world. Every step of a right plan is left out once, and every count above one
is halved once: a step whose action yields several at a time may then be done as often as before.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import NamedTuple

from planweave import PlanweaveError
from planweave.benchmarks.core.machine import made_by
from planweave.tools.crafting import Step, World, executable, load_world, make_plan

RIGHT = "right"
LACKING = "a step left out"
AS_OFTEN = "a count halved, the action done as often"
FEWER = "a count halved, the action done fewer times"


class Case(NamedTuple):
    """A plan, of which kind it is, and the step in which it differs from a right one."""

    kind: str
    goal: str
    step: str
    plan: list[Step]


@dataclass(frozen=True, kw_only=True)
class Result:
    """One line of the benchmark.

    Attributes:
        kind: What the plans are.
        plans: How many.
        accepted: How many of them reach their goal.
        unexpected: Goal and changed step where the change would have the other verdict.
    """

    kind: str
    plans: int
    accepted: int
    unexpected: list[str]


def run(world: World) -> list[Result]:
    """Judge the plans of each kind."""
    made = list(cases(world))
    return [
        _judged(kind, [case for case in made if case.kind == kind], world)
        for kind in (RIGHT, LACKING, AS_OFTEN, FEWER)
    ]


def cases(world: World) -> Iterator[Case]:
    """A right plan for each goal, and all that come of spoiling one of its steps."""
    for goal in world.goals:
        plan = make_plan(goal, world) or []
        yield Case(RIGHT, goal, "", plan)
        for at, step in enumerate(plan):
            before, after = plan[:at], plan[at + 1 :]
            yield Case(LACKING, goal, step.text, [*before, *after])
            if step.count > 1:
                less = replace(step, count=step.count // 2)
                as_often = _times(less, world) == _times(step, world)
                kind = AS_OFTEN if as_often else FEWER
                yield Case(kind, goal, step.text, [*before, less, *after])


def _times(step: Step, world: World) -> int:
    """How often the action of a right plan's step is done."""
    _, action = world.best[step.item]
    return ceil(step.count / action.count)


def _judged(kind: str, some: list[Case], world: World) -> Result:
    accepted = [executable(case.plan, case.goal, world).reached for case in some]
    return Result(
        kind=kind,
        plans=len(some),
        accepted=sum(accepted),
        unexpected=[
            f"{case.goal}: {case.step}"
            for case, reached in zip(some, accepted, strict=True)
            if reached != (kind in (RIGHT, AS_OFTEN))
        ],
    )


def main(arguments: list[str] | None = None) -> int:
    """Print one line for each kind of plan."""
    parser = argparse.ArgumentParser(
        prog="python -m planweave.benchmarks.suites.rat.crafting_plans", description=__doc__
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the crafting world")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    given = parser.parse_args(arguments)
    try:
        results = run(load_world(given.data))
    except PlanweaveError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return error.exit_code
    for r in results:
        print(f"{r.kind:<44} {r.accepted:>5} of {r.plans:<5} accepted", *r.unexpected)  # noqa: T201
    if given.output:
        words = [
            "python",
            "-m",
            "planweave.benchmarks.suites.rat.crafting_plans",
            *(arguments or sys.argv[1:]),
        ]
        made = made_by(words) | {"result": [asdict(r) for r in results]}
        given.output.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
