"""Readers for files of rows: each yields typed tables, and notes what it left out."""

import csv
import re
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from planweave.tools.files.column_types import TypedColumn, is_true, typed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Value: TypeAlias = str | int | float | bytes | None

_INSTALL = "Run: pip install 'planweave[files]'."
_MOST_COLUMNS = 1_000
_MOST_SHEETS = 50
_LONGEST_LINE = 1_000_000
_MOST_ABOVE = 0.9  # share of the lines above a table, such as its title
_LINES_NAMED = 5
_HEAD_ROWS = 20
"""Rows in which the header of a sheet is searched; titles are above it."""
_NULLS = ("", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "-", "\u2013", "\u2014")
_ABOVE = "In {}, what is above the header was left out."
_NUMBERED = re.compile(r"column\d+")
"""DuckDB's name for a column without one."""
_HINT = re.compile(rb"(?:\xef\xbb\xbf)?sep=([,;\t|])\r?\n", re.IGNORECASE)
"""The line that tells Excel the column separator."""
_COPY = re.compile(r"['\"]?/\S*/source\.\w+['\"]?")
"""The place of a file during reading."""
_UNCOMPUTED = re.compile(rb"(?:</f>|<f[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_FIGURE = re.compile(r"\d")
_LONGEST_NUMBER = 40
"""The most characters of a number or date."""
_WHOLE = 2**53
_CONVERSIONS = (
    (r"U?(TINY|SMALL)INT|U?INTEGER|BIGINT", "{}", "INTEGER"),
    (r"U?HUGEINT|UBIGINT|DECIMAL\(\d+,0\)", "CAST({} AS BIGINT)", "INTEGER"),
    (r"FLOAT|DOUBLE|DECIMAL.*", "CAST({} AS DOUBLE)", "REAL"),
    (r"BOOLEAN", "CAST({} AS INTEGER)", "BOOLEAN"),
    (r"DATE", "CAST({} AS VARCHAR)", "DATE"),
    (r"TIMESTAMP.*", "strftime(CAST({} AS TIMESTAMP), '%Y-%m-%d %H:%M:%S')", "TIMESTAMP"),
    (r"BLOB", "{}", "BLOB"),
)
"""DuckDB's types, how to read a column of each, and its type in SQLite."""
_WHOLE_KINDS = r"U?HUGEINT|UBIGINT|DECIMAL\(\d+,0\)|VARCHAR"
"""DuckDB's types that can hold whole numbers of more than 64 bits."""
_LONG_WHOLE = (
    "bool_and(regexp_full_match(CAST({0} AS VARCHAR), '[-+]?\\d+')) "
    "AND bool_or(TRY_CAST(CAST({0} AS VARCHAR) AS BIGINT) IS NULL)"
)
"""Whether all values of a column are whole numbers and one has more than 64 bits."""


class Unusable(Exception):
    """The file cannot be read; the message is the rest of a sentence that begins with its name."""

    def __init__(self, problem: str, fix: str = "Check what is in it.") -> None:
        super().__init__(problem)
        self.fix = fix


class _LineTooLong(Unusable):
    """A text with a line that is too long for every form."""


@dataclass(frozen=True)
class Request:
    """The file to read with its name and kind, and a folder for temporary files."""

    path: str
    name: str
    kind: str
    into: str
    folder: str


@dataclass(frozen=True)
class RowTable:
    """A table: the SQLite type of each column, and the rows; None if they are already written."""

    name: str
    columns: dict[str, str]
    rows: Iterable[Sequence[Value]] | None


def read(request: Request, base: sqlite3.Connection, notes: list[str]) -> Iterator[RowTable]:
    """The tables of a file; sentences about left-out parts are added to ``notes``.

    Raises:
        Unusable: It is not such a file, or has no table.
    """
    readers: dict[str, Callable[[Request, list[str]], Iterator[RowTable]]] = {
        "csv": _read_delimited,
        "tsv": _read_delimited,
        "parquet": _read_parquet,
        "sheets": _read_sheets,
    }
    if request.kind in readers:
        return readers[request.kind](request, notes)
    return _copy_database(request, base)


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name that is not in ``taken`` (lower case); if necessary with a number at its end."""
    known, number, free = set(taken), 1, name
    while free.lower() in known:
        number += 1
        free = f"{name}_{number}"
    return free


def _identifier(text: str, default: str) -> str:
    """A name that needs no quotes and is not reserved by SQLite."""
    name = re.sub(r"\W+", "_", text.strip()).strip("_")[:60]
    return f"_{name}" if re.match(r"\d|sqlite_", name, re.IGNORECASE) else name or default


def _names(headings: Sequence[str]) -> list[str]:
    names: list[str] = []
    for number, heading in enumerate(headings, start=1):
        name = _identifier(heading, f"column_{number}")
        names.append(free_name(name, [one.lower() for one in names]))
    return names


# Text and Parquet: DuckDB detects delimiter, quotes, header and types.


def _read_delimited(request: Request, notes: list[str]) -> Iterator[RowTable]:
    source = Path(request.folder, "source.csv")  # a fixed name: "*" in a name means many files
    encoding = _detect_encoding(Path(request.path))
    with (
        open(request.path, encoding=encoding, errors="replace") as text,  # accepts any line end
        source.open("w", encoding="utf-8", newline="\n") as file,
    ):
        shutil.copyfileobj(text, file)
    with closing(_engine(request, source)) as engine:
        form = _detect_form(engine, source)
        _load(engine, form.reader(source), "CSV")
        broken = engine.execute("SELECT DISTINCT line FROM reject_errors ORDER BY line").fetchall()
        (count,) = engine.execute("SELECT count(*) FROM loaded").fetchone() or (0,)
        if len(broken) + (0 if form.hinted else form.skip) > count:
            raise Unusable("is not a table: most of its rows have different numbers of fields.")
        if broken:
            lines = ", ".join(str(line) for (line,) in broken[:_LINES_NAMED])
            more = ", …" if len(broken) > _LINES_NAMED else ""
            word, are, were = (
                ("line", "is", "was") if len(broken) == 1 else ("lines", "are", "were")
            )
            notes.append(
                f"{len(broken):,} of {count + len(broken):,} rows of {request.name} {are} broken "
                f"and {were} left out ({word} {lines}{more})."
            )
        if form.skip and not form.hinted:
            notes.append(_ABOVE.format(request.name))
        _clean(engine, form.names)
        _name_below_title(engine, form.names, request.name, notes)
        yield _read_loaded(engine, request, notes, comma=form.delimiter == ";")


class _Form(NamedTuple):
    """The form of a text: how it separates fields, as DuckDB detects, and the column names."""

    delimiter: str
    quote: str
    escape: str
    comment: str
    skip: int
    header: bool
    names: list[str]
    hinted: bool

    def reader(self, source: Path) -> str:
        """The call that reads all columns as texts: no column type can lose a value."""
        columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in self.names)
        nulls = ", ".join(map(_text, _NULLS))
        return (
            f"read_csv('{source}', auto_detect = false, delim = {_text(self.delimiter)}, "
            f"quote = {_text(self.quote)}, escape = {_text(self.escape)}, "
            f"comment = {_text(self.comment)}, skip = {self.skip}, header = {self.header}, "
            f"columns = {{{columns}}}, nullstr = [{nulls}], max_line_size = {_LONGEST_LINE}, "
            "store_rejects = true)"
        )


def _detect_form(engine: "DuckDBPyConnection", source: Path) -> _Form:
    """The form that fits all rows, or else the one that fits most of them."""
    with source.open("rb") as file:
        hint = _HINT.match(file.read(16))
    types = "'BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMP', 'VARCHAR'"  # no BOOLEAN: yes stays yes
    hinted = f", skip = 1, delim = '{hint[1].decode()}'" if hint else ""
    forms = []
    for rejects in ("", ", store_rejects = true"):
        sniffed = (
            "SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, Columns "  # noqa: S608 (ours)
            f"FROM sniff_csv('{source}', sample_size = -1, max_line_size = {_LONGEST_LINE}, "
            f"auto_type_candidates = [{types}]{hinted}{rejects})"
        )
        try:
            found = _run_query(engine, sniffed, "CSV").fetchone()
        except _LineTooLong:
            raise
        except Unusable:  # the other way may find a form
            continue
        if found:
            delimiter, quote, escape, comment = (
                "" if sign == "(empty)" else str(sign) for sign in found[:4]
            )
            skip, header, names = found[4], found[5], [column["name"] for column in found[6]]
            forms.append(
                _Form(delimiter, quote, escape, comment, skip, header, names, hint is not None)
            )
    if not forms:
        raise Unusable("cannot be read as CSV: no separator was found between its fields.")
    # A form that skips nearly all lines was detected from a few broken rows at the end.
    with source.open("rb") as file:
        most = _MOST_ABOVE * sum(1 for _ in file)
    return max(forms, key=lambda form: (form.skip <= most, len(form.names), -form.skip))


def _text(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def _clean(engine: "DuckDBPyConnection", names: Sequence[str]) -> None:
    """Remove blanks around values, rows without any value, and NA."""
    trimmed = {quoted(name): f"nullif(trim({quoted(name)}, ' \t\u00a0'), '')" for name in names}
    cells = ", ".join(f"{text} AS {column}" for column, text in trimmed.items())
    some = f"coalesce({', '.join(trimmed)}) IS NOT NULL"
    _load(engine, f"(SELECT {cells} FROM loaded) WHERE {some}", "CSV")  # noqa: S608 (quoted)
    for column in trimmed:  # NA means no value, but among DE and FR it is Namibia
        is_code = (
            f"bool_or({column} = 'NA') AND NOT bool_and(regexp_full_match({column}, '[A-Z]{{2}}'))"
        )
        if is_true(engine, is_code, column):
            engine.execute(f"UPDATE loaded SET {column} = NULL WHERE {column} = 'NA'")  # noqa: S608 (quoted)


def _name_below_title(
    engine: "DuckDBPyConnection", names: Sequence[str], file: str, notes: list[str]
) -> None:
    """If a title is in the place of the header, take the names below it."""
    if len(names) < 2 or sum(bool(_NUMBERED.fullmatch(name)) for name in names) < len(names) - 1:
        return
    first = f"SELECT rowid, * FROM loaded ORDER BY rowid LIMIT {_HEAD_ROWS}"  # noqa: S608 (ours)
    rows = engine.execute(first).fetchall()
    for number, *row in rows:
        filled = [cell for cell in row if cell is not None]
        if len(filled) < 2:  # another line of the title
            continue
        if len(set(filled)) < len(row) or any(re.match(r"[-+\W]*\d", cell) for cell in filled):
            return
        engine.execute(f"DELETE FROM loaded WHERE rowid <= {number}")  # noqa: S608 (a number)
        engine.execute("CREATE OR REPLACE TABLE loaded AS SELECT * FROM loaded")
        for old, new in zip(names, _names(row), strict=True):
            if old != new:
                engine.execute(f"ALTER TABLE loaded RENAME {quoted(old)} TO {quoted(new)}")
        notes.append(_ABOVE.format(file))
        return


def _read_parquet(request: Request, notes: list[str]) -> Iterator[RowTable]:
    source = Path(request.folder, "source.parquet")
    source.symlink_to(request.path)
    with closing(_engine(request, source)) as engine:
        _load(engine, f"read_parquet('{source}')", "Parquet")
        yield _read_loaded(engine, request, notes, comma=False)


def _detect_encoding(path: Path) -> str:
    """UTF-8 or UTF-16 if a file declares or fits it; otherwise that of Windows."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        head = file.read(1 << 16)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in head:
            raise Unusable("is not a text file.", "Give a CSV file, or rename it to its real type.")
        try:
            while head:
                decoder.decode(head)
                head = file.read(1 << 20)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def _engine(request: Request, source: Path) -> "DuckDBPyConnection":
    """DuckDB with access to this file alone, in one thread and little memory."""
    try:
        import duckdb
    except ImportError:
        raise Unusable("needs DuckDB, which is not installed.", _INSTALL) from None
    engine = duckdb.connect(
        config={
            "threads": 1,
            "memory_limit": "400MB",
            "temp_directory": request.folder,
            "allow_community_extensions": False,
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
        }
    )
    engine.execute("SET allowed_paths = [?]", [str(source)])
    engine.execute("SET enable_external_access = false")
    engine.execute("SET lock_configuration = true")
    return engine


def _load(engine: "DuckDBPyConnection", reader: str, kind: str) -> None:
    _run_query(engine, f"CREATE OR REPLACE TABLE loaded AS SELECT * FROM {reader}", kind)  # noqa: S608 (ours)


def _run_query(engine: "DuckDBPyConnection", query: str, kind: str) -> "DuckDBPyConnection":
    import duckdb

    try:
        return engine.execute(query)
    except duckdb.OutOfMemoryException:
        raise Unusable("takes too much memory to read.", "Split the file.") from None
    except (duckdb.Error, UnicodeDecodeError) as error:
        if "line size" in str(error).lower():
            raise _LineTooLong(f"has a line of over {_LONGEST_LINE:,} characters.") from None
        is_known = isinstance(error, duckdb.NotImplementedException) or "encrypted" in str(error)
        if kind == "Parquet" and not is_known:  # the reasons may contain bytes of the file
            problem = "is damaged, or is no Parquet file."
            raise Unusable(problem, "Make it or fetch it again.") from None
        reason = _COPY.sub("the file", str(error).partition("\n")[0].partition(": ")[2])[:200]
        reason = reason.rstrip(".") or type(error).__name__
        raise Unusable(f"cannot be read as {kind}: {reason}.") from None


def _read_loaded(
    engine: "DuckDBPyConnection", request: Request, notes: list[str], *, comma: bool
) -> RowTable:
    described = {row[0]: row[1] for row in engine.execute("DESCRIBE loaded").fetchall()}
    if len(described) > _MOST_COLUMNS:
        raise Unusable(f"has more than {_MOST_COLUMNS:,} columns.", "Leave some out.")
    read = {}
    for heading, kind in described.items():
        column = quoted(heading)
        is_long = re.fullmatch(_WHOLE_KINDS, kind)
        if is_long and is_true(engine, _LONG_WHOLE.format(column), column):
            read[column] = TypedColumn(
                f"CAST({column} AS VARCHAR)",
                "TEXT",
                "has whole numbers beyond 64 bits: it is stored as text, with all digits.",
            )
        elif kind != "VARCHAR":
            read[column] = _read_converted(column, kind)
    texts = [quoted(heading) for heading in described if quoted(heading) not in read]
    read |= typed(engine, texts, comma=comma)
    picked = [read[quoted(heading)] for heading in described]
    notes += [
        f"The column {heading} of {request.name} {one.note}"
        for heading, one in zip(described, picked, strict=True)
        if one.note
    ]
    names = _names(list(described))
    expressions = ", ".join(one.expression for one in picked)
    _run_query(engine, f"SELECT {expressions} FROM loaded", "a table")  # noqa: S608 (quoted)
    stem = _identifier(Path(request.name).stem, "rows")
    types = [one.type for one in picked]
    return RowTable(stem, dict(zip(names, types, strict=True)), _fetch_rows(engine))


def _fetch_rows(engine: "DuckDBPyConnection") -> Iterator[Sequence[Value]]:
    while rows := engine.fetchmany(5_000):
        yield from rows


def _read_converted(column: str, kind: str) -> TypedColumn:
    """How to read a column so that SQLite can store it."""
    for pattern, read_as, type_ in _CONVERSIONS:
        if re.fullmatch(pattern, kind):
            return TypedColumn(read_as.format(column), type_)
    return TypedColumn(f"CAST({column} AS VARCHAR)", "TEXT")


# Spreadsheets, read by calamine.


def _read_sheets(request: Request, notes: list[str]) -> Iterator[RowTable]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise Unusable("needs python-calamine, which is not installed.", _INSTALL) from None
    try:
        book = CalamineWorkbook.from_path(request.path)
        titles = book.sheet_names
    except (CalamineError, OSError, ValueError):
        fix = "Save it again as .xlsx, without a password."
        raise Unusable("cannot be read as a spreadsheet.", fix) from None
    if empty := _count_uncomputed(Path(request.path)):
        notes.append(
            f"{empty:,} cells of {request.name} hold formulas without a value and are empty here: "
            "open the file in a spreadsheet program, save it, and add it again."
        )
    if len(titles) > _MOST_SHEETS:
        notes.append(f"Only the first {_MOST_SHEETS} of {len(titles)} sheets were read.")
    for title in titles[:_MOST_SHEETS]:
        sheet = book.get_sheet_by_name(title)
        grid = [[_cell(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
            _fill_merged(grid, top, left, bottom, right)
        name = _identifier(Path(request.name).stem if len(titles) == 1 else title, "sheet")
        if table := _table(name, grid, title, request, notes):
            yield table


def _count_uncomputed(path: Path) -> int:
    """How many formulas have no stored value, as in files that no spreadsheet program wrote."""
    if not zipfile.is_zipfile(path):
        return 0
    with zipfile.ZipFile(path) as packed:
        parts = [name for name in packed.namelist() if name.startswith("xl/worksheets/sheet")]
        return sum(len(_UNCOMPUTED.findall(packed.read(part))) for part in parts)


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return None if cell.strip() in _NULLS else cell.strip()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= _WHOLE:
        return int(cell)
    if isinstance(cell, datetime) and not (cell.hour or cell.minute or cell.second):
        return cell.date()
    return str(cell) if isinstance(cell, time | timedelta) else cell


def _to_cell(cell: Any) -> Value:
    """A cell as SQLite stores it."""
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ", timespec="seconds")
    return cell.isoformat() if isinstance(cell, date) else cell


def _fill_merged(grid: list[list[Any]], top: int, left: int, bottom: int, right: int) -> None:
    """Copy the value of a merged range into each of its cells."""
    if top >= len(grid) or left >= len(grid[top]):
        return
    value = grid[top][left]
    for row in grid[top : bottom + 1]:
        for column in range(left, min(right + 1, len(row))):
            row[column] = value


def _table(
    name: str, grid: list[list[Any]], title: str, request: Request, notes: list[str]
) -> RowTable | None:
    grid = [row for row in grid if any(cell is not None for cell in row)]
    if len(grid) < 2:  # a header alone is not a table
        return None
    head = _find_header(grid)
    headings, rows = grid[head], grid[head + 1 :]
    if head:
        notes.append(
            f"In the sheet {title}, what is above the header (row {head + 1}) was left out."
        )
    used = [
        at
        for at, heading in enumerate(headings)
        if heading is not None or any(row[at] is not None for row in rows)
    ]
    if len(used) > _MOST_COLUMNS:
        raise Unusable(f"has more than {_MOST_COLUMNS:,} columns.", "Leave some out.")
    names = _names(["" if headings[at] is None else str(headings[at]) for at in used])
    types = [_type({type(row[at]) for row in rows} - {type(None)}) for at in used]
    cells = [[_to_cell(row[at]) for row in rows] for at in used]
    texts = [at for at, type_ in enumerate(types) if type_ == "TEXT" and _may_be_read(cells[at])]
    read = _read_as_csv({names[at]: cells[at] for at in texts}, request, notes)
    for at, (type_, values) in zip(texts, read, strict=True):
        if type_ != "TEXT":
            types[at], cells[at] = type_, values
    return RowTable(name, dict(zip(names, types, strict=True)), zip(*cells, strict=True))


def _may_be_read(cells: Sequence[Value]) -> bool:
    """Whether texts may be numbers or dates that a spreadsheet stores as text."""
    filled = [cell for cell in cells if cell is not None]
    return bool(filled) and all(
        type(cell) in (int, float)
        or (isinstance(cell, str) and len(cell) <= _LONGEST_NUMBER and _FIGURE.search(cell))
        for cell in filled
    )


def _read_as_csv(
    columns: dict[str, list[Value]], request: Request, notes: list[str]
) -> list[tuple[str, list[Value]]]:
    """The type and the values that columns of texts would have in a CSV file."""
    if not columns:
        return []
    source = Path(request.folder, "source.csv")
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(zip(*columns.values(), strict=True))
    form = _Form(",", '"', '"', "", 0, header=False, names=list(columns), hinted=False)
    with closing(_engine(request, source)) as engine:
        _load(engine, form.reader(source), "CSV")
        table = _read_loaded(engine, request, notes, comma=False)
        values = [list(column) for column in zip(*table.rows or (), strict=True)]
    return list(zip(table.columns.values(), values, strict=True))


def _find_header(grid: list[list[Any]]) -> int:
    """The first row near the top with a name for nearly every column, all different."""
    filled = [sum(cell is not None for cell in row) for row in grid[:_HEAD_ROWS]]
    for number, row in enumerate(grid[:_HEAD_ROWS]):
        texts = [cell for cell in row if isinstance(cell, str)]
        if len(texts) >= 0.8 * max(filled) and len(set(texts)) == len(texts) == filled[number]:
            return number
    return 0


def _type(kinds: set[type]) -> str:
    if kinds and kinds <= {int}:
        return "INTEGER"
    if kinds and kinds <= {int, float}:
        return "REAL"
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {date}:
        return "DATE"
    if kinds and kinds <= {date, datetime}:
        return "TIMESTAMP"
    return "TEXT"


# SQLite files.


def _copy_database(request: Request, base: sqlite3.Connection) -> Iterator[RowTable]:
    """The tables of a SQLite file; a sound file is copied whole."""
    with open(request.path, "rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            raise Unusable("is no SQLite database.", "Give a SQLite file, or name it by its kind.")
    if base.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise Unusable(
            "is a database of its own and cannot be added to another.", "Add it as a new one."
        )
    try:
        uri = f"{Path(request.path).as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as file_base:
            file_base.execute("PRAGMA trusted_schema = OFF")
            ((sound,),) = file_base.execute("PRAGMA quick_check(1)")
            if sound != "ok":
                raise sqlite3.DatabaseError(sound)
            file_base.backup(base)
        base.execute("PRAGMA journal_mode = DELETE")
        tables = base.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (name,) in tables:
            described = base.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
            yield RowTable(name, {row[1]: row[2] or "any" for row in described}, None)
    except sqlite3.DatabaseError as error:
        raise Unusable(f"is a damaged SQLite database: {error}.", "Restore it.") from None
