"""``planweave train instructrag`` and ``train adapt``: train InstructRAG's agents from paths."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

from planweave import BadInput
from planweave.apps.cli.groups import grouped
from planweave.apps.cli.progress import sentence_vectors
from planweave.apps.options import output_folder
from planweave.apps.plain import print_line
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.options import listed
from planweave.benchmarks.core.picture import Figure, draw_picture
from planweave.benchmarks.suites.environment.play import MOST_STEPS
from planweave.benchmarks.suites.environment.reward import SPLITS, EnvironmentReward
from planweave.benchmarks.suites.paths.tasks import EnvironmentName, load, read_typed, split_tasks
from planweave.errors import require
from planweave.learning.agents_file import (
    ITERATIONS,
    OTHERS,
    QUESTIONS,
    SHIPPED,
    SHIPPED_FILE,
    AgentsCard,
    RewardName,
    load_agents,
    save,
)
from planweave.learning.graph_states import FEATURES, PRINTED
from planweave.learning.guide import Guide
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.overlap import reward_by_overlap
from planweave.learning.paths import MetaTask, select_succeeded
from planweave.learning.rl_agent import Reward
from planweave.learning.slots import QuestionSlots
from planweave.models import process_settings
from planweave.tools.environments import open_environment

if TYPE_CHECKING:
    from planweave.learning.agent_batches import AgentSettings
    from planweave.learning.meta_training import TrainingPoint


_PARTS = ("warm-start", "policy-gradient", "pre-training", "fine-tuning")

Data = Annotated[Path, typer.Option(help="Trajectories, as .jsonl[.gz].")]
Seed = Annotated[int, typer.Option(help="Seed of every draw.", min=0)]


@dataclass(frozen=True, kw_only=True)
class Training:
    """Length of the training, reward of paths, and parts of the method to leave out."""

    iterations: Annotated[int, typer.Option(help="Iterations of the meta-training.", min=1)] = (
        ITERATIONS
    )
    reward: Annotated[
        RewardName,
        typer.Option(
            help="overlap (with the successful path), or environment (score of a player without a "
            "language model; --out keeps its episodes)."
        ),
    ] = "overlap"
    games: Annotated[
        Path | None, typer.Option(help="File or folder of the environment's tasks.")
    ] = None
    questions: Annotated[
        int, typer.Option(help="Questions for each of an iteration's three tasks.", min=1)
    ] = QUESTIONS
    others: Annotated[
        int, typer.Option(help="Paths of other questions to try for each question.", min=0)
    ] = OTHERS
    steps: Annotated[int, typer.Option(help="Actions per episode.", min=1)] = MOST_STEPS
    published: Annotated[
        bool,
        typer.Option(
            "--as-published", help="Train the paper's agents, for instructions without slots."
        ),
    ] = False
    without: Annotated[
        str,
        typer.Option(
            help="Parts to leave out, comma-separated: warm-start, policy-gradient, "
            "pre-training, fine-tuning."
        ),
    ] = ""
    seed: Seed = 1

    def settings(self) -> "AgentSettings":
        """The settings of the training."""
        from planweave.learning.agent_batches import AgentSettings, published_settings

        left_out = listed(self.without, _PARTS, "part", every="") if self.without else []
        settings = AgentSettings(seed=self.seed, by_overlap=self.reward == "overlap")
        if self.published:
            settings = published_settings(self.seed, self.iterations)
        return replace(
            settings,
            iterations=self.iterations,
            questions=self.questions,
            others=self.others,
            warm_start="warm-start" not in left_out,
            policy_gradient="policy-gradient" not in left_out,
            pre_training="pre-training" not in left_out,
            fine_tuning="fine-tuning" not in left_out,
        )


@grouped()
def instructrag(
    *,
    environment: Annotated[EnvironmentName, typer.Option(help="Environment of the tasks.")],
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder of the agents, their card and the curves.")],
    training: Training,
) -> None:
    """Train both agents of InstructRAG on all tasks of a file."""
    prepare_jax()
    from planweave.learning.agent_batches import GraphMaterial
    from planweave.learning.graph_states import Survey
    from planweave.learning.meta_training import train

    started = perf_counter()
    console = Console(highlight=False)
    settings = training.settings()
    output_folder(out)
    paths = load(environment, data)
    given = split_tasks(paths, training.seed, slots=not training.published)
    tasks = [*given.seen, *given.unseen]
    with (
        sentence_vectors(console) as embed,
        Progress(console=console, transient=True) as bar,
        _open_reward(training, environment, Guide(paths, embed), out, bar, given.reward) as reward,
    ):
        support = (path for task in tasks for path in task.support)
        graph = InstructionGraph.of(support, embed, settings.threshold)
        survey = Survey(graph, embed, given.slots)
        tasks = _known_tasks(tasks, reward, console)
        materials = [GraphMaterial(survey, task, embed, settings) for task in tasks]
        shown = bar.add_task("training", total=training.iterations)

        def show(number: int, point: "TrainingPoint") -> None:
            text = f"training, reward {point.reward:.3f}"
            bar.update(shown, completed=number, description=text)

        trained = train(survey, materials, embed, settings, reward, progress=show)
    path = out / SHIPPED_FILE.name
    sizes = {task.name: len(task.support) + len(task.query) for task in tasks}
    rewards = [round(point.reward, 4) for point in trained.points]
    card = _card(training.seed, sizes, training.reward, rewards, training.published)
    save(path, trained.agents.rl, trained.agents.ml, card)
    draw_picture(path.with_suffix(".png"), partial(_draw_curves, trained.points))
    took = timedelta(seconds=round(perf_counter() - started))
    console.print(f"{path}: {training.iterations} iterations on {len(tasks)} tasks in {took}.")


@contextmanager
def _open_reward(
    training: Training,
    environment: EnvironmentName,
    guide: Guide,
    out: Path,
    bar: Progress,
    overlap: Reward,
) -> Iterator[Reward]:
    """Open the reward of paths; at the end, report the played episodes."""
    if (training.reward == "overlap") != (training.games is None):
        raise BadInput(
            "Only the reward environment needs tasks, and it does need them.",
            fix="Give both or neither: --reward environment --games FILE or FOLDER",
        )
    if training.reward == "overlap":
        yield overlap
        return
    say = partial(print_line, bar.console)
    shown = bar.add_task("episodes", total=None)

    def show(number: int) -> None:
        bar.update(shown, description=f"{number} episodes")

    with open_environment(environment, training.games) as played_in:
        tasks = played_in.tasks(SPLITS.get(environment, ""))
        kept = out / "episodes.jsonl"
        with closing(
            EnvironmentReward(played_in, tasks, guide, training.steps, kept, say, show)
        ) as played:
            yield played
            say(f"{kept}: {played.played} episodes played, {played.known} known from before.")
            if failed := played.given_up:
                say(f"{len(failed)} were stopped and keep their score: {failed[0]}")


def _known_tasks(tasks: Sequence[MetaTask], reward: Reward, console: Console) -> list[MetaTask]:
    """Drop questions that are no tasks of the environment."""
    if not isinstance(reward, EnvironmentReward):
        return [*tasks]
    kept = [
        replace(t, query=tuple(p for p in t.query if p.question in reward.tasks)) for t in tasks
    ]
    asked, of = (sum(len(task.query) for task in each) for each in (kept, tasks))
    console.print(
        f"{asked} of {of} questions are tasks of the environment; the others are left out."
    )
    if not asked:
        raise BadInput(
            "None of the questions of these paths is a task of the environment.",
            fix="Name the tasks that the paths solved: --games FILE or FOLDER",
        )
    return [task for task in kept if task.query]


def adapt(
    *,
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder of the adapted agents and their card.")],
    agents: Annotated[str, typer.Option(help="Agents to adapt: shipped, or a file.")] = SHIPPED,
    task: Annotated[
        str, typer.Option(help="Task type to adapt to; all of the file if unset.")
    ] = "",
    environment: Annotated[
        EnvironmentName | None,
        typer.Option(help="Environment whose task types are used; those of the file if unset."),
    ] = None,
    seed: Seed = 1,
) -> None:
    """Adapt trained agents of InstructRAG to a new task with a few of its paths."""
    prepare_jax()
    from planweave.learning.agent_batches import AgentSettings, published_settings
    from planweave.learning.graph_states import Survey
    from planweave.learning.meta_training import adapt as adapted
    from planweave.learning.meta_training import as_agents

    started = perf_counter()
    console = Console(highlight=False)
    loaded = load_agents(agents)
    output_folder(out)
    succeeded = select_succeeded(read_typed(environment, data))
    known = [path for path in succeeded if task in ("", path.task)]
    if len({path.question for path in known}) < 2:
        types = ", ".join(sorted({path.task for path in succeeded} - {""})) or "none"
        raise BadInput(
            f"{data} has too few paths{f' of the task {task!r}' if task else ''} that succeeded: "
            f"it needs those of at least two questions. Its task types: {types}.",
            fix="HotpotQA's and WebShop's types are derived with --environment hotpotqa or webshop."
            if task
            else "`planweave experience export FILE` writes the saved paths.",
        )
    published = loaded.card.published
    own_slots = QuestionSlots.of(known)
    slots = None if published else own_slots
    reward = partial(reward_by_overlap, forms=own_slots.forms(known) if published else {})
    order = np.random.default_rng(seed).permutation(len(known))
    support = tuple(slots.path(known[row]) if slots else known[row] for row in order)
    # Agents are calibrated where they are used, on the actual graph.
    settings = (
        published_settings(seed, 0) if published else AgentSettings(seed=seed, calibration=False)
    )
    with sentence_vectors(console) as embed:
        survey = Survey(InstructionGraph.of(support, embed, settings.threshold), embed, slots)
        own = MetaTask(task, support, ())
        made = adapted(as_agents(loaded.rl, loaded.ml), survey, own, embed, settings, reward)
    looked_at = min(settings.few, len(support))
    card = _card(seed, {task or data.name: looked_at}, "overlap", [], published)
    path = out / SHIPPED_FILE.name
    save(path, made.rl, made.ml, card)
    took = perf_counter() - started
    console.print(f"{path}: adapted to {looked_at} of {len(support)} paths in {took:.1f} s.")


def prepare_jax() -> None:
    """Set the folder in which JAX caches compiled functions."""
    require("Training", "learning,documents", "jax", "optax")
    import jax

    compiled = str(process_settings().cache_dir / "jax")
    jax.config.update("jax_compilation_cache_dir", compiled)  # type: ignore[no-untyped-call]


def _card(
    seed: int, tasks: dict[str, int], reward: RewardName, rewards: list[float], published: bool
) -> AgentsCard:
    return AgentsCard(
        published=published,
        features=PRINTED if published else FEATURES,
        seed=seed,
        date=datetime.now(UTC).date().isoformat(),
        command=machine.command(),
        tasks=tasks,
        reward=reward,
        rewards=rewards,
    )


def _draw_curves(points: "list[TrainingPoint]", figure: Figure) -> None:
    """Draw the reward and the two losses by iteration."""
    figure.set_size_inches(9, 3)
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
