"""``planweave bench documents``: how often the right page is found."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave.apps.cli.bench.common import RESULTS, write_json
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.options import Embeddings
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.suites.documents.quality import as_json, qualities, quality_table


def documents(
    *,
    data: Annotated[
        Path, typer.Option(help="Folder of published data, with docs/ and hotpotqa/ in it.")
    ],
    embeddings: Embeddings = "minilm",
    out: Annotated[Path, typer.Option(help="Folder of the result file.")] = RESULTS / "documents",
) -> None:
    """Documents: how often the right page is found, by meaning, by words and by both."""
    console = Console(highlight=False)
    with console.status("searching …"):
        lines = list(qualities(data, embeddings))
    show_tables([quality_table(lines)], console)
    made = {"embeddings": embeddings, "result": [as_json(line) for line in lines]}
    write_json(out / "quality.json", machine.head() | made, console)
