"""Files of rows become databases: typed, within time and memory, and nothing is lost silently."""

import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cases import cases
from sheets import workbook

from planweave import BadInput
from planweave.tools import DatabaseUnavailable, open_database
from planweave.tools.files import importing, kept, worker
from planweave.tools.files.importing import Imported, import_file
from planweave.tools.files.reading import Request
from planweave.tools.process import HelperProcess


class Here:
    """Reads without a process of its own, which takes a moment to start."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def ask(self, asked: dict[str, Any], seconds: float) -> dict[str, object]:
        bounds = ("memory", "seconds", "most_bytes")
        wanted = {name: value for name, value in asked.items() if name not in bounds}
        return worker._answer(Request(**wanted), Path(asked["into"]))

    def stop(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(importing, "HelperProcess", Here)


@pytest.fixture
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "HelperProcess", HelperProcess)


apart = pytest.mark.usefixtures("_apart")


def imported(path: Path) -> tuple[Imported, list[tuple[object, ...]]]:
    """What was made of a file, and the rows of its first table."""
    into = path.with_name("into.db")
    made = import_file(path, into)
    with closing(sqlite3.connect(into)) as base:
        return made, base.execute(f'SELECT * FROM "{made.tables[0].name}"').fetchall()


def sold(folder: Path, content: str | bytes) -> tuple[Imported, list[tuple[object, ...]]]:
    """What is made of a file of text."""
    path = folder / "sold.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return imported(path)


@cases(
    (
        b"name,unit price,sold on\nash,7.5,2024-01-31\n",
        {"name": "TEXT", "unit_price": "REAL", "sold_on": "DATE"},
        [("ash", 7.5, "2024-01-31")],
    ),
    (
        "Name;Umsatz;Tag\nMüller;1.234,50;31.01.2024\nKönig;;01.02.2024\n".encode("cp1252"),
        {"Name": "TEXT", "Umsatz": "REAL", "Tag": "DATE"},
        [("Müller", 1234.5, "2024-01-31"), ("König", None, "2024-02-01")],
    ),
    (
        'a,a,2024\n1,"$1,200.50",yes\n2,$3,no\n'.encode("utf-16"),
        {"a": "INTEGER", "a_1": "REAL", "_2024": "TEXT"},
        [(1, 1200.5, "yes"), (2, 3.0, "no")],
    ),
    (
        b"sep=;\r\nname;cost\r\nash;0,5\r\nbirch;1.000\r\n",
        {"name": "TEXT", "cost": "REAL"},
        [("ash", 0.5), ("birch", 1000.0)],
    ),
    (  # line ends of two kinds, blanks round values, a comma that decides for two columns
        b"name;cost;sold\r\n ash ;1,5 EUR;1.234\nbirch;2 EUR;12\n",
        {"name": "TEXT", "cost": "REAL", "sold": "INTEGER"},
        [("ash", 1.5, 1234), ("birch", 2.0, 12)],
    ),
    (
        "gain,swiss,paid,mixed\n(1.50),1'234.50,-$2,$2\n3,7,$1,€3\n".encode(),
        {"gain": "REAL", "swiss": "REAL", "paid": "INTEGER", "mixed": "TEXT"},
        [(-1.5, 1234.5, -2, "$2"), (3.0, 7.0, 1, "€3")],
    ),
    (  # the month comes first in both, as one of them says
        b"sold,paid,at\n12/31/2023,01/02/2024,01.02.24\n02/01/2024,03/04/2024,3.4.24\n",
        {"sold": "DATE", "paid": "DATE", "at": "DATE"},
        [
            ("2023-12-31", "2024-01-02", "2024-02-01"),
            ("2024-02-01", "2024-03-04", "2024-04-03"),
        ],
    ),
    (  # one date in another form makes a text, and loses no row; NA is Namibia among countries
        b"day,land,size\n2024-01-01,NA,NA\n02/13/2024,DE,5\n",
        {"day": "TEXT", "land": "TEXT", "size": "INTEGER"},
        [("2024-01-01", "NA", None), ("02/13/2024", "DE", 5)],
    ),
    (  # what only looks like numbers
        b"zip,phone,mobile,release\n01234,+49301,601 234 567,1.2.3\n20095,+49309,602 3,1.10.0\n",
        dict.fromkeys(("zip", "phone", "mobile", "release"), "TEXT"),
        [("01234", "+49301", "601 234 567", "1.2.3"), ("20095", "+49309", "602 3", "1.10.0")],
    ),
)
def test_text_is_read_as_people_write_it(
    content: bytes, columns: dict[str, str], rows: list[object], tmp_path: Path
) -> None:
    made, found = sold(tmp_path, content)
    assert made.tables[0].columns == columns
    assert found == rows
    assert made.notes == []


@cases(
    ("day,x\n01/02/2024,a\n", ("2024-02-01", "a"), "01/02/2024 is read as 2024-02-01."),
    ("n;x\n1.234;a\n12;b\n", (1234, "a"), "1.234 is read as 1234."),
    ("share,x\n3.5 %,a\n", (3.5, "a"), "3.5 % is read as 3.5."),
    ("Report 2024\n\nname,x\nash,a\nbay,b\n", ("ash", "a"), "above the header was left out."),
    ("Report 2024,\n,\nname,x\nash,a\n", ("ash", "a"), "above the header was left out."),
)
def test_guesses_are_said(content: str, row: tuple[object, ...], note: str, tmp_path: Path) -> None:
    made, rows = sold(tmp_path, content)
    assert rows[0] == row
    assert [one.endswith(note) for one in made.notes] == [True]


@cases(
    (["12345678901234567891", "7", ""], "TEXT", ["12345678901234567891", "7", None]),
    (["-9223372036854775809"], "TEXT", ["-9223372036854775809"]),
    (["9" * 50, "1" * 50], "TEXT", ["9" * 50, "1" * 50]),
    (["9223372036854775807", "7"], "INTEGER", [9223372036854775807, 7]),
    (["1e30", "2e30"], "REAL", [1e30, 2e30]),
    (["12345678901234567891.5", "1"], "REAL", [12345678901234567891.5, 1.0]),
)
def test_long_numbers(values: list[str], type_: str, kept: list[object], tmp_path: Path) -> None:
    lines = "".join(f"x;{value}\n" for value in values)
    made, rows = sold(tmp_path, 'it\'s;"an ""id"""\n' + lines)
    assert list(made.tables[0].columns.values()) == ["TEXT", type_]
    assert [row[1] for row in rows] == kept
    assert len(made.notes) == (type_ == "TEXT")


