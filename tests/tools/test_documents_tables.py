"""Tables in the text of pages: their headings and column names go with every row."""

from pathlib import Path

import docx
import pytest
from cases import cases
from documents import WordTokens, add_table, write_pdf
from docx.enum.text import WD_BREAK
from published import published

from planweave.tools.documents.chunks import chunk_page
from planweave.tools.documents.pages import read
from planweave.tools.documents.quotes import locate
from planweave.tools.documents.tables import add_names, tables

HEADING = "Over 53 to 70 lbs"
HEADER = "Regions | Basic Economy | Business"
ROWS = [f"Region {number} | ${number}00 | ${number}50" for number in range(1, 9)]
_tokens = WordTokens()


def bordered(*rows: str) -> str:
    return "\n".join(f"| {row} |" for row in rows)


MARKDOWN = bordered(HEADER, "--- | --- | ---", *ROWS)


def quoted(text: str, words: str) -> str:
    begin = text.index(words)
    return add_names(text, (begin, begin + len(words)))


def page_with(words: str, path: Path) -> str:
    return next(page.text for page in read(path).pages if words in page.text)


def test_every_chunk_of_rows_is_searched_with_heading_and_column_names() -> None:
    text = f"# Bags\nFees by weight.\n\n## {HEADING}\n\n{MARKDOWN}"
    found = chunk_page(1, text, size=30, spans=_tokens.spans)
    of_rows = [piece for piece in found if "Region " in piece.text]
    assert len(of_rows) > 2
    for piece in of_rows:
        assert HEADING in piece.searched
        assert "Basic Economy | Business" in piece.searched
        assert piece.text in text
    assert all(not piece.above for piece in found if "Fees by weight" in piece.text)


@cases(".md", ".txt")
def test_a_heading_is_on_the_page_of_its_table(ending: str, tmp_path: Path) -> None:
    before = "\n".join(f"Line {number} of what comes before." for number in range(76))
    path = tmp_path / f"rules{ending}"
    path.write_text(f"# Bags\n{before}\n\n##### {HEADING}\n\n{MARKDOWN}\n")
    assert len(read(path).pages) > 1
    assert HEADING in page_with("Region 1 ", path)


def test_a_table_over_several_pages_is_named_on_each(tmp_path: Path) -> None:
    rows = [f"Region {number} | ${number} | ${number + 1}" for number in range(200)]
    path = tmp_path / "rules.md"
    path.write_text(f"# Bags\n## {HEADING}\n{bordered(HEADER, '---|---|---', *rows)}\n")
    pages = [page.text for page in read(path).pages]
    assert len(pages) > 2
    for text in pages:
        last = text.splitlines()[-1]
        named = quoted(text, last)
        assert HEADING in named
        assert "Basic Economy" in named
    assert pages[1].startswith("[Section: # Bags > ## Over 53 to 70 lbs]\n| Regions")
    assert sum(text.count("Region 7 ") for text in pages) == 1


def test_a_section_ends_where_a_heading_of_its_level_begins(tmp_path: Path) -> None:
    long = "Words of it. " * 250
    parts = [f"# One\n{long}", f"## Part\n{long}", f"# Two\n{long}", f"## Other\n{MARKDOWN}"]
    path = tmp_path / "rules.txt"
    path.write_text("\n\n".join(parts))
    pages = [page.text for page in read(path).pages]
    begins = [text.splitlines()[0] for text in pages]
    assert "[Section: # One > ## Part]" in begins
    assert "[Section: # Two]" in begins
    assert not any("One" in begin and "Two" in begin for begin in begins)
    named = quoted(page_with("Region 2", path), ROWS[1])
    assert "Two" in named or "## Other" in named
    assert "Part" not in named
    assert "One" not in named


@cases(2, 40)
def test_the_sentence_above_a_table_tells_it_from_others(count: int, tmp_path: Path) -> None:
    tables_of = {
        status: f"Use this if your status is {status}.\n\n"
        + bordered(HEADER, "---|---|---", *(f"{r} | {r}1 | {r}2" for r in range(count)))
        for status in ("Single", "Married", "Head of household")
    }
    path = tmp_path / "rules.txt"
    path.write_text("# Tax\nWhat is owed.\n\n" + "\n\n".join(tables_of.values()))
    found = [p for page in read(path).pages for p in chunk_page(page.number, page.text)]
    for status in tables_of:
        rows = [p.searched for p in found if f"| {count - 1} |" in p.text]
        assert sum(f"status is {status}." in searched for searched in rows) >= 1
    assert all("status is" in p.searched for p in found if "| 1 |" in p.text)


def test_a_stale_section_names_no_row() -> None:
    text = f"[Section: # One > ## Part]\nEnd of it.\n\n## Other\n{MARKDOWN}"
    assert quoted(text, ROWS[1]).startswith("## Other\n| Regions")


def test_rows_on_the_next_page_of_a_pdf(tmp_path: Path) -> None:
    table = f"Table 3 {HEADING}\nRegions Basic Business\nCanada 100 200\nCuba 200 250"
    pages = [f"Fees are per bag.\n{table}\n6", "Haiti 300 350\nPeru 400 450", "The end."]
    path = write_pdf(tmp_path / "a.pdf", pages)
    texts = [page.text for page in read(path).pages]
    assert HEADING in texts[1]
    assert "Regions Basic Business" in texts[1]
    assert quoted(texts[1], "Peru 400 450").endswith("Peru 400 450")
    assert "Regions Basic Business" in quoted(texts[1], "Peru 400 450")
    assert texts[2] == "The end."


