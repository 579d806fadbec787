"""Where uploaded databases are kept: one SQLite file each, in a folder for each owner."""

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
    """How many databases, and the bytes that they take."""

    databases: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A database that was uploaded.

    Attributes:
        files: The files that it was made of.
        notes: What was left out or changed on the way, in sentences.
        added: When, as an ISO date and time in UTC.
    """

    name: str
    files: list[str]
    tables: list[ImportedTable]
    notes: list[str]
    bytes: int = 0
    added: str = ""


def databases(owner: str | None) -> list[Kept]:
    """The databases of an owner, the newest first; None: of the one person of this machine."""
    found = [kept for path in _folder(owner).glob("*.db") if (kept := _read(path))]
    return sorted(found, key=lambda kept: kept.added, reverse=True)


def keep(path: Path, name: str, owner: str | None, *, into: str = "") -> Kept:
    """Keep a file, called ``name`` by its owner, as a database.

    Where the owner has a database of the file's name already, the new one gets a number behind it.
    With ``into`` its tables are added to that database of the owner's.
    """
    folder = _folder(owner)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = path_of(into, owner) if into else _free(folder, Path(name).stem)
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
    """What a run is given to ask a database: ``owner/name``, or the path for the one person."""
    path = path_of(name, owner)
    return f"{owner}/{name}" if owner else str(path)


def delete(name: str, owner: str | None) -> None:
    """Delete a database for good."""
    path = path_of(name, owner)
    path.unlink()
    path.with_suffix(".json").unlink(missing_ok=True)
    with suppress(OSError):  # its owner's last
        path.parent.rmdir()


def usage(owner: str | None) -> KeptSize:
    """What the databases of an owner take."""
    sizes = [path.stat().st_size for path in _folder(owner).glob("*.db")]
    return KeptSize(len(sizes), sum(sizes))


def _folder(owner: str | None) -> Path:
    return settings().data_dir / "databases" / (owner or LOCAL)


def _free(folder: Path, stem: str) -> Path:
    base = re.sub(r"\W+", "-", stem).strip("-_")[:56] or "database"
    names = [base, *(f"{base}-{number}" for number in range(2, 1_000))]
    free = next((name for name in names if not (folder / f"{name}.db").exists()), "")
    if not free:
        raise BadInput(f"There are too many databases named {base}.", fix="Delete some of them.")
    return folder / f"{free}.db"


def _read(path: Path) -> Kept | None:
    """What is known of a database; None where an upload was cut off."""
    try:
        known = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    tables = [ImportedTable(**table) for table in known.pop("tables")]
    return Kept(**known, tables=tables)