@cases(
    (
        "1 AS a, 2.5 AS b, true AS c, TIMESTAMP '2024-01-02 03:04:05' AS d, [1, 2] AS e",
        ["INTEGER", "REAL", "BOOLEAN", "TIMESTAMP", "TEXT"],
        (1, 2.5, 1, "2024-01-02 03:04:05", "[1, 2]"),
        [],
    ),
    (
        "7::UBIGINT AS b, 18446744073709551615::UBIGINT AS c, "
        "12345678901234567891::DECIMAL(38, 0) AS d",
        ["INTEGER", "TEXT", "TEXT"],
        (7, "18446744073709551615", "12345678901234567891"),
        ["c", "d"],
    ),
)
def test_parquet_keeps_types_and_whole_numbers(
    selected: str, types: list[str], row: tuple[object, ...], noted: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "rows.parquet"
    with closing(duckdb.connect()) as engine:
        engine.execute(f"COPY (SELECT {selected}) TO '{path}'")
    made, rows = imported(path)
    assert list(made.tables[0].columns.values()) == types
    assert rows == [row]
    assert [note.split()[2] for note in made.notes] == noted


@cases(
    ("a,1\nodd\n", "", "1 of 102 rows of sold.csv is broken and was left out (line 3)."),
    (
        "",
        "a,1\nodd\na,1,2,3\n",
        "2 of 103 rows of sold.csv are broken and were left out (lines 103, 104).",
    ),
)
def test_broken_rows_are_left_out(before: str, after: str, note: str, tmp_path: Path) -> None:
    lines = "".join(f"n{one},{one}\n" for one in range(100))
    made, rows = sold(tmp_path, f"name,price\n{before}{lines}{after}")
    good = [(f"n{one}", one) for one in range(100)]
    assert rows == ([("a", 1), *good] if before else [*good, ("a", 1)])
    assert made.notes == [note]


@cases(("Total,,11,3.5", 2), ("Total,,12,9", 3), ("Tea,,11,7", 3))
def test_a_row_that_sums_up_the_others_is_left_out(last: str, kept: int, tmp_path: Path) -> None:
    made, rows = sold(tmp_path, f"region,id,sold,mean\nNorth,1,5,3\nSouth,2,6,4\n{last}\n")
    assert len(rows) == made.tables[0].rows == kept
    assert [one.endswith("left out.") for one in made.notes] == [True] * (kept == 2)


def test_a_sheet_with_a_title_merged_cells_and_formulas(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Sales of 2025"], ["Region", "Product", "Total"]]
    rows += [["North", "Bolt", "=1+1"], [None, "Nut", 4]]
    path = workbook(tmp_path / "sales.xlsx", rows, merged="A3:A4")
    made, found = imported(path)
    assert made.tables[0].columns == {"Region": "TEXT", "Product": "TEXT", "Total": "INTEGER"}
    assert found == [("North", "Bolt", None), ("North", "Nut", 4)]
    assert [note.split(" ")[0] for note in made.notes] == ["1", "In"]


def test_numbers_and_dates_that_a_sheet_keeps_as_text(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Code", "Price", "Share", "Day", "Mixed", "Note"],
        ["007", "1,234.50", None, "03.02.2025", 1, "12 kg"],
        ["012", "9.75", None, "28.02.2025", "2.5", "n/a"],
        [None, None, "5%", None, None, "9"],
    ]
    made, found = imported(workbook(tmp_path / "sales.xlsx", rows))
    types = ("TEXT", "REAL", "INTEGER", "DATE", "REAL", "TEXT")
    assert tuple(made.tables[0].columns.values()) == types
    assert found == [
        ("007", 1234.5, None, "2025-02-03", 1.0, "12 kg"),
        ("012", 9.75, None, "2025-02-28", 2.5, None),
        (None, None, 5, None, None, "9"),
    ]


@cases(
    ("a.csv", b"", "a.csv holds no rows."),
    ("a.csv", b"name,price\n", "a.csv holds no rows."),
    (
        "a.csv",
        b"Dear Ann,\nthanks, dear, to all\nand more, and\nto come\n",
        "a.csv is not a table",
    ),
    ("a.csv", bytes(range(256)) * 20, "a.csv is not a text file."),
    ("a.csv", b"a,b\n1," + b"x" * 1_200_000, "a.csv has a line of over 1,000,000 characters."),
    ("a.xlsx", b"PK\x03\x04 hello", "a.xlsx cannot be read as a spreadsheet"),
    ("a.parquet", b"PAR1" + b"junk" * 10 + b"PAR1", "a.parquet is damaged, or is no Parquet file."),
    ("a.db", b"hello" * 99, "a.db is no SQLite database."),
    ("a.db", b"SQLite format 3\x00" + b"\xff" * 9_000, "a.db is a damaged SQLite database"),
    ("a.exe", b"MZ", "a.exe is not a file that can become a database."),
)
def test_what_is_no_table_changes_nothing(
    name: str, content: bytes, problem: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    into = tmp_path / "into.db"
    with closing(sqlite3.connect(into)) as base:
        base.execute("CREATE TABLE kept (a)")
        base.commit()
    before = into.read_bytes()
    with pytest.raises(BadInput) as raised:
        import_file(tmp_path / name, into if name != "a.db" else tmp_path / "new.db")
    assert raised.value.problem.startswith(problem)
    assert not {"\n", "/"} & {*raised.value.problem}
    assert into.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "into.db"])


def write_hole(path: Path) -> None:
    """A file that takes no room."""
    path.touch()
    os.truncate(path, 2_000_000_000)


@cases(
    (lambda path: path.mkdir(), r"a\.csv is a folder, not a file\."),
    (lambda path: path.touch(mode=0), r"^a\.csv may not be read\."),
    (write_hole, r"a\.csv has 2,000 MB, and 200 MB are allowed\."),
)
def test_what_cannot_be_read_is_refused_unread(
    make: Callable[[Path], object], problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    make(path)
    if path.stat().st_mode & 0o777 == 0 and os.access(path, os.R_OK):
        pytest.skip("This user may read every file.")
    with pytest.raises(BadInput, match=problem):
        import_file(path, tmp_path / "into.db")


@apart
def test_a_packed_file_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_MEMORY", 160 << 20)
    path = workbook(tmp_path / "bomb.xlsx", [["a", "b"], [1, 2]])
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    sheet, end = "xl/worksheets/sheet1.xml", b"</sheetData>"
    rows = b"<row><c><v>1</v></c></row>" * 1_200_000
    parts[sheet] = parts[sheet].replace(end, rows + end)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    with pytest.raises(BadInput, match=r"takes more than .* (s of processor time|MB of memory)"):
        import_file(path, tmp_path / "into.db")
    assert not (tmp_path / "into.db").exists()


@apart
def test_a_parquet_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_SECONDS", 1.0)
    path = tmp_path / "bomb.parquet"
    with closing(duckdb.connect()) as engine:
        engine.execute(f"COPY (SELECT 'x' AS a FROM range(4000000)) TO '{path}'")
    assert path.stat().st_size < 100_000
    with pytest.raises(BadInput, match=r"bomb.parquet (takes|made|cannot)"):
        import_file(path, tmp_path / "into.db")


@apart
def test_any_command_opens_such_a_file(tmp_path: Path) -> None:
    path = tmp_path / "offers.csv"
    path.write_text("name,price\nash,7.5\nbirch,5.25\n")
    result = open_database(str(path)).run("SELECT name FROM offers ORDER BY price LIMIT 1")
    assert result.rows == (("birch",),)
    path.write_text("name,price\ncedar,1\n")  # another file of this name is another database
    assert open_database(str(path)).run("SELECT name FROM offers").rows == (("cedar",),)
    (tmp_path / "sqlite_stat.csv").write_text("name,price\nelm,1\n")
    kept = open_database(str(tmp_path / "sqlite_stat.csv"))
    assert kept.run("SELECT name FROM _sqlite_stat").rows == (("elm",),)
    path.write_text("")
    with pytest.raises(DatabaseUnavailable, match=r"offers.csv holds no rows"):
        open_database(str(path))


def test_uploads_of_one_name_stay_apart_and_tables_join(tmp_path: Path) -> None:
    path = tmp_path / "sent"
    path.write_text("name,price\nash,7.5\n")
    first = kept.keep(path, "my offers.csv", "ada")
    second = kept.keep(path, "my offers.csv", "ada")
    assert (first.name, second.name) == ("my-offers", "my-offers-2")
    joined = kept.keep(path, "extra.csv", "ada", into="my-offers")
    assert [table.name for table in joined.tables] == ["my_offers", "extra"]
    assert joined.files == ["my offers.csv", "extra.csv"]
    again = kept.keep(path, "extra.csv", "ada", into="my-offers")
    assert again.tables[-1].name == "extra_2"
    assert {one.name for one in kept.databases("ada")} == {"my-offers", "my-offers-2"}
    assert kept.databases("bob") == []
    with pytest.raises(BadInput, match="no database"):
        kept.path_of("../ada/my-offers", "bob")
    kept.delete("my-offers", "ada")
    assert [one.name for one in kept.databases("ada")] == ["my-offers-2"]


@apart
def test_a_sqlite_file_is_copied_whole(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as base:
        base.executescript(
            "PRAGMA journal_mode = WAL; CREATE TABLE offer (name TEXT PRIMARY KEY, price REAL);"
            "INSERT INTO offer VALUES ('ash', 7.5);"
        )
    made = kept.keep(tmp_path / "shop.db", "shop.db", None)
    (one,) = made.tables
    assert (one.name, one.rows, one.columns) == ("offer", 1, {"name": "TEXT", "price": "REAL"})
    with pytest.raises(BadInput, match="cannot be added to another"):
        kept.keep(tmp_path / "shop.db", "shop.db", None, into="shop")
