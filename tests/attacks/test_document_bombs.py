"""Documents that cost a naive reader minutes or gigabytes: each ends, and others go on.

``BOMBS`` maps a name to what makes the file; the name's last part is the file's ending.
"""

import base64
import gzip
import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from documents import WordTokens

from planweave.tools.documents import pages, process
from planweave.tools.documents.pages import DocumentLimits, Unreadable
from planweave.tools.documents.process import Cutting, Parser
from planweave.tools.process import HelperProcess

BOMBS: dict[str, Callable[[], bytes | str]] = {}

_MEGABYTE = 1_000_000


def content(name: str) -> bytes:
    """The bytes of a bomb."""
    made = BOMBS[name]()
    return made.encode("utf-8", "surrogatepass") if isinstance(made, str) else made


# tables: the guess of the delimiter, quotes without end, headers repeated on every page

BOMBS |= {
    "quotes and commas.csv": lambda: ',"' * 32_000,
    "commas and quotes.csv": lambda: '",' * 32_000,
    "quoted delimiters.csv": lambda: '";"|"\t",' * 10_000,
    "quotes alone.csv": lambda: '"' * 300_000,
    "an open quote.csv": lambda: 'a,b\n1,"' + "x,y\n" * 500_000,
    "a row of commas.csv": lambda: "," * (5 * _MEGABYTE),
    "a wide header.csv": lambda: "column," * 140_000 + "\n" + "1\n" * 20_000,
    "rows without end.csv": lambda: "1,2\n" * 500_000,
    "one cell.csv": lambda: "a,b\n" + "x" * (20 * _MEGABYTE),
    "tabs.tsv": lambda: "\t" * (5 * _MEGABYTE),
}

# HTML: tags in tags, sections that do not end, attributes, entities

BOMBS |= {
    "divs in divs.html": lambda: "<div>" * 100_000,
    "divs in divs with text.html": lambda: "<div>a" * 60_000 + "</div>" * 60_000,
    "tags that end nothing.html": lambda: "<b>" * 900 + "</i>" * 150_000,
    "spans below the limit of depth.html": lambda: ("<span>a" * 990 + "</span>" * 990) * 40,
    "headings below the limit of depth.html": lambda: ("<h1>" * 900 + "a\n") * 30,
    "tables in tables.html": lambda: "<table><tr><td>" * 30_000,
    "tables in tables below the limit.html": lambda: "<table><tr><td>a" * 330 + "b" * 500_000,
    "rows in rows.html": lambda: "<table>" + "<tr><td>a" * 60_000,
    "pre in pre.html": lambda: "<pre>a" * 20_000,
    "open sections of CDATA.html": lambda: "<![CDATA[" * 60_000,
    "open comments.html": lambda: "<!--" * 150_000,
    "open declarations.html": lambda: "<!DOCTYPE " * 60_000,
    "open instructions.html": lambda: "<?php " * 100_000,
    "open tags.html": lambda: "<a" * 300_000,
    "open end tags.html": lambda: "</a" * 200_000,
    "attributes.html": lambda: "<p " + " ".join(f"a{n}=1" for n in range(60_000)) + ">text</p>",
    "an open attribute.html": lambda: "<p a='" * 60_000 + "text",
    "attributes without values.html": lambda: "<p " + "a " * 300_000,
    "classes.html": lambda: f'<p class="{"a " * 300_000}">text</p>',
    "ampersands.html": lambda: "&" * 600_000,
    "entities.html": lambda: "&#x41;" * 100_000,
    "an open script.html": lambda: "<script>" + "</scrip" * 100_000,
    "scripts.html": lambda: "<script>a</script>" * 40_000 + "text",
    "blanks.html": lambda: "<p>" + " \t\n" * 2_000_000 + "text",
    "breaks.html": lambda: "<br>" * 150_000 + "text",
    "headings.html": lambda: "<h1>a</h1>" * 60_000,
}

# text and Markdown: no break, breaks alone, signs that combine, encodings that mislead

