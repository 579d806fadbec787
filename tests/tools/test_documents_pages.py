"""Each kind of file as pages, and every way in which a file can be bad."""

import gzip
import json
from pathlib import Path

import docx
import pytest
from cases import cases
from documents import add_table, encrypt, write_bomb, write_pdf
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls
from published import published

from planweave.tools.documents.pages import DocumentLimits, PageText, Unreadable, read


def texts(path: Path) -> list[str]:
    return [page.text for page in read(path).pages]


def image_pages(path: Path) -> list[int]:
    return [page.number for page in read(path).pages if page.image_only]


TEXT = "Electrolysers cost €500/kW; größer ist billiger; the rest is plain text of some length."


def test_pdf_pages_have_the_numbers_of_the_file(tmp_path: Path) -> None:
    document = read(write_pdf(tmp_path / "a.pdf", ["First page\nsecond line", "Second page"]))
    assert document.name == "a.pdf"
    assert document.paging == "pages"
    assert document.pages == [PageText(1, "First page\nsecond line"), PageText(2, "Second page")]


def test_pdf_pages_that_hold_only_images_are_listed(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["Text", None, "", None])
    assert image_pages(path) == [2, 4]
    assert len(texts(path)) == 4
    assert image_pages(write_pdf(tmp_path / "scan.pdf", [None, None])) == [1, 2]


def test_an_encrypted_pdf_is_read_if_anyone_may_open_it(tmp_path: Path) -> None:
    path = encrypt(write_pdf(tmp_path / "a.pdf", ["Secret"]), "password")
    with pytest.raises(Unreadable, match=r"^a\.pdf is encrypted: remove its password first\.$"):
        read(path)
    assert texts(encrypt(write_pdf(path, ["Open"]), "")) == ["Open"]


@cases(0, 9, 200)
def test_broken_pdf(kept: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["Text"])
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(Unreadable, match=r"^a\.pdf is damaged or is no PDF\.$"):
        read(path)
    assert capsys.readouterr() == ("", "")


