"""``planweave bench needles``: how much of a long text does a model bring back?"""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from apps.bench.common import (
    AsJson,
    Concurrency,
    Model,
    Out,
    Ray,
    RedoCrashed,
    Settings,
    context_of,
    head_of,
    pairs,
    result_path,
    run_samples,
    tell_report,
)
from benchmarks import needles as hidden
from benchmarks.needles_haystack import load
from planweave import BadInput


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
    concurrency: Concurrency = 1,
    ray: Ray = "",
    setting: Settings = None,
    out: Out = Path("results/needles"),
    redo_crashed: RedoCrashed = False,
    as_json: AsJson = False,
) -> None:
    """Several needles in a haystack, one question for all of them; can be resumed."""
    os.environ.setdefault("PLANWEAVE_RESPONSE_CACHE", "off")  # a kept reply would look free
    console = Console(stderr=as_json, highlight=False)
    if longest < shortest:
        raise BadInput("--longest is less than --shortest.")
    context = context_of({"model": model, **pairs(setting or [])})
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
    sample = {"needles": number, "runs": runs, "seed": seed, "concurrency": concurrency}
    counts = {"questions": len(samples), "chosen": len(samples)}
    head = head_of(hidden.NAME, context, {"name": data.name, **counts, **sample})
    path = result_path(out, model)
    run_samples(
        console,
        samples,
        head,
        path,
        concurrency=concurrency,
        redo_crashed=redo_crashed,
        ray=ray,
    )
    tell_report([path], console, as_json=as_json, folder=out)
