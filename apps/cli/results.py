"""``planweave results``: the records behind the reports, in one compressed archive."""

import lzma
import tarfile
import tempfile
from pathlib import Path
from typing import Annotated

import httpx
import typer

from planweave import BadInput

app = typer.Typer(no_args_is_help=True)

ARCHIVE = "records.tar.xz"
_MAX_BYTES = 200 * 2**20
_SUFFIXES = (".jsonl", ".sql", ".cypher", ".glossary.txt")
"""Suffixes of records, and of databases and graphs for our own questions."""

Folder = Annotated[Path, typer.Option("--results", help="Folder of the results.")]


@app.callback()
def results() -> None:
    """The records behind the reports in results/."""


@app.command("download")
def download(
    source: Annotated[
        str, typer.Argument(help="URL or file of the archive; the one in the folder if unset.")
    ] = "",
    *,
    results: Folder = Path("results"),
) -> None:
    """Unpack the records of an archive next to their reports; existing files stay."""
    if source.startswith(("http://", "https://")):
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder, ARCHIVE)
            _download(source, archive)
            written = _unpack(archive, results)
    else:
        written = _unpack(Path(source) if source else results / ARCHIVE, results)
    typer.echo(f"{written} files of records written into {results}.")


@app.command("pack")
def pack(*, results: Folder = Path("results")) -> None:
    """Pack all records into the archive; the files stay.

    Files that are only in the archive are unpacked first, so that none is lost.
    """
    if (results / ARCHIVE).exists():
        _unpack(results / ARCHIVE, results)
    files = sorted(file for file in results.rglob("*") if file.name.endswith(_SUFFIXES))
    if not files:
        raise BadInput(f"There are no records in {results}.", fix="Run a benchmark first.")
    with tarfile.open(results / ARCHIVE, "w:xz") as archive:
        for file in files:
            archive.add(file, str(file.relative_to(results)), filter=_anonymize)
    typer.echo(f"{len(files)} files of records packed into {results / ARCHIVE}.")


def _anonymize(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove machine-specific data from an entry."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def _download(url: str, archive: Path) -> None:
    try:
        with (
            httpx.stream("GET", url, follow_redirects=True, timeout=60) as reply,
            archive.open("wb") as file,
        ):
            reply.raise_for_status()
            for part in reply.iter_bytes():
                file.write(part)
                if file.tell() > _MAX_BYTES:
                    raise BadInput(f"The archive at {url} is larger than {_MAX_BYTES} bytes.")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise BadInput(
            f"The archive at {url} cannot be downloaded ({type(error).__name__}).",
            fix="Check the address and the network.",
        ) from None


def _unpack(archive: Path, results: Path) -> int:
    """Unpack the records of ``archive`` that do not exist; return their number."""
    written = 0
    try:
        with tarfile.open(archive, "r:xz") as opened:
            for entry in opened:
                target = results / entry.name
                outside = Path(entry.name).is_absolute() or ".." in Path(entry.name).parts
                if outside or not entry.isfile() or not target.name.endswith(_SUFFIXES):
                    raise BadInput(
                        f"{archive} contains {entry.name!r}, which is not a file of records."
                    )
                if not target.exists():
                    _extract(opened, entry, results)
                    written += 1
    except (OSError, tarfile.TarError, EOFError, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise BadInput(
            f"The archive {archive} cannot be read ({reason}).",
            fix="Name an archive that `planweave results pack` made.",
        ) from None
    return written


def _extract(archive: tarfile.TarFile, entry: tarfile.TarInfo, results: Path) -> None:
    try:
        archive.extract(entry, results, filter="data")
    except BaseException:
        (results / entry.name).unlink(missing_ok=True)  # otherwise half a file would remain
        raise