def test_pdf_with_too_many_pages(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", ["", "", ""])
    with pytest.raises(Unreadable, match="more than 2 pages"):
        read(tmp_path / "a.pdf", DocumentLimits(pages=2))


@pytest.mark.published
def test_pages_of_a_published_pdf_agree_with_those_read_by_another_library() -> None:
    ours = read(published("docs/vartiainen_2019_pv_lcoe_ccby.pdf")).pages
    theirs = read(published("docs/vartiainen_2019_pages.jsonl.gz")).pages
    assert [page.number for page in ours] == [page.number for page in theirs] == [*range(1, 16)]
    for our, their in zip(ours, theirs, strict=True):
        words, others = (set(page.text.split()) for page in (our, their))
        assert len(words & others) / len(words | others) > 0.7


def test_docx_pages_end_at_breaks_and_tables_stand_in_their_place(tmp_path: Path) -> None:
    file = docx.Document()
    file.add_paragraph("Costs by year").add_run().add_break(WD_BREAK.PAGE)
    file.add_paragraph("Second page")
    add_table(file, ("year", "cost"), ("2030", "2.4\nEUR"))
    file.add_paragraph("After the table")
    file.add_paragraph("Third page").paragraph_format.page_break_before = True
    file.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    run = file.add_paragraph().add_run()
    run._r.append(OxmlElement("w:lastRenderedPageBreak"))  # noted by Word as well: counts once
    for name, text in (("noBreakHyphen", "profit"), ("cr", "next"), ("tab", "end")):
        run._r.append(OxmlElement(f"w:{name}"))
        run.add_text(text)
    file.save(str(tmp_path / "a.docx"))
    assert read(tmp_path / "a.docx").paging == "pages"
    second = "Second page\nyear | cost\n2030 | 2.4 EUR\nAfter the table"
    fourth = "-profit\nnext\tend"
    assert texts(tmp_path / "a.docx") == ["Costs by year", second, "Third page", fourth]


def test_content_controls_and_text_boxes_of_word_are_read_once(tmp_path: Path) -> None:
    inside = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    box = f"<w:txbxContent>{inside.format('Boxed')}</w:txbxContent>"
    choice = f"<mc:Choice Requires='wps'>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    file = docx.Document()
    file.add_paragraph("Before")
    body = file.element.body
    for xml in (
        f"<w:sdt {nsdecls('w')}><w:sdtContent>{inside.format('Held')}</w:sdtContent></w:sdt>",
        f"<w:p {nsdecls('w')} {mc}><w:r><w:t>Beside</w:t></w:r>"
        f"<w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r></w:p>",
    ):
        body.insert(len(body) - 1, parse_xml(xml))
    table = file.add_table(1, 2)
    table.cell(0, 0).text = "One\ncell"
    table.cell(0, 1).add_table(1, 1).cell(0, 0).text = "Inner"
    file.save(str(tmp_path / "a.docx"))
    assert texts(tmp_path / "a.docx") == ["Before\nHeld\nBeside\nBoxed\nOne cell | Inner"]


def test_docx_without_breaks_is_cut_into_parts(tmp_path: Path) -> None:
    file = docx.Document()
    for number in range(100):
        file.add_paragraph(f"Paragraph {number}: " + "hydrogen " * 10)
    file.save(str(tmp_path / "a.docx"))
    document = read(tmp_path / "a.docx")
    assert document.paging == "parts"
    assert len(document.pages) == 5
    assert all(len(page.text) <= 2400 for page in document.pages)
    assert all(page.text.startswith("Paragraph") for page in document.pages)


def test_docx_that_unpacks_to_too_much(tmp_path: Path) -> None:
    path = write_bomb(tmp_path / "a.docx", 20)
    assert path.stat().st_size < 100_000
    with pytest.raises(Unreadable, match="unpacks to 20 MB, which is too large"):
        read(path, DocumentLimits(bytes=1_000_000))
    with pytest.raises(Unreadable, match="damaged or is no DOCX"):
        read(write_bomb(path, 1))


def test_html_pages_begin_at_headings(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        "<html><head><title>Report</title><style>p{color:red}</style></head><body>"
        "<script>alert('x')</script><!-- hidden -->"
        "<h1>Costs</h1><p>Hydrogen is <b>dear</b>\n today.</p>"
        "<h2>Table</h2><table><tr><th>year</th><th>cost</th></tr>"
        "<tr><td>2030</td><td>2.4\nEUR</td></tr></table>"
        "<h2>Empty</h2>\n<h3>Outlook</h3><p>It will be cheap.<br>Perhaps.</p></body></html>"
    )
    assert texts(path) == [
        "Report\n# Costs\nHydrogen is dear today.",
        "[Section: # Costs]\n## Table\nyear | cost\n2030 | 2.4 EUR",
        "[Section: # Costs]\n## Empty\n### Outlook\nIt will be cheap.\nPerhaps.",
    ]
    assert read(path).paging == "headings"


PART = "## Two\n| a | b |\n|---|---|\n| 1 | 2 |"


@cases(
    # headings of Markdown, but not in code; code within a line opens no block
    ("a.md", f"# A\n```\n# no\n```\n{PART}", ["# A\n```\n# no\n```", f"[Section: # A]\n{PART}"]),
    ("a.md", f"# A\n```pip it```\n{PART}", ["# A\n```pip it```", f"[Section: # A]\n{PART}"]),
    ("a.txt", "one\f\ftwo ﬁrst\f", ["one", "", "two first"]),
    ("a.txt", "größer \u2013 5 €".encode("cp1252"), ["größer \u2013 5 €"]),
    ("a.txt", b"gr\xf6\xdfer \x81", ["größer \x81"]),
    *(
        ("a.txt", f"{TEXT:100}".encode(encoding), [TEXT])
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")
    ),
)
def test_pages_of_a_text(name: str, content: str | bytes, pages: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert texts(path) == pages


def test_a_long_text_is_cut_between_paragraphs(tmp_path: Path) -> None:
    paragraphs = [f"{number} " + "word " * 200 for number in range(6)]
    (tmp_path / "a.txt").write_text("\n\n".join(paragraphs))
    document = read(tmp_path / "a.txt")
    assert document.paging == "parts"
    assert [page.text[0] for page in document.pages] == ["0", "2", "4"]
    (tmp_path / "b.txt").write_text("x" * 7000)
    assert [len(text) for text in texts(tmp_path / "b.txt")] == [2400, 2400, 2200]


def test_rows_of_a_table_stay_under_their_header(tmp_path: Path) -> None:
    rows = "".join(f'{year};"{year},5 EUR;\nabout"\n' for year in range(2000, 2300))
    (tmp_path / "a.csv").write_text("sep=;\nyear;cost\n" + rows)
    pages = texts(tmp_path / "a.csv")
    assert len(pages) > 1
    assert all(page.startswith("year | cost\n2") for page in pages)
    assert pages[0].splitlines()[1] == "2000 | 2000,5 EUR; about"
    assert sum(len(page.splitlines()) - 1 for page in pages) == 300


def test_quotes_within_quotes_are_read_wherever_they_come(tmp_path: Path) -> None:
    rows = "".join(f'"pipe {number}, steel",{number}\n' for number in range(1_000))
    (tmp_path / "a.csv").write_text(f'name,cost\n{rows}"12"" pipe, steel",5\n')
    assert texts(tmp_path / "a.csv")[-1].splitlines()[-1] == '12" pipe, steel | 5'


def test_pages_read_before_keep_their_numbers(tmp_path: Path) -> None:
    lines = [{"page": 7, "text": "seven", "chapter": None}, {"page": 3, "text": "three"}]
    content = "\n".join(map(json.dumps, lines)) + "\n"
    (tmp_path / "a.jsonl").write_text(content, "utf-8-sig")
    for name in ("b.jsonl.gz", "C.JSONL.GZ"):
        (tmp_path / name).write_bytes(gzip.compress(content.encode()))
    for name in ("a.jsonl", "b.jsonl.gz", "C.JSONL.GZ"):
        assert read(tmp_path / name).pages == [PageText(3, "three"), PageText(7, "seven")]


def test_a_file_of_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(1_000_000_000)
    with pytest.raises(Unreadable, match=r"a\.txt has 1,000 MB; at most 200 MB are read"):
        read(tmp_path / "a.txt")


@cases(
    ("a.txt", b"", "holds no text"),
    ("a.txt", b"\x00\x01\x02" * 9, "is not a text file"),
    ("a.txt", b"word " * 250_000, "more than 1000000 characters"),
    ("a.csv", b"\n\n", "holds no text"),
    ("a.html", b"<script>only()</script>", "holds no text"),
    ("a.html", b"<div>" * 50_000 + b"bottom", "more than 1000 tags in one another"),
    ("a.xlsx", b"PK", "is of no kind that can be read"),
    ("noending", b"text", "is of no kind that can be read"),
    ("a.docx", b"\xd0\xcf\x11\xe0 encrypted: no archive", "no DOCX, or is encrypted"),
    ("a.jsonl", b'{"page": 1, "text": "a"}\n{"page": 2}', "has in line 2 no"),
    ("a.jsonl", b'{"page": 0, "text": "a"}', "has in line 1 no"),
    ("a.jsonl", b'{"page": 1, "text": "a\\ud800b"}', "has in line 1 no"),
    ("a.jsonl", b"[]", "has in line 1 no"),
    ("a.jsonl", b'{"page": 1, "text": "a"}\n{"page": 1, "text": "b"}', "has page 1 twice"),
    ("a.jsonl.gz", gzip.compress(b'{"page": 1, "text": "a"}')[:-9], "damaged or is not packed"),
    ("a.jsonl.gz", gzip.compress(b" " * 5_000_000), "unpacks to more than 2 MB"),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_are_refused(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Unreadable, match=problem):
        read(tmp_path / name, DocumentLimits(characters=1_000_000, bytes=2_000_000))


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    (tmp_path / "folder.txt").mkdir()
    for name, problem in {
        "absent.pdf": "No such file",
        "folder.txt": "is no file",
        "loop.txt": "cannot be read",
    }.items():
        with pytest.raises(Unreadable, match=problem):
            read(tmp_path / name)

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.txt").write_text("text")
    monkeypatch.setattr(Path, "read_bytes", refuse)  # whoever runs the tests may be root
    with pytest.raises(Unreadable, match=r"^a\.txt cannot be read \(Permission denied\)\.$"):
        read(tmp_path / "a.txt")
