"""``planweave bench rag``: do ways of rating answers agree with people?"""

from pathlib import Path
from typing import Annotated

import typer

from planweave.apps.cli.bench.common import Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.suites.rag import suite as rag_judges
from planweave.benchmarks.suites.rag.ways import WAYS


@grouped()
def rag(
    *,
    data: Annotated[Path, typer.Option(help="Pairs of answers judged by people (.jsonl[.gz]).")],
    method: Annotated[
        str, typer.Option(help="Ways of rating with commas between, or all.")
    ] = "all",
    model: Annotated[str, typer.Option(help="Chat model that judges.")] = "embedded",
    limit: Annotated[int | None, typer.Option(help="Pairs at most; all if unset.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Which pairs the limit leaves.")] = 1,
    running: Running,
) -> None:
    """Judges of RAG answers, beside people and beside what needs no model; can be resumed."""
    context = running.context(model=model)
    methods = listed(method, WAYS, "way of rating", every="all")
    found = rag_judges.load(data)
    chosen = rag_judges.choose(found, limit, seed)
    samples = rag_judges.samples(chosen, methods=methods, settings=context)
    sample = {"limit": limit, "seed": seed, "chosen": len(chosen)}
    about = {"name": data.name, "questions": len(found), **sample}
    running.measure(rag_judges.NAME, samples, context, about)
