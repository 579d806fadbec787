"""Tasks of environments as samples for acting methods (InstructRAG and its baselines)."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from planweave.benchmarks.core.metrics import group_by_method, rate
from planweave.benchmarks.core.play import CRASH, STOPS, Memory, OnCall, describe_crash, play_graph
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Suite, register
from planweave.benchmarks.core.table import Cell, ReportTable
from planweave.learning.paths import TaskPath
from planweave.memory import Context
from planweave.texts import digest
from planweave.tools.environments import Task
from planweave.tools.environments.episodes import Ends, counting

NAME = "environment"

ENDS = {"crashes": "environment's crashes", "timeouts": "environment's time-outs"}
"""Their headings in tables."""

_ABOUT = " Where the environment crashed or took too long, a fresh process did the same once more."


@register(NAME, measures="score")
class EnvironmentTasks(Suite):
    """Tasks of an environment: the score is the environment's own, from 0 to 1."""

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Run the graph, and count how often the environment crashed or took too long."""
        with counting() as ends:
            try:
                memory: Memory = await play_graph(sample, on_call)
            except STOPS:
                raise
            except Exception as crash:  # a crashed run counts ends, too
                memory = {CRASH: describe_crash(crash)}
        return {**memory, "ends": ends}

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """The environment's score at the end of the run; 0 for a crashed run.

        A finished task counts as answered, even if nothing is handed in.
        """
        answer = memory.get("answer")
        ended = memory.get("episode") if answer else None
        over = ended["done"] if ended else False
        return Score(
            value=ended["score"] if ended else 0.0,
            answer=(answer["decision"] or ("over" if over else None)) if answer else None,
            explanation=answer["why"] if answer else "no answer",
            details={
                "kind": sample.target.kind,
                "done": over,
                "trial": ended["trial"] if ended else 0,
                **asdict(memory.get("ends") or Ends()),
            },
        )

    def tables(self, records: Sequence[Record]) -> list[ReportTable]:
        """Score by type of task, how many tasks had the whole score, and ends of environments."""
        rows: list[tuple[Cell, ...]] = []
        shown = [name for name in ENDS if any(_count(record, name) for record in records)]
        groups = sorted(group_by_method(records).items(), key=lambda one: records.index(one[1][0]))
        for method, mine in groups:
            kinds = sorted({str(record.score.details["kind"]) for record in mine})
            for kind in ("", *(kinds if len(kinds) > 1 else ())):
                of_kind = [r for r in mine if kind in ("", r.score.details["kind"])]
                scores = [record.score.value for record in of_kind]
                solved = [score == 1 for score in scores]
                ends = [sum(_count(record, name) for record in of_kind) for name in shown]
                rows.append((method, kind or "all", rate(scores), rate(solved), *ends))
        made = ReportTable(
            title="Tasks of environments",
            columns=("method", "type of task", "score", "success", *map(ENDS.__getitem__, shown)),
            rows=rows,
            note=f"Success: the whole score. A crashed run scores 0.{_ABOUT if shown else ''}",
        )
        return [made]


def _count(record: Record, name: str) -> int:
    """The count of a record; 0 in older records, which lack it."""
    found = record.score.details.get(name)
    return found if isinstance(found, int) else 0


def samples(
    name: str,
    tasks: Sequence[Task],
    *,
    methods: Sequence[str],
    settings: Context,
    paths: Sequence[TaskPath],
) -> list[Sample]:
    """Samples of every task and method, task by task."""
    known = "".join(path.key for path in paths)
    return [
        Sample(
            suite=NAME,
            question=task.id,
            scenario=name,
            method=method,
            asked=task.question,
            context=settings.model_copy(update={"environment": name, "environment_task": task.id}),
            content=digest(json.dumps([name, task.id, task.question, known]), 64),
            target=task,
        )
        for task in tasks
        for method in methods
    ]
