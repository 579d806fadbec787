"""``planweave bench mhqa-retrieval`` and ``rat-corpus``: search and build corpora."""

from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from planweave.apps.cli.bench.common import RESULTS, Out, showing_status, write_json
from planweave.apps.options import writable
from planweave.apps.plain import print_line
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.options import Embeddings, listed, one_of
from planweave.benchmarks.core.report import cell_json, show_tables
from planweave.benchmarks.suites.mhqa import retrieval
from planweave.benchmarks.suites.mhqa.suite import FILES, Data, DataSets, load_pool
from planweave.benchmarks.suites.rat.corpus import BuiltCorpus, build_corpus
from planweave.benchmarks.suites.rat.items import Family


def mhqa_retrieval(
    *,
    data: Data,
    dataset: DataSets = "all",
    embeddings: Embeddings = "minilm",
    out: Out = RESULTS / "mhqa",
) -> None:
    """Supporting paragraphs that one search with the question finds, without a language model."""
    console = Console(highlight=False)
    writable(out)
    wanted = listed(dataset, tuple(FILES), "data set")
    with showing_status(console) as show:
        pools = [load_pool(name, data, embeddings, show) for name in wanted]
    with console.status("searching …"):
        made = retrieval.table(list(retrieval.search(pools)))
    show_tables([made], console)
    path = out / "retrieval.json"
    record = machine.describe_run() | {
        "embeddings": embeddings,
        "questions": {name: len(pool) for name, pool in zip(wanted, pools, strict=True)},
        "result": [dict(zip(made.columns, map(cell_json, row), strict=True)) for row in made.rows],
    }
    write_json(path, record, console)


def rat_corpus(
    *,
    family: Annotated[str, typer.Option(help="code, maths, planning or writing.")],
    data: Annotated[
        Path, typer.Option(help="Folder of the family's published files; for writing, of HotpotQA.")
    ],
    embeddings: Annotated[
        str, typer.Option(help="Embedding model; none: search by words only.")
    ] = "minilm",
    out: Annotated[Path, typer.Option(help="Folder for the list of dropped texts.")] = (
        RESULTS / "rat"
    ),
) -> None:
    """Build RAT's corpus without texts of the test set; list the dropped texts."""
    console = Console(highlight=False)
    chosen = one_of(family, get_args(Family), "task family")
    writable(out)
    with showing_status(console) as show:
        built = build_corpus(
            chosen,
            data,
            embeddings=embeddings,
            progress=lambda name, done, of: show(
                f"{done} of {of} passages are {'stored' if name else 'embedded'} …"
            ),
        )
    path = out / f"corpus-{chosen}.json"
    _print_summary(console, built)
    write_json(path, built.as_json(), console)


def _print_summary(console: Console, built: BuiltCorpus) -> None:
    of = len(built.kept) + len(built.dropped)
    console.print(
        f"{built.collection}: {len(built.kept)} of {of} texts; {len(built.dropped)} were dropped "
        "as they share words with the test set."
    )
    for one in built.dropped[:5]:
        print_line(console, f"  dropped {one.name}, like {one.tested}: {one.words}")
