"""The process that reads a file of rows into a SQLite database, with limited time and memory.

Protocol: one JSON object per line. The request is ``{"path", "name", "kind", "into", "folder",
"seconds", "memory", "most_bytes"}``, the answer ``{"tables", "notes"}`` or ``{"problem", "fix"}``.
"""

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from itertools import islice
from math import isclose
from pathlib import Path
from typing import Any

from planweave.tools.files.reading import Request, RowTable, Unusable, free_name, quoted, read
from planweave.tools.process import Channel, limit_process

_NICE = 5  # the parent's other work has priority
_BATCH = 5_000  # rows
_TOTAL = re.compile(
    r"(?:grand )?totals?:?|sum:?|(?:gesamt)?summe:?|(?:ins)?gesamt:?|totale:?|totaal:?|suma:?",
    re.IGNORECASE,
)
_LEAST_SUMMED = 2
"""Too few values, with the sum itself: one row and its total are just two equal rows."""


def main() -> None:
    """Serve until standard input ends."""
    channel = Channel()
    with suppress(AttributeError):  # Windows lacks it
        os.nice(_NICE)
    while True:
        sent = channel.receive()
        limit_process(sent.pop("memory"), sent.pop("seconds"), file_bytes=sent.pop("most_bytes"))
        channel.send(_answer(Request(**sent), Path(sent["into"])))


def _answer(request: Request, into: Path) -> dict[str, Any]:
    notes: list[str] = []
    try:
        with closing(sqlite3.connect(into, isolation_level=None)) as base:
            base.execute("PRAGMA synchronous = OFF")  # an incomplete file is thrown away
            made = list(_write_tables(base, read(request, base, notes), notes))
    except Unusable as error:
        return {"problem": f"{request.name} {error}", "fix": error.fix}
    except PermissionError:
        return {"problem": f"{request.name} may not be read.", "fix": "Change its permissions."}
    except (sqlite3.Error, OSError) as error:
        return {
            "problem": f"{request.name} cannot be stored as a database ({error}).",
            "fix": "Split the file, or free some space.",
        }
    if not made:
        return {"problem": f"{request.name} holds no rows.", "fix": "Check what is in it."}
    return {"tables": made, "notes": notes}


def _write_tables(
    base: sqlite3.Connection, tables: Iterable[RowTable], notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Write the tables; tables that are already in the database are only counted."""
    for table in tables:
        if table.rows is None:
            (count,) = base.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()  # noqa: S608 (quoted)
            yield {"name": table.name, "rows": count, "columns": table.columns}
            continue
        known = {row[0].lower() for row in base.execute("SELECT name FROM sqlite_master")}
        name, count = free_name(table.name, known), 0
        columns = ", ".join(f"{quoted(one)} {kind}" for one, kind in table.columns.items())
        places = ", ".join("?" * len(table.columns))
        base.execute("BEGIN")
        base.execute(f"CREATE TABLE {quoted(name)} ({columns})")
        rows = iter(table.rows)
        while batch := list(islice(rows, _BATCH)):
            base.executemany(f"INSERT INTO {quoted(name)} VALUES ({places})", batch)  # noqa: S608 (quoted)
            count += len(batch)
        if total := _find_total_row(base, name, table.columns):
            base.execute(f"DELETE FROM {quoted(name)} WHERE _rowid_ = {count}")  # noqa: S608 (quoted)
            count -= 1
            notes.append(
                f'The last row of {name}, "{total}", is the sum of the others and was left out.'
            )
        base.execute("COMMIT" if count else "ROLLBACK")
        if count:
            yield {"name": name, "rows": count, "columns": table.columns}


def _find_total_row(base: sqlite3.Connection, table: str, columns: dict[str, str]) -> str:
    """The label of the last row if it claims to be a sum, and a column confirms it; else empty."""
    last = f"SELECT * FROM {quoted(table)} ORDER BY _rowid_ DESC LIMIT 1"  # noqa: S608 (quoted)
    row = base.execute(last).fetchone() or ()
    called = next((cell for cell in row if isinstance(cell, str)), "")
    if not _TOTAL.fullmatch(called):
        return ""
    numbers = [quoted(one) for one, kind in columns.items() if kind in ("INTEGER", "REAL")]
    sums = ", ".join(f"total({one}), count({one})" for one in numbers) or "1"
    summed = base.execute(f"SELECT {sums} FROM {quoted(table)}").fetchone()  # noqa: S608 (quoted)
    cells = [
        cell
        for cell, kind in zip(row, columns.values(), strict=True)
        if kind in ("INTEGER", "REAL")
    ]
    is_sum = any(
        cell and count > _LEAST_SUMMED and isclose(whole, 2 * cell)
        for cell, whole, count in zip(cells, summed[::2], summed[1::2], strict=False)
    )
    return called if is_sum else ""
