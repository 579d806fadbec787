"""Pages: reads the text of a document page by page, from several file formats."""

import codecs
import csv
import gzip
import io
import logging
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from planweave import BadInput
from planweave.tools.documents.tables import find_names_at_end, is_fence, repeat_names

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from docx.table import Table
    from docx.text.paragraph import Paragraph
    from pypdf import PageObject, PdfReader

Paging: TypeAlias = Literal["pages", "headings", "parts"]
"""The kind of pages: pages of the file, sections under headings, or about 2 400 characters."""

_PART_CHARACTERS = 2_400  # below a prompt's limit for a page, with the names of its tables
_SEPARATORS = ("\n\n", "\n", " ")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = (
    *("p", "div", "section", "article", "main", "header", "footer", "aside", "blockquote", "pre"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "figure", "figcaption", "br", "hr", "title"),
)
_LINE, _PAGE = "\ue000", "\ue001"  # private-use characters
_MAX_DEPTH = 1_000
_SNIFFED_CHARACTERS = (
    8_192  # for the guess of a table's delimiter, whose time grows with the square
)
_CSV_HINT = re.compile(r"sep=[,;\t|]\r?\n", re.IGNORECASE)  # a hint for Excel, not a row
_LEVEL = re.compile(r"Heading ([1-6])")  # the internal name of a style, in every language of Word
_CHARACTERS = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "-",
    "lastRenderedPageBreak": "\f",
    "p": "\n",  # within a cell or a text box
}
"""Elements of Word that represent a character."""
_OUTERMOST = "[not(ancestor::w:p or ancestor::w:tbl)]"
_WORD_BLOCKS = f".//w:p{_OUTERMOST} | .//w:tbl{_OUTERMOST}"  # some are inside content controls
_WORD_PARTS = ".//*[not(ancestor::*[local-name() = 'Fallback'])]"
_NOT_BLANK = re.compile(r"\S")
_PACKED = (".pdf", ".docx", ".jsonl.gz")
_REPLACEMENTS = {
    0xAD: "",
    0xA0: " ",
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
}


@dataclass(frozen=True, kw_only=True)
class DocumentLimits:
    """The largest document, and the resources for reading it."""

    bytes: int = 200_000_000
    pages: int = 10_000
    characters: int = 50_000_000
    page_characters: int = 1_000_000
    seconds: float = 6.0
    memory: int = 1 << 30

    def seconds_for(self, path: Path, size: int) -> float:
        """Seconds for reading this file; they grow with its size.

        A plain file takes about 1 s per megabyte, a packed one up to 5 s (250 pages of PDF).
        """
        return self.seconds + size / 1e6 * (10.0 if kind_of(path) in _PACKED else 3.0)

    def memory_for(self, size: int) -> int:
        """Bytes of memory for reading a file of this size."""
        return self.memory + min(16 * size, 1 << 30)


@dataclass(frozen=True)
class PageText:
    """A page."""

    number: int
    text: str
    image_only: bool = False


@dataclass(frozen=True)
class Document:
    """The contents of a file."""

    name: str
    pages: list[PageText]
    paging: Paging


class Unreadable(BadInput):
    """A file that cannot be read as a document."""


class _Damaged(Exception):
    """A problem with a file; :func:`read` adds the file name."""


def read(path: Path, limits: DocumentLimits | None = None) -> Document:
    """Read a document.

    Args:
        path: A PDF, DOCX, HTML, Markdown, CSV, TSV or text file, or JSON lines of
            ``{"page": 1, "text": "…"}``, also packed with gzip.
        limits: The largest document.

    Raises:
        Unreadable: It is missing, too large, encrypted, damaged, empty, or of another kind.
    """
    limits = limits or DocumentLimits()
    kind = kind_of(path)
    if kind is None:
        raise Unreadable(
            f"{path.name} is of no kind that can be read.", fix=f"Known are {', '.join(KINDS)}."
        )
    check_size(path, limits)
    try:
        pages, paging = _READERS[kind](path, limits)
        pages = _check_limits(pages, limits)
    except _Damaged as error:
        raise Unreadable(f"{path.name} {error}.") from None
    except ImportError as error:
        raise Unreadable(
            f"{path.name} needs the library {error.name}, which is not installed.",
            fix="Install it with pip install 'planweave[documents]'.",
        ) from None
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read ({error.strerror or 'damaged'}).") from None
    if not any(page.text or page.image_only for page in pages):
        raise Unreadable(f"{path.name} holds no text.")
    return Document(path.name, pages, paging)


