"""``planweave docs``: manage the documents that answers come from."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from planweave import BadInput
from planweave.apps import completion
from planweave.apps.options import AsJson
from planweave.apps.plain import counted, json_text, plain

if TYPE_CHECKING:
    from planweave.tools.documents.collection import Added, Collection, OnEmbedded
    from planweave.tools.documents.store import DocumentInfo

EXAMPLES = """\
planweave docs add report.pdf minutes.docx https://example.org/page.html

planweave docs add handbook/ --collection energy --embeddings none

planweave docs list
"""

app = typer.Typer(no_args_is_help=True)

_DEFAULT = "default"
_PAGE_UNITS = {"headings": "section", "parts": "part of the text"}

_Name = Annotated[
    str,
    typer.Option(
        "--collection",
        help="Name of a collection, such as energy, or alice/energy for alice's own.",
        autocompletion=completion.collections,
    ),
]


@app.callback()
def docs() -> None:
    """Manage the documents that answers come from."""


@app.command()
def add(
    sources: Annotated[list[str], typer.Argument(help="Files, folders or https:// URLs.")],
    *,
    collection: _Name = _DEFAULT,
    embeddings: Annotated[
        str, typer.Option(help="Embedding model; none: search by words only.")
    ] = "",
) -> None:
    """Add documents, or update changed ones. Exit code 1: one cannot be read."""
    if not all(source.strip() for source in sources):
        raise BadInput("The name of a document is empty.", fix="Name a file, a folder or a URL.")
    opened = _open(collection, embeddings=embeddings or None, create=True)
    failed = 0
    try:
        with _progress() as on_embedded:
            for source in sources:
                for added in _add_source(opened, source, on_embedded):
                    failed += added.status == "failed"
                    _print_added(added)
    except KeyboardInterrupt:
        typer.echo("Interrupted. Added documents are saved; the same command continues.", err=True)
        raise typer.Exit(130) from None
    raise typer.Exit(1 if failed else 0)


@app.command("list")
def list_command(*, collection: _Name = "", as_json: AsJson = False) -> None:
    """List the documents of a collection, or of all; only count those of benchmarks.

    Exit code 1: a collection is damaged.
    """
    from planweave.tools.documents.store import collections

    listed: dict[str, list[DocumentInfo]] = {}
    damaged = False
    for name in [collection] if collection else sorted(collections(), key=_is_benchmark):
        try:
            listed[name] = _open(name).documents()
        except BadInput as error:
            typer.echo(plain(f"Error: {error}"), err=True)
            damaged = True
    if as_json:
        record = {name: [asdict(info) for info in infos] for name, infos in listed.items()}
        typer.echo(json_text(record))
    elif not listed and not damaged:
        typer.echo("There are no documents yet. Add some: planweave docs add FILE")
    else:
        _show(listed, whole=bool(collection))
    raise typer.Exit(1 if damaged else 0)


def _show(listed: "dict[str, list[DocumentInfo]]", *, whole: bool) -> None:
    for name, infos in listed.items():
        table = Table(box=None)
        table.add_column("document", overflow="fold")  # `docs remove` needs the whole name
        for title in ("pages", "only images", "chunks", "kB", "added"):
            table.add_column(title)
        for info in infos:
            images = _numbers(info.image_pages)
            size, added = f"{-(-info.bytes // 1000):,}", info.added[:16].replace("T", " ")
            table.add_row(plain(info.name), str(info.pages), images, str(info.chunks), size, added)
        console = Console(markup=False, highlight=False)
        console.print(f"{name}: {counted(len(infos), 'document')}")
        if infos and (whole or not _is_benchmark(name)):
            console.print(table)


def _is_benchmark(name: str) -> bool:
    """Whether `planweave bench` made the collection, which may have thousands of documents."""
    return re.match(r"(bench|mhqa|rat)[/-]", name) is not None


@app.command()
def remove(
    documents: Annotated[list[str], typer.Argument(help="Names, as `docs list` shows them.")],
    *,
    collection: _Name = _DEFAULT,
) -> None:
    """Remove documents; none is removed if one of the names is unknown."""
    names = dict.fromkeys(documents)
    _open(collection).remove(*names)
    for name in names:
        typer.echo(plain(f"{name}: removed"))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, or words.")],
    *,
    collection: _Name = _DEFAULT,
    pages: Annotated[int, typer.Option(help="Pages at most.", min=1, max=100)] = 4,
    mode: Annotated[
        Literal["fused", "dense", "bm25"],
        typer.Option(help="dense: by meaning; bm25: by words; fused: by both."),
    ] = "fused",
    as_json: AsJson = False,
) -> None:
    """Find the pages that match a question best."""
    found = _open(collection).search(query, k=pages, mode=mode)
    if as_json:
        fields = ("document", "page", "score", "chunk")
        records = [{key: asdict(page)[key] for key in fields} for page in found]
        typer.echo(json_text(records))
        return
    if not found:
        typer.echo("The documents hold nothing like that.")
    for page in found:
        typer.secho(plain(f"{page.document}, page {page.page}"), bold=True, nl=False)
        typer.echo(f"  {page.score:.3f}")
        typer.echo(plain(f"    {' '.join(page.chunk.split())}"))


@app.command()
def page(
    document: Annotated[str, typer.Argument(help="A name, as `docs list` shows it.")],
    number: Annotated[
        int, typer.Argument(help="Number of the page, from 1, as an answer cites it.", min=1)
    ],
    *,
    collection: _Name = _DEFAULT,
) -> None:
    """Print a page, for example one that an answer quotes."""
    typer.echo(plain(_open(collection).page(document, number)))


def _open(name: str, *, embeddings: str | None = None, create: bool = False) -> "Collection":
    from planweave.tools.documents.collection import open_collection

    return open_collection(name, embeddings=embeddings, create=create)


def _add_source(
    collection: "Collection", source: str, on_embedded: "OnEmbedded"
) -> "Iterator[Added]":
    """Add a source and yield the result of each file; an unreadable source is a result, too."""
    from planweave.tools.documents.collection import Added

    added = None
    try:
        for added in collection.adding(source, progress=on_embedded):
            yield added
    except BadInput as error:
        yield Added(document=source, status="failed", problem=str(error))
    else:
        if added is None:
            yield Added(document=source, status="failed", problem="The folder has no files.")


@contextmanager
def _progress() -> "Iterator[OnEmbedded]":
    """Show a progress bar while documents are embedded."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    stderr = Console(stderr=True)
    with Progress(
        *columns,
        transient=True,
        console=stderr,
        redirect_stdout=False,  # otherwise results would be printed to stderr like the bar
        disable=not stderr.is_terminal,
    ) as bar:
        task = bar.add_task("", visible=False)

        def show(document: str, done: int, total: int) -> None:
            described = f"embedding {plain(document)}"
            bar.update(
                task, description=described, completed=done, total=total, visible=done < total
            )

        yield show


def _print_added(added: "Added") -> None:
    """Print a line about a file; problems go to stderr."""
    if added.problem:
        typer.echo(plain(f"{added.document}: {added.status}. {added.problem}"), err=True)
        return
    pages = counted(added.pages, "page")
    if added.paging in _PAGE_UNITS and added.pages > 1:
        pages += f" (one for each {_PAGE_UNITS[added.paging]})"
    parts = [added.status, pages, counted(added.chunks, "chunk")]
    if added.embedded not in (0, added.chunks):
        parts.append(f"{added.embedded} of them new")
    typer.echo(plain(f"{added.document}: {', '.join(parts)}"))
    if added.image_pages:
        shown = _numbers(added.image_pages)
        problem = f"only images on {shown}; they cannot be searched before text recognition (OCR)"
        typer.echo(plain(f"{added.document}: {problem}"), err=True)


def _numbers(numbers: tuple[int, ...]) -> str:
    """Page numbers as ranges: 1-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
