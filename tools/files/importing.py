"""Turns a file of rows into tables of a SQLite database, in a separate process."""

import logging
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, cast

from planweave import BadInput
from planweave.tools.database import DatabaseMissing, DatabaseUnavailable
from planweave.tools.documents.store import settings
from planweave.tools.files import KINDS, SHEETS
from planweave.tools.own_folder import OwnFolder
from planweave.tools.process import PATIENCE, HelperProcess, ProcessEnded
from planweave.tools.sql.database import SqlDatabase
from planweave.tools.sql.sqlite import open_file

log = logging.getLogger(__name__)

_SECONDS, _SECONDS_A_MEGABYTE = 20.0, {".csv": 0.6, ".tsv": 0.6, ".parquet": 6.0}
_PACKED_SECONDS = 3.0
_MEMORY = 1 << 30
_GROWTH = 12
"""Factor from a file's size to the largest size of its database; a packed file grows."""
_LEAST_ROOM = 200_000_000
_at_once = BoundedSemaphore(2)


@dataclass(frozen=True)
class ImportedTable:
    """An imported table: its name, its number of rows, and its columns with their types."""

    name: str
    rows: int
    columns: dict[str, str]


@dataclass(frozen=True)
class Imported:
    """The result of an import; ``notes`` list in sentences what was left out."""

    tables: list[ImportedTable]
    notes: list[str]


def import_file(path: Path, into: Path, *, name: str = "") -> Imported:
    """Read a file into a SQLite database; tables that are already there stay.

    Args:
        path: The file; its suffix determines its kind.
        into: The database; created if needed. A SQLite file is copied and needs a new one.
        name: The name of the file if ``path`` has another; tables are named after it.
    """
    name = name or path.name
    kind, size = Path(name).suffix.lower(), _size(path, name)
    seconds = _SECONDS + size / 1e6 * _SECONDS_A_MEGABYTE.get(kind, _PACKED_SECONDS)
    memory = _MEMORY + min(6 * size, _MEMORY)
    with tempfile.TemporaryDirectory(prefix="planweave-import-", dir=into.parent) as folder:
        made = Path(folder) / "made.db"
        if into.is_file():
            shutil.copyfile(into, made)
        request = {
            "path": str(path.absolute()),
            "name": name,
            "kind": "sheets" if kind in SHEETS else kind.removeprefix("."),
            "into": str(made),
            "folder": folder,
            "seconds": seconds,
            "memory": memory,
            "most_bytes": _LEAST_ROOM + _GROWTH * size,
        }
        answer = _ask_process(request, name, seconds, memory)
        made.replace(into)
    tables = cast("list[dict[str, Any]]", answer["tables"])
    return Imported([ImportedTable(**one) for one in tables], cast("list[str]", answer["notes"]))


def open_rows(path: Path) -> SqlDatabase:
    """Open a file of rows as a temporary database, which is removed with the process."""
    folder = OwnFolder()
    made = folder.path / "rows.db"
    try:
        for note in import_file(path, made).notes:
            log.warning(note)
        backend = open_file(made)
    except BadInput as error:
        folder.remove()
        kind = DatabaseUnavailable if path.exists() else DatabaseMissing
        raise kind(error.problem, fix=error.fix) from None
    except BaseException:
        folder.remove()
        raise
    weakref.finalize(backend, folder.remove)
    return SqlDatabase(backend)


def _size(path: Path, name: str) -> int:
    if Path(name).suffix.lower() not in KINDS:
        raise BadInput(
            f"{name} is not a file that can become a database.", fix=f"Use {', '.join(KINDS)}."
        )
    if not path.is_file():
        raise BadInput(
            f"{path} is a folder, not a file." if path.is_dir() else f"There is no file {path}.",
            fix="Check the path; nothing was created.",
        )
    size, most = path.stat().st_size, settings().limits().bytes
    if size > most:
        raise BadInput(
            f"{name} has {size / 1e6:,.0f} MB, and {most / 1e6:,.0f} MB are allowed.",
            fix="Raise PLANWEAVE_DOCUMENT_MEGABYTES, or load it into a database server.",
        )
    return size


def _ask_process(
    request: Mapping[str, object], name: str, seconds: float, memory: int
) -> dict[str, object]:
    with _at_once:
        process = HelperProcess("planweave.tools.files.worker", bare=True)
        try:
            answer = process.ask(request, PATIENCE * seconds)
        except ProcessEnded as ended:
            problem = f"{name} {ended.why(seconds, memory)}."
            raise BadInput(problem, fix="Split the file.") from None
        finally:
            process.stop()
    if "problem" in answer:
        raise BadInput(str(answer["problem"]), fix=str(answer["fix"]))
    return answer
