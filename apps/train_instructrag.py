"""``planweave train instructrag``: the two agents of InstructRAG, from trajectories."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from apps.progress import sentence_vectors
from benchmarks import machine
from benchmarks.paths_tasks import Environment, load, world
from learning.agents_file import SHIPPED_FILE, AgentsCard, save
from learning.guide import THRESHOLD
from learning.instruction_graph import InstructionGraph
from models import process_settings
from planweave import BadInput

if TYPE_CHECKING:
    from learning.meta_training import Point


def instructrag(
    *,
    environment: Annotated[Environment, typer.Option(help="How tasks and actions are told.")],
    data: Annotated[Path, typer.Option(help="Trajectories, as .jsonl[.gz].")],
    out: Annotated[Path, typer.Option(help="Folder of the agents, their card and the curves.")],
    iterations: Annotated[int, typer.Option(help="Of the meta-training.", min=1)] = 40,
    seed: Annotated[int, typer.Option(help="Of every draw.", min=0)] = 1,
) -> None:
    """Train both agents of InstructRAG on all tasks of a file; goes on where it was stopped."""
    try:
        import jax

        from learning.agent_batches import Material, Settings
        from learning.graph_states import Survey
        from learning.meta_training import train
        from learning.overlap import shared
    except ImportError as error:
        raise BadInput(
            f"Training needs the package {error.name}.",
            mend="Install it with `pip install 'planweave[learning,documents]'`.",
        ) from None
    compiled = str(process_settings().cache_dir / "jax")
    jax.config.update("jax_compilation_cache_dir", compiled)  # type: ignore[no-untyped-call]
    started = perf_counter()
    console = Console(highlight=False)
    settings = Settings(seed=seed, iterations=iterations)
    given = world(load(environment, data), seed)
    tasks = [*given.seen, *given.unseen]
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / "instructrag.checkpoint.npz"
    with sentence_vectors(console) as embed, Progress(console=console, transient=True) as bar:
        graph = InstructionGraph(embed, THRESHOLD)
        graph.insert_all(path for task in tasks for path in task.support)
        survey = Survey(graph, embed, given.slots)
        materials = [Material(survey, task, embed, settings) for task in tasks]
        shown = bar.add_task("training", total=iterations)

        def show(number: int, point: "Point") -> None:
            said = f"training, reward {point.reward:.3f}"
            bar.update(shown, completed=number, description=said)

        trained = train(
            survey, materials, embed, settings, shared, progress=show, checkpoint=checkpoint
        )
    path = out / SHIPPED_FILE.name
    card = AgentsCard(
        seed=seed,
        date=datetime.now(UTC).date().isoformat(),
        command=machine.command(["planweave", *sys.argv[1:]]),
        tasks={task.name: len(task.support) + len(task.query) for task in tasks},
        rewards=[round(point.reward, 4) for point in trained.points],
    )
    save(path, trained.agents.rl, trained.agents.ml, card)
    _draw(trained.points, path.with_suffix(".png"))
    checkpoint.unlink(missing_ok=True)
    took = timedelta(seconds=round(perf_counter() - started))
    console.print(f"{path}: {iterations} iterations on {len(tasks)} tasks in {took}.")


def _draw(points: "list[Point]", path: Path) -> None:
    """Draw the reward and the two losses, iteration by iteration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    for axes, (name, title) in zip(
        figure.subplots(1, 3),
        (
            ("reward", "Mean reward of the searches"),
            ("policy_gradient", "L_PG after the inner step"),
            ("fine_tuning", "L_FT after the inner step"),
        ),
        strict=True,
    ):
        axes.plot(range(1, len(points) + 1), [getattr(point, name) for point in points])
        axes.set(title=title, xlabel="iteration")
    figure.savefig(path, dpi=120)