def kind_of(path: Path) -> str | None:
    """The kind of a file by its ending, such as ``.pdf``; None for an unknown kind."""
    name = path.name.lower()
    return next((kind for kind in KINDS if name.endswith(kind)), None)


def check_size(path: Path, limits: DocumentLimits) -> None:
    """Refuse a path that is not a file, or a file that is too large, without reading it."""
    try:
        stat = path.stat()
    except OSError as error:
        raise Unreadable(
            f"{path} cannot be read ({error.strerror}).", fix="Check the path."
        ) from None
    if not path.is_file():
        raise Unreadable(f"{path} is no file.", fix="Give a file, a folder or a URL.")
    if stat.st_size > limits.bytes:
        raise Unreadable(
            f"{path.name} has {stat.st_size / 1e6:,.0f} MB; at most "
            f"{limits.bytes / 1e6:,.0f} MB are read.",
            fix="Split it, or raise PLANWEAVE_DOCUMENT_MEGABYTES.",
        )


def _check_limits(pages: Iterable[PageText], limits: DocumentLimits) -> list[PageText]:
    """Check the number and the length of the pages."""
    kept: list[PageText] = []
    characters = 0
    for page in pages:
        characters += len(page.text)
        if len(page.text) > limits.page_characters:
            raise _Damaged(
                f"has more than {limits.page_characters} characters of text on page {page.number}"
            )
        if len(kept) >= limits.pages:
            raise _Damaged(f"has more than {limits.pages} pages")
        if characters > limits.characters:
            raise _Damaged(f"holds more than {limits.characters} characters of text")
        kept.append(page)
    return kept


# PDF


