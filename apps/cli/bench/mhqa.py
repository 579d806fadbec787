"""``planweave bench mhqa`` and ``mhqa-retrieval``: multi-hop questions over their paragraphs."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import RESULTS, Model, Out, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.suites.mhqa import retrieval
from planweave.benchmarks.suites.mhqa import suite as multi_hop
from planweave.benchmarks.suites.mhqa.corpus import collect
from planweave.benchmarks.suites.mhqa.suite import FILES, Asked

Data = Annotated[
    Path, typer.Option(help="Folder with hotpotqa/, 2wikimultihopqa/ and musique/ in it.")
]
DataSets = Annotated[
    str, typer.Option("--dataset", help=f"With commas between, or all: {', '.join(FILES)}.")
]
Embeddings = Annotated[
    str, typer.Option(help="Embedding model of the paragraphs; none: words alone.")
]

_CUT = {"PLANWEAVE_CHUNK_TOKENS": "256", "PLANWEAVE_CHUNK_OVERLAP": "0"}
"""As published, a paragraph is found whole, whatever this process is set to."""

_SETTINGS: dict[str, str | int] = {"pages": 2, "max_iterations": 5}


@grouped()
def mhqa(
    *,
    data: Data,
    dataset: DataSets = "all",
    method: Annotated[
        str, typer.Option(help=f"With commas between, or all: {', '.join(multi_hop.WAYS)}.")
    ] = "all",
    model: Model = "embedded",
    limit: Annotated[
        int | None, typer.Option(help="Questions at most of a data set; all if unset.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which questions the limit leaves.")] = 1,
    embeddings: Embeddings = "minilm",
    running: Running,
) -> None:
    """FuRePA, its ablations and baselines on multi-hop questions; can be resumed."""
    context = running.context(**_SETTINGS, model=model)
    methods = listed(method, tuple(multi_hop.WAYS), "method", every="all")
    wanted = listed(dataset, tuple(FILES), "data set", every="all")
    pools = [_pool(name, data, embeddings, running.console) for name in wanted]
    chosen = [multi_hop.choose(pool, limit, seed) for pool in pools]
    samples = multi_hop.samples(chosen, methods=methods, settings=context)
    about: dict[str, JsonValue] = {"name": ", ".join(wanted), "limit": limit, "seed": seed}
    about |= {"questions": sum(map(len, pools)), "chosen": sum(map(len, chosen))}
    about |= {"embeddings": embeddings}
    running.measure(multi_hop.NAME, samples, context, about)


def mhqa_retrieval(
    *,
    data: Data,
    dataset: DataSets = "all",
    embeddings: Embeddings = "minilm",
    out: Out = RESULTS / multi_hop.NAME,
) -> None:
    """Supporting paragraphs that one search by the question finds; no language model."""
    console = Console(highlight=False)
    wanted = listed(dataset, tuple(FILES), "data set", every="all")
    pools = [_pool(name, data, embeddings, console) for name in wanted]
    with console.status("searching …"):
        made = retrieval.table(list(retrieval.search(pools)))
    show_tables([made], console)
    page = out / "retrieval.json"
    kept = machine.head() | {
        "embeddings": embeddings,
        "questions": {name: len(pool) for name, pool in zip(wanted, pools, strict=True)},
        "result": retrieval.as_json(made),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        page.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise BadInput(f"{page} cannot be written ({error.strerror}).") from None
    console.print(f"Written: {page}", markup=False, soft_wrap=True)


def _pool(dataset: str, data: Path, embeddings: str, console: Console) -> Sequence[Asked]:
    """All questions of a data set on the collection of their paragraphs, made if need be."""
    os.environ |= _CUT
    questions = multi_hop.load(dataset, data)
    with console.status(f"reading the paragraphs of {dataset} …") as status:
        corpus = collect(
            dataset,
            questions,
            embeddings=embeddings,
            progress=lambda _, done, of: status.update(
                f"{dataset}: {done} of {of} paragraphs are embedded …"
            ),
        )
    return multi_hop.asked(dataset, corpus, questions)