def test_a_heading_before_a_page_break_goes_on_to_its_table_in_docx(tmp_path: Path) -> None:
    file = docx.Document()
    file.add_heading("Bags", 1)
    file.add_paragraph("Fees are per bag.")
    file.add_heading(HEADING, 2)
    file.paragraphs[-1].add_run().add_break(WD_BREAK.PAGE)
    add_table(file, *(row.split(" | ") for row in (HEADER, *ROWS[:2])))
    file.save(str(tmp_path / "a.docx"))
    text = page_with("Region 2", tmp_path / "a.docx")
    assert text.startswith(f"[Section: # Bags > ## {HEADING}]")
    assert quoted(text, "$250") == f"[Section: # Bags > ## {HEADING}]\n{HEADER}\n… {ROWS[1]}"


def test_rows_of_html_and_csv_have_their_headings_and_column_names(tmp_path: Path) -> None:
    rows = [row.split(" | ") for row in [HEADER, *ROWS]]
    table = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    html, csv = tmp_path / "a.html", tmp_path / "a.csv"
    html.write_text(f"<h1>Bags</h1><p>By weight.</p><h3>{HEADING}</h3><table>{table}</table>")
    text = page_with("Region 2", html)
    assert quoted(text, "$200") == f"[Section: # Bags]\n### {HEADING}\n{HEADER}\n… {ROWS[1]}"
    csv.write_text("region,basic,business\n" + "\n".join(f"R{n},{n}.5,{n}.7" for n in range(400)))
    text = page_with("R399", csv)
    assert quoted(text, "399.7") == "region | basic | business\n… R399 | 399.5 | 399.7"


@cases(
    (["| Years Ended September 30, |", "| 2019 | 2018"], "Sales | $1,372.5 | $1,188.4"),
    (["| 2019 €m | 2018 €m"], "Defined benefit schemes | 57 | 44"),
    (["($ in millions) |  |", "At December 31: | 2019 | 2018"], "Invested | $24,315 | $33,062"),
    (["| 30 June 2019 | 30 June 2018", "| $'000 | $'000"], "Profit | (8,274) | 5,917"),
    (["As of | 2019 | 2018"], "Cash | $130 | $91"),
    (["Reason | When to use"], "Fraud | Unauthorised transactions"),
)
def test_a_row_is_not_parted_from_its_year_heads(header: list[str], row: str) -> None:
    text = "\n".join([*header, "Other | 1 | 2", row, "Last | 3 | 4"])
    assert quoted(text, row) == "\n".join([*header, f"… {row}"])


def test_a_row_goes_with_the_label_of_its_group() -> None:
    text = "As of | 2019 | 2018\nAssets | |\nCash | 1 | 2\nOther | 3 | 4\nDebts | |\nTotal | 5 | 6"
    assert quoted(text, "Other") == "As of | 2019 | 2018\nAssets | |\n… Other | 3 | 4"
    assert quoted(text, "Total") == "As of | 2019 | 2018\n… Debts | |\nTotal | 5 | 6"


def test_columns_parted_by_blanks() -> None:
    text = "Fees:\n\nRegion    Basic   First\nCanada    $100    $200\nCuba      $200    $250"
    assert quoted(text, "Cuba") == "Region    Basic   First\n… Cuba      $200    $250"


def test_a_quote_with_its_names_is_found_on_the_page() -> None:
    text = f"# Bags\nText.\n\n## {HEADING}\n\n{MARKDOWN}\n\nText behind it."
    for row in ROWS:
        assert locate(quoted(text, row), text)


def test_prose_is_no_table() -> None:
    prose = "In 2019 and 2020 it cost 5 or 6.\nThat is 1, 2 or 3 more.\n\nThere are 5 of 7."
    assert tables(prose) == ()
    assert quoted(prose, "5 or 6") == "5 or 6"


@pytest.mark.timeout(60)  # of squared effort, it takes minutes
@cases("a | b\n", "1 2 3 4\n", "| a\n\n", "x  y  z\n\n", "# a\n", "a 1\n", "9 " * 150 + "\n")
def test_long_pages_take_no_long_time(line: str) -> None:
    text = line * (200_000 // len(line))
    found = tables(text)
    quoted(text, line.strip())
    assert len(found) <= len(text)


@pytest.mark.timeout(30)
@cases(f"| {'-:' * 100_000}x |\n", f"| a | 1{'.' * 200_000}x |\n", ids=["rule", "amount"])
def test_a_long_line_takes_no_long_time(line: str) -> None:
    assert tables("| a | b |\n" + line * 2)


@pytest.mark.published
def test_every_row_of_published_rules_is_searched_and_quoted_with_its_names() -> None:
    path = published("rulearena/rules_airline.txt")
    heading = header = ""
    rows = []
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            heading, header = line.strip("# "), ""
        elif line.startswith("|") and not line.startswith("|-"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if header:
                rows.append((heading, header, " | ".join(cells)))
            header = header or " | ".join(cells)
    pages = read(path).pages
    found = [piece for page in pages for piece in chunk_page(page.number, page.text)]
    assert len(rows) == 49
    for names in rows:
        assert any(all(name in piece.searched for name in names) for piece in found), names