def _read_pdf(path: Path, limits: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # we report problems ourselves
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not _can_open(reader):
            raise _Damaged("is encrypted: remove its password first")
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _Damaged("is damaged or is no PDF") from None
    if count > limits.pages:
        raise _Damaged(f"has more than {limits.pages} pages")
    pages = (_read_pdf_page(number, reader.pages[number - 1]) for number in range(1, count + 1))
    return continue_pages(pages), "pages"


def _can_open(reader: "PdfReader") -> bool:
    """Whether an encrypted file opens without a password, by an available cipher."""
    from pypdf.errors import PyPdfError

    try:
        return bool(reader.decrypt(""))
    except (PyPdfError, NotImplementedError):
        return False


def _read_pdf_page(number: int, page: "PageObject") -> PageText:
    """Read a page; an unreadable page counts as an image, so that it is reported."""
    try:
        text = clean(page.extract_text())
        holds_image = not text and bool(page.get("/Resources", {}).get("/XObject"))
    except Exception:  # a damaged page raises errors of almost any type
        return PageText(number, "", image_only=True)
    return PageText(number, text, holds_image)


# DOCX


def _read_docx(path: Path, limits: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    import docx
    from docx.oxml.ns import qn
    from docx.table import Table
    from docx.text.paragraph import Paragraph

    _refuse_bomb(path, limits)
    try:
        document = docx.Document(str(path))
        blocks = [
            _table_text(Table(block, document))
            if block.tag == qn("w:tbl")
            else _paragraph_text(Paragraph(block, document))
            for block in document.element.body.xpath(_WORD_BLOCKS)
        ]
    except MemoryError:
        raise
    except Exception:  # python-docx raises the errors of its XML library and of zipfile
        raise _Damaged("is damaged or is no DOCX") from None
    text = re.sub(r"\f\s*\f", "\f", "\n".join(blocks))  # Word marks a forced break twice
    return _split_at_form_feeds(text)


def _refuse_bomb(path: Path, limits: DocumentLimits) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile:
        raise _Damaged("is no DOCX, or is encrypted: remove its password first") from None
    if unpacked > limits.bytes:
        raise _Damaged(f"unpacks to {unpacked / 1e6:,.0f} MB, which is too large")


def _paragraph_text(paragraph: "Paragraph") -> str:
    """The text of a paragraph, with a form feed at each page break."""
    broken_before = "\f" if paragraph.paragraph_format.page_break_before else ""
    level = _LEVEL.fullmatch((paragraph.style and paragraph.style.name) or "")
    heading = f"{'#' * int(level[1])} " if level else ""
    return f"{broken_before}{heading}{_word_text(paragraph._p)}"


def _table_text(table: "Table") -> str:
    return "\n".join(_row_text(_word_text(cell._tc) for cell in row.cells) for row in table.rows)


def _word_text(element: Any) -> str:  # lxml has no types
    """The text of a paragraph or cell, including text boxes, which Word stores twice."""
    from docx.oxml.ns import qn

    signs = {qn(f"w:{name}"): sign for name, sign in _CHARACTERS.items()}
    pieces: list[str] = []
    for part in element.xpath(_WORD_PARTS):
        if part.tag == qn("w:t"):
            pieces.append(part.text or "")
        elif part.tag == qn("w:br") and part.get(qn("w:type")) == "page":
            pieces.append("\f")
        else:
            pieces.append(signs.get(part.tag, ""))
    return "".join(pieces)


# HTML and Markdown


def _read_html(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    """Read HTML: the ends of blocks become line ends, and all other blanks one space."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(path.read_bytes(), "html.parser")
    _refuse_depth(soup)
    for tag in soup(["noscript", "svg", "nav"]):  # get_text leaves out scripts, styles, comments
        tag.clear()
    for row in soup("tr"):
        cells = row.find_all(["td", "th"], recursive=False)
        row.string = _LINE + _row_text(cell.get_text(" ") for cell in cells) + _LINE
    for tag in soup("pre"):
        tag.string = tag.get_text().replace("\n", _LINE)
    for tag in soup([*_BLOCKS, *_HEADINGS]):
        is_heading = tag.name in _HEADINGS and tag.get_text(strip=True)
        tag.insert(0, f"{_PAGE}{'#' * int(tag.name[1])} " if is_heading else _LINE)
        tag.append(_LINE)
    text = re.sub(r"\s+", " ", soup.get_text())
    text = re.sub(rf" ?{_LINE}[ {_LINE}]*", "\n", text)
    return _split_at_headings(text.replace(_PAGE, "\f"))


def _refuse_depth(soup: "BeautifulSoup") -> None:
    """Refuse deeply nested tags: the library's time grows with the square of the depth."""
    depths = {id(soup): 0}
    for tag in soup.find_all(True):
        depths[id(tag)] = depth = depths[id(tag.parent)] + 1
        if depth > _MAX_DEPTH:
            raise _Damaged(f"has more than {_MAX_DEPTH} tags in one another")


def _read_markdown(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    lines: list[str] = []
    in_code = False
    for line in _decode(path).splitlines():
        in_code ^= is_fence(line)
        is_heading = not in_code and re.match(r"#{1,6}\s", line)
        lines.append(f"\f{line}" if is_heading else line)
    return _split_at_headings("\n".join(lines))


def _split_at_headings(text: str) -> tuple[Iterable[PageText], Paging]:
    """Split a text at form feeds before headings; a heading without text joins the next page."""
    sections: list[str] = []
    section = ""
    for piece in text.split("\f"):
        section += piece
        if "\n" in piece.strip():
            sections.append(section)
            section = ""
    sections.append(section)
    return _split_parts(sections), "headings" if "\f" in text else "parts"


# plain text, CSV, JSON lines


def _read_text(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    return _split_at_form_feeds(_decode(path))


def _split_at_form_feeds(text: str) -> tuple[Iterable[PageText], Paging]:
    """Split a text at form feeds, or into parts if it has none."""
    if "\f" not in text:
        return _split_parts([text]), "parts"
    pieces = text.removesuffix("\f").split("\f")
    pages = (PageText(number, clean(piece)) for number, piece in enumerate(pieces, 1))
    return continue_pages(pages), "pages"


def _read_csv(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    text = _decode(path)
    if hint := _CSV_HINT.match(text):
        text = text[hint.end() :]
    try:
        delimiter = csv.Sniffer().sniff(text[:_SNIFFED_CHARACTERS], ",;\t|").delimiter
    except csv.Error:
        delimiter = ","
    # Only the delimiter is guessed: the first quote within quotes may come later.
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    try:
        lines = [_row_text(row) for row in rows if any(row)]
    except csv.Error as error:
        raise _Damaged(f"is not a table: {error}") from None
    return _pages_with_header(lines[0], lines[1:]) if lines else [], "parts"


def _pages_with_header(header: str, lines: Sequence[str]) -> Iterator[PageText]:
    """Pages of whole rows, each under the line with the column names."""
    page, length, number = [header], len(header), 1
    for line in lines:
        if length + len(line) > _PART_CHARACTERS and len(page) > 1:
            yield PageText(number, clean("\n".join(page)))
            page, length, number = [header], len(header), number + 1
        page.append(line)
        length += len(line) + 1
    yield PageText(number, clean("\n".join(page)))


def _read_jsonl(path: Path, limits: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    """Read JSON lines of pages; the page numbers are those of the file."""
    pages: dict[int, PageText] = {}
    lines = _unpack(path, limits).removeprefix(codecs.BOM_UTF8).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            page = _Line.model_validate_json(line)
        except ValidationError:
            raise _Damaged(f'has in line {number} no {{"page": 1, "text": "…"}}') from None
        if page.page in pages:
            raise _Damaged(f"has page {page.page} twice")
        pages[page.page] = PageText(page.page, clean(page.text))
    return continue_pages(pages[number] for number in sorted(pages)), "pages"


class _Line(BaseModel):
    page: int = Field(ge=1, le=10_000_000)
    text: str


def _unpack(path: Path, limits: DocumentLimits) -> bytes:
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            content = file.read(limits.bytes + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise _Damaged("is damaged or is not packed by gzip") from None
    if len(content) > limits.bytes:
        raise _Damaged(f"unpacks to more than {limits.bytes / 1e6:,.0f} MB")
    return content


# text


def _decode(path: Path) -> str:
    content = path.read_bytes()
    for encoding in _encodings(content):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise _Damaged("is not a text file")


def _encodings(content: bytes) -> tuple[str, ...]:
    """Encodings to try: by the first bytes, then UTF-8, and last one that fits any bytes."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16",)
    if content[1:200:2].count(0) > 50:
        return ("utf-16-le",)
    if content[0:200:2].count(0) > 50:
        return ("utf-16-be",)
    return ("utf-8-sig", "cp1252", "latin-1")


def _split_parts(sections: Iterable[str]) -> Iterator[PageText]:
    """Make each section a page; cut a long one into several, preferably between paragraphs."""
    texts = repeat_names(filter(None, chain.from_iterable(map(_cut_text, sections))))
    return (PageText(number, text) for number, text in enumerate(texts, 1))


def _cut_text(text: str) -> Iterator[str]:
    text = clean(text)
    start = 0
    while len(text) - start > _PART_CHARACTERS:
        half, limit = start + _PART_CHARACTERS // 2, start + _PART_CHARACTERS
        places = (text.rfind(end, half, limit) for end in _SEPARATORS)
        place = next((place for place in places if place > 0), limit)
        place = start + find_names_at_end(text[start:place], text[place : limit + _PART_CHARACTERS])
        yield text[start:place].rstrip()
        after = _NOT_BLANK.search(text, place)
        start = after.start() if after else len(text)
    yield text[start:]


def continue_pages(pages: Iterable[PageText]) -> Iterator[PageText]:
    """Put the column names first on each page that begins inside a table."""
    ours, theirs = tee(pages)
    texts = repeat_names(page.text for page in theirs)
    return (replace(page, text=text) for page, text in zip(ours, texts, strict=True))


def _row_text(cells: Iterable[str]) -> str:
    """A row of a table as one line; chunks never cut it."""
    return " | ".join(" ".join(cell.split()) for cell in cells)


def clean(text: str) -> str:
    """``text`` without broken characters, ligatures, and blanks at line ends."""
    sound = (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "").translate(_REPLACEMENTS)
    )
    return "\n".join(map(_clean_line, sound.splitlines())).strip()


def _clean_line(line: str) -> str:
    """A line without blanks and dashes that only align the cells of a table."""
    if not line.lstrip().startswith("|"):
        return line.rstrip()
    return re.sub(r"-{4,}", "---", re.sub(r" {2,}", " ", line)).strip()


_Reader: TypeAlias = Callable[[Path, DocumentLimits], tuple[Iterable[PageText], Paging]]
_READERS: dict[str, _Reader] = {
    ".pdf": _read_pdf,
    ".docx": _read_docx,
    ".html": _read_html,
    ".htm": _read_html,
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".txt": _read_text,
    ".jsonl": _read_jsonl,
    ".jsonl.gz": _read_jsonl,
}
KINDS = tuple(_READERS)
