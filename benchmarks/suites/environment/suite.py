"""Tasks of environments as samples for the methods that act (InstructRAG and its baselines)."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from planweave.benchmarks.core.metrics import rate
from planweave.benchmarks.core.play import OnCall, play_graph
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Suite, register
from planweave.benchmarks.core.table import Cell, Table
from planweave.learning.paths import Path
from planweave.memory import Answer, Context, EpisodeState, WorkingMemory
from planweave.tools.environments import Task
from planweave.tools.environments.episodes import Ends, counting

NAME = "environment"

ENDS = {"crashes": "environment's crashes", "timeouts": "environment's time-outs"}
"""What they are called in tables, where there are any."""

_ABOUT = " Where the environment crashed or took too long, a fresh process did the same once more."


@register(NAME, measures="score")
class EnvironmentTasks(Suite):
    """The suite: a task's score is the environment's own, from 0 to 1."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Score by type of task, how many tasks had the whole score, and ends of environments."""
        rows: list[tuple[Cell, ...]] = []
        told = [name for name in ENDS if any(_count(record, name) for record in records)]
        for method in dict.fromkeys(record.method for record in records):
            mine = [record for record in records if record.method == method]
            kinds = sorted({str(record.score.details["kind"]) for record in mine})
            for kind in ("", *(kinds if len(kinds) > 1 else ())):
                of_kind = [r for r in mine if kind in ("", r.score.details["kind"])]
                scores = [record.score.value for record in of_kind]
                solved = [float(score == 1) for score in scores]
                ends = [sum(_count(record, name) for record in of_kind) for name in told]
                rows.append((method, kind or "all", rate(scores), rate(solved), *ends))
        return [
            Table(
                title="Tasks of environments",
                columns=(
                    "method",
                    "type of task",
                    "score",
                    "success",
                    *(ENDS[name] for name in told),
                ),
                rows=rows,
                note=f"Success: the whole score. A crashed run scores 0.{_ABOUT if told else ''}",
            )
        ]


def _count(record: Record, name: str) -> int:
    """Of the results of before these were counted, none."""
    found = record.score.details.get(name)
    return found if isinstance(found, int) else 0


@dataclass
class Trial:
    """One run on one task; the environment's score is taken from where the run ended."""

    task: Task
    episode: EpisodeState | None = field(default=None)
    ends: Ends = field(default_factory=Ends)

    async def play(self, sample: Sample, on_call: OnCall) -> WorkingMemory:
        """Run the graph, and keep how far the task has come."""
        with counting() as self.ends:
            memory = await play_graph(sample, on_call)
        self.episode = memory.get("episode")
        return memory

    def judge(self, answer: Answer | None) -> Score:
        """The environment's score; 0 for a run that crashed.

        A task that is over counts as answered, also where nothing is handed in.
        """
        ended = self.episode if answer else None
        over = ended["done"] if ended else False
        return Score(
            value=ended["score"] if ended else 0.0,
            answer=(answer["decision"] or ("over" if over else None)) if answer else None,
            explanation=answer["why"] if answer else "no answer",
            details={
                "kind": self.task.kind,
                "done": over,
                "trial": ended["trial"] if ended else 0,
                **asdict(self.ends),
            },
        )


def samples(
    name: str,
    tasks: Sequence[Task],
    *,
    methods: Sequence[str],
    settings: Context,
    paths: Sequence[Path],
) -> list[Sample]:
    """Every task with every method, task by task.

    Args:
        name: The environment.
        tasks: The chosen ones.
        methods: Names of graphs.
        settings: The context with the environment's data and file of paths, but without a task.
        paths: What is in that file, so that other paths are another sample.
    """
    known = "".join(path.key for path in paths)
    made = []
    for task in tasks:
        about = json.dumps([name, task.id, task.question, known])
        for method in methods:
            trial = Trial(task)
            made.append(
                Sample(
                    suite=NAME,
                    question=task.id,
                    scenario=name,
                    method=method,
                    database="",
                    asked=task.question,
                    context=settings.model_copy(
                        update={"environment": name, "environment_task": task.id}
                    ),
                    content=hashlib.sha256(about.encode()).hexdigest(),
                    judge=trial.judge,
                    play=trial.play,
                )
            )
    return made
