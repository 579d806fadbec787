"""``planweave docs``: the documents that answers are drawn from."""

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
    from planweave.tools.documents.collection import Added, Collection
    from planweave.tools.documents.collection import OnEmbedded as Told
    from planweave.tools.documents.store import DocumentInfo

EXAMPLES = """\
planweave docs add report.pdf minutes.docx https://example.org/page.html

planweave docs add handbook/ --collection energy --embeddings none

planweave docs list
"""

app = typer.Typer(no_args_is_help=True)

_DEFAULT = "default"
_PAGING = {"headings": "section", "parts": "part of the text"}

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
    """The documents that answers are drawn from."""


@app.command()
def add(
    sources: Annotated[list[str], typer.Argument(help="Files, folders or https:// URLs.")],
    *,
    collection: _Name = _DEFAULT,
    embeddings: Annotated[
        str, typer.Option(help="Embedding model by name; none: search by words alone.")
    ] = "",
) -> None:
    """Add documents, or read them again if they have changed. Exit 1 if one cannot be read."""
    if not all(source.strip() for source in sources):
        raise BadInput("The name of a document is empty.", fix="Name a file, a folder or a URL.")
    kept = _opened(collection, embeddings=embeddings or None, create=True)
    failed = 0
    try:
        with _progress() as told:
            for source in sources:
                for added in _adding(kept, source, told):
                    failed += added.status == "failed"
                    _tell(added)
    except KeyboardInterrupt:
        typer.echo("Interrupted. What was added is kept; the same command goes on.", err=True)
        raise typer.Exit(130) from None
    raise typer.Exit(1 if failed else 0)


@app.command("list")
def list_command(*, collection: _Name = "", as_json: AsJson = False) -> None:
    """List the documents of a collection, or of all; those of benchmarks are only counted.

    Exit 1 if a collection is damaged.
    """
    from planweave.tools.documents.store import collections

    listed: dict[str, list[DocumentInfo]] = {}
    damaged = False
    for name in [collection] if collection else sorted(collections(), key=_of_a_benchmark):
        try:
            listed[name] = _opened(name).documents()
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
        table.add_column("document", overflow="fold")  # a name is needed whole, to remove it
        for title in ("pages", "only images", "chunks", "kB", "added"):
            table.add_column(title)
        for info in infos:
            images = _numbers(info.image_pages)
            size, added = f"{-(-info.bytes // 1000):,}", info.added[:16].replace("T", " ")
            table.add_row(plain(info.name), str(info.pages), images, str(info.chunks), size, added)
        console = Console(markup=False, highlight=False)
        console.print(f"{name}: {counted(len(infos), 'document')}")
        if infos and (whole or not _of_a_benchmark(name)):
            console.print(table)


def _of_a_benchmark(name: str) -> bool:
    """Whether `planweave bench` made the collection: it may have thousands of documents."""
    return re.match(r"(bench|mhqa|rat)[/-]", name) is not None


@app.command()
def remove(
    documents: Annotated[list[str], typer.Argument(help="Names, as `docs list` shows them.")],
    *,
    collection: _Name = _DEFAULT,
) -> None:
    """Remove documents; none is removed if one of the names is unknown."""
    names = dict.fromkeys(documents)
    _opened(collection).remove(*names)
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
    """Find the pages that fit a question best."""
    found = _opened(collection).search(query, k=pages, mode=mode)
    if as_json:
        told = ("document", "page", "score", "chunk")
        records = [{key: asdict(page)[key] for key in told} for page in found]
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
    number: Annotated[int, typer.Argument(help="The page, from 1, as an answer cites it.", min=1)],
    *,
    collection: _Name = _DEFAULT,
) -> None:
    """Open a page: the text that an answer quotes is in it."""
    typer.echo(plain(_opened(collection).page(document, number)))


def _opened(name: str, *, embeddings: str | None = None, create: bool = False) -> "Collection":
    from planweave.tools.documents.collection import open_collection  # which loads what it needs

    return open_collection(name, embeddings=embeddings, create=create)


def _adding(collection: "Collection", source: str, told: "Told") -> "Iterator[Added]":
    """What becomes of each file; a source that cannot be read does not stop the others."""
    from planweave.tools.documents.collection import Added

    added = None
    try:
        for added in collection.adding(source, progress=told):
            yield added
    except BadInput as error:
        yield Added(document=source, status="failed", problem=str(error))
    else:
        if added is None:
            yield Added(document=source, status="failed", problem="The folder holds no file.")


@contextmanager
def _progress() -> "Iterator[Told]":
    """A bar while a document is embedded."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    stderr = Console(stderr=True)
    with Progress(
        *columns,
        transient=True,
        console=stderr,
        redirect_stdout=False,  # else what we tell would go the way of the bar
        disable=not stderr.is_terminal,
    ) as bar:
        task = bar.add_task("", visible=False)

        def show(document: str, done: int, total: int) -> None:
            described = f"embedding {plain(document)}"
            bar.update(
                task, description=described, completed=done, total=total, visible=done < total
            )

        yield show


def _tell(added: "Added") -> None:
    """One line for a file; its troubles on the other stream."""
    if added.problem:
        typer.echo(plain(f"{added.document}: {added.status}. {added.problem}"), err=True)
        return
    pages = counted(added.pages, "page")
    if added.paging in _PAGING and added.pages > 1:
        pages += f" (one for each {_PAGING[added.paging]})"
    parts = [added.status, pages, counted(added.chunks, "chunk")]
    if added.embedded not in (0, added.chunks):
        parts.append(f"{added.embedded} of them new")
    typer.echo(plain(f"{added.document}: {', '.join(parts)}"))
    if added.image_pages:
        shown = _numbers(added.image_pages)
        problem = f"only images on {shown}; nothing there can be found until it is made text (OCR)"
        typer.echo(plain(f"{added.document}: {problem}"), err=True)


def _numbers(numbers: tuple[int, ...]) -> str:
    """Page numbers with runs drawn together: 1-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
