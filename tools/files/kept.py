"""Stores uploaded databases: one SQLite file each, in a folder for each owner."""

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from planweave import BadInput
from planweave.memory import LOCAL
from planweave.state import is_file_name
from planweave.tools.documents.store import settings
from planweave.tools.files.importing import Imported, ImportedTable, import_file

_NAME = re.compile(r"\w[\w-]{0,63}")


class KeptSize(NamedTuple):
    """The number of databases, and their size in bytes."""

    databases: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Kept:
    """An uploaded database.

    Attributes:
        files: The files that it was made from.
        notes: What was left out or changed, in sentences.
        added: The time of the upload, as an ISO date and time in UTC.
    """

    name: str
    files: list[str]
    tables: list[ImportedTable]
    notes: list[str]
    bytes: int = 0
    added: str = ""


def databases(owner: str | None) -> list[Kept]:
    """The databases of an owner, newest first; None means the only user of this machine."""
    found = [kept for path in _folder(owner).glob("*.db") if (kept := _read(path))]
    return sorted(found, key=lambda kept: kept.added, reverse=True)


def keep(path: Path, name: str, owner: str | None, *, into: str = "") -> Kept:
    """Store a file as a database, under the owner's ``name`` for it.

    If the owner already has a database of this name, the new one gets a number at its end. With
    ``into``, the tables are added to that database of the owner.
    """
    folder = _folder(owner)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = path_of(into, owner) if into else _find_free_path(folder, Path(name).stem)
    before = _read(target) if into else None
    made: Imported = import_file(path, target, name=name)
    kept = Kept(
        name=target.stem,
        files=[*(before.files if before else []), name],
        tables=[*(before.tables if before else []), *made.tables],
        notes=[*(before.notes if before else []), *made.notes],
        bytes=target.stat().st_size,
        added=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    target.with_suffix(".json").write_text(json.dumps(asdict(kept)), encoding="utf-8")
    return kept


def path_of(name: str, owner: str | None) -> Path:
    """The file of a database."""
    path = _folder(owner) / f"{name}.db"
    if not is_file_name(name, _NAME) or not path.is_file():
        raise BadInput(f"There is no database {name!r} of yours.", fix="Choose one that is listed.")
    return path


def url_of(name: str, owner: str | None) -> str:
    """The identifier of a database in a run: ``owner/name``, or the path for the only user."""
    path = path_of(name, owner)
    return f"{owner}/{name}" if owner else str(path)


def delete(name: str, owner: str | None) -> None:
    """Delete a database for good."""
    path = path_of(name, owner)
    path.unlink()
    path.with_suffix(".json").unlink(missing_ok=True)
    with suppress(OSError):  # the owner's last database
        path.parent.rmdir()


def usage(owner: str | None) -> KeptSize:
    """The number and size of an owner's databases."""
    sizes = [path.stat().st_size for path in _folder(owner).glob("*.db")]
    return KeptSize(len(sizes), sum(sizes))


def _folder(owner: str | None) -> Path:
    return settings().data_dir / "databases" / (owner or LOCAL)


def _find_free_path(folder: Path, stem: str) -> Path:
    base = re.sub(r"\W+", "-", stem).strip("-_")[:56] or "database"
    names = [base, *(f"{base}-{number}" for number in range(2, 1_000))]
    free = next((name for name in names if not (folder / f"{name}.db").exists()), "")
    if not free:
        raise BadInput(f"There are too many databases named {base}.", fix="Delete some of them.")
    return folder / f"{free}.db"


def _read(path: Path) -> Kept | None:
    """The description of a database; None if its upload was cut off."""
    try:
        known = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    tables = [ImportedTable(**table) for table in known.pop("tables")]
    return Kept(**known, tables=tables)
