"""``planweave bench needles``: how much of a long text does a model bring back?"""

from pathlib import Path
from typing import Annotated

import typer

from planweave import BadInput
from planweave.apps.cli.bench.common import Model, Running
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.suites.needles import suite as hidden
from planweave.benchmarks.suites.needles.haystack import load


@grouped()
def needles(
    *,
    data: Annotated[Path, typer.Option(help="The haystack: text, or pages as .jsonl[.gz].")],
    model: Model = "embedded",
    number: Annotated[
        int, typer.Option("--needles", help="Sentences to hide.", min=1, max=40)
    ] = 10,
    shortest: Annotated[int, typer.Option(help="Shortest text in tokens.", min=1)] = 1000,
    longest: Annotated[int, typer.Option(help="Longest text in tokens.", min=1)] = 4000,
    step: Annotated[int, typer.Option(help="Tokens from one length to the next.", min=1)] = 1000,
    runs: Annotated[int, typer.Option(help="Texts of each length.", min=1)] = 3,
    seed: Annotated[int, typer.Option(help="Which needles, and which part of the text.")] = 1,
    window: Annotated[
        int | None, typer.Option(help="Tokens the model takes at once; known if embedded.", min=1)
    ] = None,
    running: Running,
) -> None:
    """Several needles in a haystack, one question for all of them; can be resumed."""
    if longest < shortest:
        raise BadInput("--longest is less than --shortest.")
    context = running.context(model=model)
    lengths = range(shortest, longest + 1, step)
    samples = hidden.samples(
        load(data),
        lengths=lengths,
        needles=number,
        runs=runs,
        seed=seed,
        settings=context,
        window=window or hidden.window(model),
    )
    counts = {"questions": len(samples), "chosen": len(samples)}
    sample = {"needles": number, "runs": runs, "seed": seed}
    running.measure(hidden.NAME, samples, context, {"name": data.name, **counts, **sample})