BOMBS |= {
    "no break.txt": lambda: "x" * (40 * _MEGABYTE),
    "no break but words.txt": lambda: "word " * (8 * _MEGABYTE),
    "lines of one letter.txt": lambda: "a\n" * _MEGABYTE,
    "form feeds.txt": lambda: "\f" * (20 * _MEGABYTE),
    "a page without end.txt": lambda: "a\f" + "x " * (4 * _MEGABYTE),
    "bars.txt": lambda: "a\f" + " | " * 330_000,
    "bars without blanks.txt": lambda: "a\f" + "a |b" * 240_000,
    "ends of sentences.txt": lambda: "a\f" + "." * 990_000,
    "quotes after a sentence.txt": lambda: "a\f." + "'\")]" * 240_000,
    "line ends and blanks.txt": lambda: "a\f" + "\n \t" * 330_000 + "a",
    "signs that combine.txt": lambda: "a\fa" + "\u0301\u0316" * 490_000,
    "a ligature of eighteen letters.txt": lambda: "a\f" + "\ufdfa" * 900_000,
    "right to left.txt": lambda: "a\f" + "\u202e\u2066" * 490_000,
    "emoji joined.txt": lambda: "a\f" + "\U0001f468\u200d" * 490_000,
    "halves of pairs.txt": lambda: "\ud800" * _MEGABYTE,
    "UTF-16 of one sign.txt": lambda: b"\xff\xfe" + b"\x00\xd8" * 5_000_000,
    "NUL.txt": lambda: b"\0" * (10 * _MEGABYTE),
    "headings.md": lambda: "# a\n" * _MEGABYTE,
    "headings without text.md": lambda: "# \n" * _MEGABYTE,
    "fences.md": lambda: "```\n" * 500_000,
}

# JSON lines, plain and packed

BOMBS |= {
    "arrays in arrays.jsonl": lambda: "[" * (5 * _MEGABYTE),
    "objects in objects.jsonl": lambda: '{"page":' * 500_000,
    "a number without end.jsonl": lambda: '{"page": ' + "9" * (5 * _MEGABYTE) + "}",
    "a page of everything.jsonl": lambda: json.dumps({"page": 1, "text": "a " * 10_000_000}),
    "pages without text.jsonl": lambda: "".join(
        f'{{"page": {number}, "text": ""}}\n' for number in range(1, 300_001)
    ),
    "empty lines.jsonl": lambda: "\n" * (20 * _MEGABYTE),
    "packed zeros.jsonl.gz": lambda: gzip.compress(b"\0" * (250 * _MEGABYTE), 9),
    "packed lines.jsonl.gz": lambda: gzip.compress(b"\n" * (190 * _MEGABYTE), 9),
    "many packs.jsonl.gz": lambda: gzip.compress(b"", 9) * 200_000,
    "packed pages of words.jsonl.gz": lambda: gzip.compress(
        _lines("word " * 19_000, 500).encode(), 9
    ),
}


def _lines(text: str, pages: int) -> str:
    return "".join(f'{{"page": {n}, "text": "{n} {text}"}}\n' for n in range(1, pages + 1))


# DOCX: what the archive claims, what the XML repeats

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DOCUMENT = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_CELL = (
    '<w:tc><w:tcPr><w:gridSpan w:val="{span}"/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>'
)


def _docx(body: str, *, head: str = "", extra: Iterable[tuple[str, bytes]] = ()) -> bytes:
    kinds = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_DOCUMENT}"/></Types>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="a" Target="word/document.xml" Type="http://schemas.openxmlformats.org/'
        'officeDocument/2006/relationships/officeDocument"/></Relationships>'
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("[Content_Types].xml", kinds)
        archive.writestr("_rels/.rels", relations)
        archive.writestr("word/document.xml", head + _document(body))
        for name, content in extra:
            archive.writestr(name, content)
    return packed.getvalue()


def _document(body: str) -> str:
    return f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'


def _laughs(depth: int) -> str:
    """Entities that stand for ten of the one before."""
    entities = '<!ENTITY e0 "ha">' + "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, depth + 1)
    )
    return f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>'


def _lying_zip() -> bytes:
    """A member of 60 MB that says in the directory that it has 1,000 bytes."""
    body = "<w:p/>" * (10 * _MEGABYTE)
    size = len(_document(body)).to_bytes(4, "little")
    return _docx(body).replace(size, (1_000).to_bytes(4, "little"))


