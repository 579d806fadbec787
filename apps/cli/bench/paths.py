"""``planweave bench paths``: measure the retrieval of paths, without a language model."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter
from rich.console import Console

from planweave.apps.cli.bench.common import RESULTS, Out
from planweave.apps.cli.groups import grouped
from planweave.apps.cli.progress import sentence_vectors
from planweave.apps.cli.train_instructrag import prepare_jax
from planweave.apps.options import AsJson
from planweave.apps.plain import print_line
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.lines import LineFile
from planweave.benchmarks.core.options import listed
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.suites.paths.tasks import EnvironmentName, draw_paths, load, split_tasks
from planweave.learning.agents_file import AS_PUBLISHED, ITERATIONS, LoadedAgents, load_agents
from planweave.learning.instruction_graph import THRESHOLD
from planweave.learning.paths import TaskPath

if TYPE_CHECKING:
    from planweave.benchmarks.suites.paths.measure import Measured


Parts = Annotated[
    str,
    typer.Option(
        help="Comma-separated, or all: ablation, noise, few-shot, tasks (fewer unseen ones), seen "
        "(training tasks). The candidates K are always shown."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Training:
    """The agents that retrieve: trained here, or loaded from a file."""

    iterations: Annotated[int, typer.Option(help="Iterations of the meta-training.", min=1)] = (
        ITERATIONS
    )
    agents: Annotated[
        str | None,
        typer.Option(
            help="Use these (shipped, or a file) without training and its ablations; or "
            "as-published: train the paper's, for instructions without slots."
        ),
    ] = None
    delta: Annotated[
        float, typer.Option(help="With --agents as-published: the graph's threshold.", min=0, max=1)
    ] = THRESHOLD

    @property
    def published(self) -> float | None:
        """The graph's threshold if the paper's agents are trained."""
        return self.delta if self.agents == AS_PUBLISHED else None

    def trained(self) -> int | LoadedAgents:
        """The agents themselves, or the iterations of their training."""
        trains = self.agents in (None, AS_PUBLISHED)
        return self.iterations if trains else load_agents(str(self.agents))


@grouped()
def paths(
    *,
    environment: Annotated[EnvironmentName, typer.Option(help="Environment of the tasks.")],
    data: Annotated[Path, typer.Option(help="Trajectories, as .jsonl[.gz].")],
    seed: Annotated[
        list[int], typer.Option(help="Seeds of tasks, training and noise; repeatable.", min=0)
    ] = [1, 2, 3],  # noqa: B006 - typer copies it
    limit: Annotated[int | None, typer.Option(help="Paths at most; all if unset.", min=8)] = None,
    training: Training,
    part: Parts = "all",
    out: Out = RESULTS / "paths",
    as_json: AsJson = False,
) -> None:
    """InstructRAG: F1 of the retrieved path on unseen tasks, ablations, noise, few-shot, RAP."""
    prepare_jax()
    from planweave.benchmarks.suites.paths import measure as suite

    console = Console(stderr=as_json, highlight=False)
    parts = listed(part, suite.PARTS, "part", every="all")
    file = LineFile(
        out / f"{environment}.jsonl", TypeAdapter(suite.Measured), partial(print_line, console)
    )
    with closing(file):
        given = draw_paths(load(environment, data), limit)
        trained = training.trained()
        lines = _measure_missing(
            file, given, set(seed), trained, parts, console, training.published
        )
    if not as_json:
        _print_tables(lines, console)
        return
    made = machine.describe_run() | {
        "environment": environment,
        "paths": len(given),
        "seeds": seed,
        "iterations": trained if isinstance(trained, int) else None,
        "delta": training.published,
        "adaptation": suite.adaptation_times(lines),
        "seconds": suite.mean_seconds(lines),
        "result": [asdict(row) for row in suite.table_rows(lines)],
    }
    typer.echo(json.dumps(made, indent=1))


def _print_tables(lines: "list[Measured]", console: Console) -> None:
    from planweave.benchmarks.suites.paths import measure as suite

    show_tables(suite.path_tables(suite.table_rows(lines)), console)
    if seconds := suite.mean_seconds(lines):
        console.print(
            f"A seed: {seconds['training']:.1f} s of training, {seconds['testing']:.1f} s of "
            "testing (adapting and asking)."
        )
    if adaptation := suite.adaptation_times(lines):
        console.print(
            f"Adapting to a task: {adaptation['median_seconds']:.1f} s, of the processor "
            f"{adaptation['median_cpu_seconds']:.1f} s (median of {adaptation['tasks']} tasks)."
        )


def _measure_missing(
    file: "LineFile[Measured]",
    given: Sequence[TaskPath],
    seeds: set[int],
    trained: int | LoadedAgents,
    parts: Sequence[str],
    console: Console,
    published: float | None,
) -> "list[Measured]":
    """The lines of these seeds; measure and save those that are not in the file."""
    from planweave.benchmarks.suites.paths.measure import Experiment, settings_digest
    from planweave.learning.agent_batches import AgentSettings, published_settings
    from planweave.learning.meta_training import as_agents

    before = None if isinstance(trained, int) else as_agents(trained.rl, trained.ml)
    by = trained if isinstance(trained, int) else trained.card.sha256
    kind = settings_digest(
        given, by if published is None else f"{AS_PUBLISHED}, {published}, {by}", parts
    )
    lines = [line for line in file.lines if line.about == kind]
    if others := len(file.lines) - len(lines):
        print_line(console, f"{file.path}: {others} lines of other paths or agents are ignored.")
    with sentence_vectors(console) as embed, console.status("") as status:
        show = status.update if console.is_terminal else console.print
        for seed in sorted(seeds - {line.seed for line in lines}):
            iterations = trained if isinstance(trained, int) else 0
            settings = AgentSettings(seed=seed, iterations=iterations)
            if published is not None:
                settings = published_settings(seed, iterations, published)
            tasks = split_tasks(given, seed, slots=published is None)
            found = Experiment(tasks, embed, settings, show, before).lines(parts)
            made = [line.model_copy(update={"about": kind}) for line in found]
            for line in made:  # at the end, so that an interrupted seed is repeated as a whole
                file.append(line)
            lines += made
    return [line for line in lines if line.seed in seeds]
