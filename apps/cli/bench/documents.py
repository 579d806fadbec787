"""``planweave bench documents``: indexing, searching, and how often the right page is found."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave import BadInput
from planweave.benchmarks.core.options import listed
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.core.table import text
from planweave.benchmarks.suites.documents import measure as retrieval
from planweave.benchmarks.suites.documents.speed import Speed


def documents(
    *,
    data: Annotated[
        Path, typer.Option(help="Folder of published data, with docs/ and hotpotqa/ in it.")
    ],
    part: Annotated[
        str, typer.Option(help="indexing, vectors, words, quality, with commas between, or all.")
    ] = "all",
    embeddings: Annotated[str, typer.Option(help="Embedding model.")] = "minilm",
    sizes: Annotated[
        str, typer.Option(help="Numbers of vectors and texts, with commas between.")
    ] = "1000,10000,100000,1000000",
    queries: Annotated[int, typer.Option(help="Queries at each size.", min=1)] = 200,
    reranker: Annotated[
        list[str] | None, typer.Option(help="Reranker to try: onnx:/folder.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the synthetic vectors and texts.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the result file and the picture.")] = Path(
        "results/documents"
    ),
) -> None:
    """Documents: indexing and search times, memory, and retrieval quality with intervals."""
    console = Console()
    asked = retrieval.Asked(
        data=data,
        embeddings=embeddings,
        sizes=_numbers(sizes),
        queries=queries,
        rerankers=reranker or (),
        seed=seed,
    )
    for name in listed(part, retrieval.PARTS, "part"):
        about = retrieval.head(sys.argv, embeddings)
        lines: list[retrieval.Line] = []
        for line in retrieval.measure(name, asked):
            lines.append(line)
            retrieval.keep(out / "retrieval.json", name, about, lines)
            console.print(f"{name}: {' · '.join(_cells(line))}", markup=False, highlight=False)
        show_tables([retrieval.table(name, lines)], console)
        speeds = [line for line in lines if isinstance(line, Speed)]
        if name == "vectors" and retrieval.picture(out / "search.png", speeds):
            console.print(f"Written: {out / 'search.png'}", markup=False, soft_wrap=True)
    console.print(f"Written: {out / 'retrieval.json'}", markup=False, soft_wrap=True)


def _cells(line: retrieval.Line) -> list[str]:
    return [text(getattr(line, name)) for name in line.__dataclass_fields__]


def _numbers(sizes: str) -> list[int]:
    try:
        found = [int(size) for size in sizes.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise BadInput(f"{sizes!r} are no sizes.", fix="Write them as --sizes 1000,10000.")
    return found