BOMBS |= {
    "a cell over all columns.docx": lambda: _docx(
        f"<w:tbl><w:tr>{_CELL.format(span=50_000_000)}</w:tr></w:tbl>"
    ),
    "cells over many columns.docx": lambda: _docx(
        f"<w:tbl>{('<w:tr>' + _CELL.format(span=100_000) + '</w:tr>') * 500}</w:tbl>"
    ),
    "cells over rows.docx": lambda: _docx(
        "<w:tbl>"
        + "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>" * 3_000
        + "</w:tbl>"
    ),
    "tables in tables.docx": lambda: _docx(
        "<w:tbl><w:tr><w:tc>" * 3_000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 3_000
    ),
    "paragraphs without end.docx": lambda: _docx("<w:p/>" * (4 * _MEGABYTE)),
    "runs in a paragraph.docx": lambda: _docx(f"<w:p>{'<w:r><w:t>a</w:t></w:r>' * 400_000}</w:p>"),
    "tabs.docx": lambda: _docx(f"<w:p><w:r>{'<w:tab/>' * (2 * _MEGABYTE)}</w:r></w:p>"),
    "page breaks.docx": lambda: _docx(
        "<w:p><w:r>" + '<w:br w:type="page"/>' * 500_000 + "</w:r></w:p>"
    ),
    "entities of entities.docx": lambda: _docx(
        "<w:p><w:r><w:t>&e12;</w:t></w:r></w:p>", head=_laughs(12)
    ),
    "attributes.docx": lambda: _docx(
        "<w:p " + " ".join(f'w:a{n}="1"' for n in range(200_000)) + "/>"
    ),
    "zeros beside it.docx": lambda: _docx(
        "<w:p/>", extra=[("word/zeros.xml", b"\0" * (150 * _MEGABYTE))]
    ),
    "members without end.docx": lambda: _docx(
        "<w:p/>", extra=((f"a/{n}", b"") for n in range(60_000))
    ),
    "a member that lies about its size.docx": _lying_zip,
}

# PDF: pages that are one page, objects that name each other, streams that unpack without end


def _pdf(objects: Iterable[bytes], *, trailer: bytes = b"/Root 1 0 R") -> bytes:
    """The objects, numbered from 1."""
    body, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(places) + 1
    pdf = b"%sxref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF"
    return pdf % (bytes(body), size, table, size, trailer, len(body))


def _stream(content: bytes, more: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), more, content)


def _packed(content: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        content = zlib.compress(content, 9)
    return _stream(content, b"/Filter [%s]" % (b"/FlateDecode " * times))


_CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
    b" /Resources << /Font << /F1 5 0 R >> >> >>"
)


def _one_page(contents: bytes, *more: bytes, times: int = 1, page: bytes = _PAGE) -> bytes:
    """A PDF whose pages are one, several times; further objects begin with 6."""
    pages = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (times, b"3 0 R " * times)
    return _pdf([_CATALOG, pages, page, contents, _FONT, *more])


def _shown(times: int) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td " + b"(some words) Tj T* " * times + b"ET"


def _tree(depth: int) -> bytes:
    """Two references to the node below, at every level."""
    nodes = [
        b"<< /Type /Pages /Count %d /Kids [%d 0 R %d 0 R] >>" % (2, number + 1, number + 1)
        for number in range(2, depth + 2)
    ]
    last = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    return _pdf([_CATALOG, *nodes, last])


def _map(entries: int) -> bytes:
    """A table of characters that claims ranges without end."""
    ranges = b"<0000> <FFFF> <0000>\n" * entries
    return _packed(
        b"/CIDInit /ProcSet findresource begin begincmap\n"
        b"1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        b"%d beginbfrange\n%sendbfrange endcmap" % (entries, ranges)
    )


_MAPPED = b"<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /ToUnicode 6 0 R >>"


def _mapped(entries: int) -> bytes:
    pages = b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"
    return _pdf([_CATALOG, pages, _PAGE, _stream(_shown(1)), _MAPPED, _map(entries)])


def _forms(depth: int) -> bytes:
    """Forms that each show the next one ten times."""
    page = _PAGE.replace(b"/Font", b"/XObject << /X 6 0 R >> /Font")
    forms = [
        _stream(
            b"/X Do " * 10,
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
            b" /Resources << /XObject << /X %d 0 R >> >>" % min(number + 1, 5 + depth),
        )
        for number in range(6, 6 + depth)
    ]
    return _one_page(_stream(b"/X Do " * 10), *forms, page=page)


