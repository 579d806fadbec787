"""``planweave bench rag``: do ways of rating answers agree with people?"""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from apps.bench.common import (
    AsJson,
    Concurrency,
    Out,
    Ray,
    RedoCrashed,
    Settings,
    context_of,
    head_of,
    listed,
    pairs,
    result_path,
    run_samples,
    tell_report,
)
from benchmarks import rag as rag_judges
from benchmarks.rag_ways import WAYS


def rag(
    *,
    data: Annotated[Path, typer.Option(help="Pairs of answers judged by people (.jsonl[.gz]).")],
    method: Annotated[
        str, typer.Option(help="Ways of rating with commas between, or all.")
    ] = "all",
    model: Annotated[str, typer.Option(help="Chat model that judges.")] = "embedded",
    limit: Annotated[int | None, typer.Option(help="Pairs at most; all if unset.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Which pairs the limit leaves.")] = 1,
    concurrency: Concurrency = 1,
    ray: Ray = "",
    setting: Settings = None,
    out: Out = Path("results/rag"),
    redo_crashed: RedoCrashed = False,
    as_json: AsJson = False,
) -> None:
    """Judges of RAG answers, beside people and beside what needs no model; can be resumed."""
    os.environ.setdefault("PLANWEAVE_RESPONSE_CACHE", "off")  # a kept reply would look free
    console = Console(stderr=as_json, highlight=False)
    given: dict[str, str | int] = {"model": model}
    context = context_of({**given, **pairs(setting or [])})
    methods = listed(method, WAYS, "way of rating", every="all")
    found = rag_judges.load(data)
    chosen = rag_judges.choose(found, limit, seed)
    samples = rag_judges.samples(chosen, methods=methods, settings=context)
    sample = {"limit": limit, "seed": seed, "concurrency": concurrency, "chosen": len(chosen)}
    head = head_of(rag_judges.NAME, context, {"name": data.name, "questions": len(found), **sample})
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
