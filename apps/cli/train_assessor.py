"""``planweave train plan-assessor``: train the plan assessor."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

from planweave.apps.cli.progress import sentence_vectors
from planweave.apps.options import output_folder
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.picture import Figure, draw_picture
from planweave.benchmarks.suites.assessor.rounds import (
    Lot,
    Round,
    choose_best,
    play_rounds,
    recorded_searches,
)
from planweave.benchmarks.suites.mhqa import multihop
from planweave.errors import require
from planweave.learning import AssessorCard, Embed, Group, features
from planweave.learning.plan_assessor import VERSION, fingerprint, save

if TYPE_CHECKING:
    from planweave.learning.training import Epoch, Trained

FILES = (
    "hotpotqa/train_distractor_subset.jsonl.gz",
    "2wikimultihopqa/train_subset.jsonl.gz",
    "musique/train_subset.jsonl.gz",
)
TRAJECTORIES = "trajectories/hotpotqa_success.jsonl.gz"

_CANDIDATES = 8  # per round: more than in use, for more comparisons
_UNRELATED = 1


def plan_assessor(
    *,
    data: Annotated[Path, typer.Option(help=f"Folder that holds {FILES[0]} and so on.")],
    out: Annotated[Path, typer.Option(help="Folder for the weights, their card and the curves.")],
    seed: Annotated[int, typer.Option(help="Seed of every draw.", min=0)] = 1,
) -> None:
    """Train the plan assessor of FuRePA; after a stop, vectors of finished blocks remain."""
    require("Training", "learning,documents", "jax", "optax")
    from planweave.learning.training import HeadSettings
    from planweave.learning.training import train as fit

    output_folder(out)
    started = perf_counter()
    console = Console(highlight=False)
    with sentence_vectors(console) as embed:
        groups = _groups(data, embed, seed, console)
    settings = HeadSettings(seed=seed)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("training", total=settings.epochs)

        def show(epoch: "Epoch") -> None:
            text = f"training, held-out MRR {epoch.held_out_mrr:.3f}"
            bar.update(task, advance=1, description=text)

        trained = fit(groups, settings, progress=show)
    prints = np.unique(np.array([fingerprint(group.question) for group in groups], np.uint64))
    path = save(out, trained.weights, _card(groups, trained, seed), prints)
    draw_picture(path.with_suffix(".png"), partial(_draw_curves, trained))
    best = trained.epochs[trained.best]
    console.print(f"Held-out MRR {best.held_out_mrr:.3f} after {trained.best + 1} epochs: {path}")
    took, busy = (timedelta(seconds=round(s)) for s in (perf_counter() - started, process_time()))
    console.print(f"All of it took {took}; {busy} of processor time.")


def _groups(data: Path, embed: Embed, seed: int, console: Console) -> list[Group]:
    searches = recorded_searches(data / TRAJECTORIES)
    groups = []
    for file in FILES:
        questions = multihop.load(data / file)
        console.print(f"{file}: {len(questions)} questions")
        corpus = multihop.Corpus(questions, embed)
        made = play_rounds(
            questions,
            corpus,
            seed=seed,
            candidates=_CANDIDATES,
            choose=_half_greedy,
            strangers=_UNRELATED,
            searches=searches,
        )
        groups += list(_training_groups(made, embed))
    return groups


def _training_groups(made: Iterable[Round], embed: Embed) -> Iterator[Group]:
    """Rounds as training groups for the assessor's head."""
    for one in made:
        evidence = [paragraph.page for paragraph in one.evidence]
        inputs = features(one.question.question, evidence, one.candidates, embed)
        gains = np.array(one.gains, np.float32)
        yield Group(one.question.question, one.question.dataset, inputs, gains)


def _half_greedy(round_: Round, lot: Lot) -> int:
    """Choose like a good assessor in half of the rounds, at random in the others."""
    return choose_best(round_, lot) if lot.coin < 0.5 else lot.place


def _card(groups: Sequence[Group], trained: "Trained", seed: int) -> AssessorCard:
    best = trained.epochs[trained.best]
    counts = Counter(group.dataset for group in groups)
    return AssessorCard(
        version=VERSION,
        sha256="",
        seed=seed,
        date=datetime.now(UTC).date().isoformat(),
        command=machine.command(),
        data={
            name: {
                "questions": len({group.question for group in groups if group.dataset == name}),
                "rounds": count,
            }
            for name, count in counts.items()
        },
        metrics={"held_out_mrr": round(best.held_out_mrr, 4), "epochs": trained.best + 1},
    )


def _draw_curves(trained: "Trained", figure: Figure) -> None:
    """Draw the losses and the held-out MRR by epoch."""
    figure.set_size_inches(8, 3.5)
    losses, quality = figure.subplots(1, 2)
    losses.plot([epoch.loss for epoch in trained.epochs], label="training")
    losses.plot([epoch.held_out_loss for epoch in trained.epochs], label="held out")
    losses.set(title="Loss", xlabel="epoch")
    losses.legend()
    quality.plot([epoch.held_out_mrr for epoch in trained.epochs])
    quality.axvline(trained.best, linestyle=":", color="grey")
    quality.set(title="Held-out MRR of the chosen query", xlabel="epoch")