BOMBS |= {
    "one page 9,999 times.pdf": lambda: _one_page(_packed(_shown(2_000)), times=9_999),
    "one page a million times.pdf": lambda: _one_page(_packed(_shown(1)), times=1_000_000),
    "a tree of pages.pdf": lambda: _tree(28),
    "pages that are their own parent.pdf": lambda: _pdf(
        [_CATALOG, b"<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] /Parent 2 0 R >>"]
    ),
    "a stream that unpacks without end.pdf": lambda: _one_page(_packed(b" " * (300 * _MEGABYTE))),
    "a stream packed twice.pdf": lambda: _one_page(_packed(b"q " * (100 * _MEGABYTE), 2)),
    "operators.pdf": lambda: _one_page(_packed(b"q Q " * (5 * _MEGABYTE))),
    "texts.pdf": lambda: _one_page(_packed(_shown(1_500_000))),
    "arrays in arrays.pdf": lambda: _one_page(_stream(b"[" * (2 * _MEGABYTE))),
    "dictionaries in dictionaries.pdf": lambda: _pdf(
        [_CATALOG, b"<< /Kids " * 200_000 + b">>" * 200_000]
    ),
    "an open string.pdf": lambda: _one_page(_stream(b"(" * (3 * _MEGABYTE))),
    "a string of hexadecimals.pdf": lambda: _one_page(_stream(b"<" + b"41" * 3_000_000)),
    "ranges of characters.pdf": lambda: _mapped(20_000),
    "forms in forms.pdf": lambda: _forms(12),
    "an object of objects.pdf": lambda: _one_page(
        _stream(_shown(1)),
        _packed(b"".join(b"%d 0 " % n for n in range(7, 400_000)) + b"1 " * 400_000),
    ),
    "no table of references.pdf": lambda: b"%PDF-1.7\n" + b"1 0 obj <<>> endobj\n" * 200_000,
    "tables of references in a circle.pdf": lambda: _pdf(
        [_CATALOG, b"<< /Type /Pages /Count 0 /Kids [] >>"], trailer=b"/Root 1 0 R /Prev 9"
    ),
    "comments.pdf": lambda: b"%PDF-1.7\n" + b"%" * (10 * _MEGABYTE) + b"\n%%EOF",
    "a stream of ASCII85.pdf": lambda: _one_page(
        _stream(
            base64.a85encode(b" " * _MEGABYTE) + b"z" * (5 * _MEGABYTE) + b"~>",
            b"/Filter /ASCII85Decode",
        )
    ),
    "a stream of runs.pdf": lambda: _one_page(
        _stream(b"\x81 " * (2 * _MEGABYTE) + b"\x80", b"/Filter /RunLengthDecode")
    ),
    "an endless count.pdf": lambda: _pdf(
        [_CATALOG, b"<< /Type /Pages /Count 2147483647 /Kids [] >>"]
    ),
}


pytestmark = pytest.mark.slow

FULL = os.environ.get("PLANWEAVE_ATTACK") == "full"
LONGEST = 1_000_000  # characters of text in an answer, before those of its last page


@pytest.mark.parametrize("name", BOMBS if FULL else [*BOMBS][6::18])
def test_it_ends(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read or refused, and the next document is read.

    This process parses nothing and gets the text in short answers, so that its threads go on.
    """
    path, note, limits = tmp_path / name, tmp_path / "note.txt", DocumentLimits()
    path.write_bytes(content(name))
    note.write_text("One two three.")
    lengths = list[int]()

    class Measured(HelperProcess):
        def ask(self, request: Mapping[str, object], seconds: float) -> dict[str, Any]:
            answer: dict[str, Any] = super().ask(request, seconds)
            lengths.append(sum(len(text) for _, text, _ in answer.get("pages", ())))
            return answer

    monkeypatch.setattr(process, "HelperProcess", Measured)
    monkeypatch.setattr(pages, "read", None)
    cutting = Cutting(WordTokens().path, 100, 0)
    with Parser() as parser:
        with suppress(Unreadable):
            parsed = parser.read(path, limits, cutting)
            assert len(parsed.document.pages) <= limits.pages
        assert parser.read(note, limits, cutting).document.pages
    assert max(lengths) <= LONGEST + limits.page_characters
