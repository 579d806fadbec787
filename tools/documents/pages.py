"""Pages: the text of a document, page by page, as its format tells them apart."""

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
from planweave.tools.documents.tables import continued, is_fence, names_at_end

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from docx.table import Table
    from docx.text.paragraph import Paragraph
    from pypdf import PageObject, PdfReader

Paging: TypeAlias = Literal["pages", "headings", "parts"]
"""What a page is: the file's own, a section under its heading, or about 2 400 characters."""

_PART_CHARACTERS = 2_400  # below what a prompt shows of a page, with the names of its tables
_ENDS = ("\n\n", "\n", " ")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = (
    *("p", "div", "section", "article", "main", "header", "footer", "aside", "blockquote", "pre"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "figure", "figcaption", "br", "hr", "title"),
)
_LINE, _PAGE = "\ue000", "\ue001"  # of no meaning in any text
_DEPTH = 1_000
_SNIFFED = 8_192  # what the guess of a table's delimiter reads: it takes the square of this
_HINT = re.compile(r"sep=[,;\t|]\r?\n", re.IGNORECASE)  # for Excel, and no row
_LEVEL = re.compile(r"Heading ([1-6])")  # the name of a style, in every language of Word
_SIGNS = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "-",
    "lastRenderedPageBreak": "\f",
    "p": "\n",  # within a cell or a text box
}
"""Elements of Word that stand for a sign."""
_OUTERMOST = "[not(ancestor::w:p or ancestor::w:tbl)]"
_WORD_BLOCKS = f".//w:p{_OUTERMOST} | .//w:tbl{_OUTERMOST}"  # content controls hold some of them
_WORD_PARTS = ".//*[not(ancestor::*[local-name() = 'Fallback'])]"
_NOT_BLANK = re.compile(r"\S")
_PACKED = (".pdf", ".docx", ".jsonl.gz")
_PLAIN = {
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
    """How large a document may be, and what reading it may take."""

    bytes: int = 200_000_000
    pages: int = 10_000
    characters: int = 50_000_000
    page_characters: int = 1_000_000
    seconds: float = 6.0
    memory: int = 1 << 30

    def seconds_for(self, path: Path, size: int) -> float:
        """What reading this file may take: honest work grows with the size of a file.

        A plain file takes about 1 s a megabyte, a packed one up to 5 s (250 pages of PDF).
        """
        return self.seconds + size / 1e6 * (10.0 if kind_of(path) in _PACKED else 3.0)

    def memory_for(self, size: int) -> int:
        """Bytes of memory that reading a file of this size may take."""
        return self.memory + min(16 * size, 1 << 30)


@dataclass(frozen=True)
class PageText:
    """A page."""

    number: int
    text: str
    image_only: bool = False


@dataclass(frozen=True)
class Document:
    """What a file holds."""

    name: str
    pages: list[PageText]
    paging: Paging


class Unreadable(BadInput):
    """A file that cannot be read as a document."""


class _Damaged(Exception):
    """What a reader says of a file; :func:`read` adds the name."""


def read(path: Path, limits: DocumentLimits | None = None) -> Document:
    """Read a document.

    Args:
        path: A PDF, DOCX, HTML, Markdown, CSV, TSV or text file, or JSON lines of
            ``{"page": 1, "text": "…"}``, which may be packed by gzip.
        limits: How large it may be.

    Raises:
        Unreadable: It is absent, too large, encrypted, damaged, empty, or of another kind.
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
        pages = _bounded(pages, limits)
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
    """The ending that names the kind of a file, such as ``.pdf``; None if it cannot be read."""
    name = path.name.lower()
    return next((kind for kind in KINDS if name.endswith(kind)), None)


def check_size(path: Path, limits: DocumentLimits) -> None:
    """Refuse what is no file or too large, before a byte of it is read."""
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


def _bounded(pages: Iterable[PageText], limits: DocumentLimits) -> list[PageText]:
    """The pages, unless there are too many."""
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


def _pdf(path: Path, limits: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # we say ourselves what is wrong
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not _opens(reader):
            raise _Damaged("is encrypted: remove its password first")
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _Damaged("is damaged or is no PDF") from None
    if count > limits.pages:
        raise _Damaged(f"has more than {limits.pages} pages")
    pages = (_pdf_page(number, reader.pages[number - 1]) for number in range(1, count + 1))
    return continued_pages(pages), "pages"


def _opens(reader: "PdfReader") -> bool:
    """Whether an encrypted file opens without a password, by a cipher that is at hand."""
    from pypdf.errors import PyPdfError

    try:
        return bool(reader.decrypt(""))
    except (PyPdfError, NotImplementedError):
        return False


def _pdf_page(number: int, page: "PageObject") -> PageText:
    """A page; one that the library cannot read counts as an image, so that it is reported."""
    try:
        text = clean(page.extract_text())
        holds_image = not text and bool(page.get("/Resources", {}).get("/XObject"))
    except Exception:  # a damaged page raises almost anything, and the others are sound
        return PageText(number, "", image_only=True)
    return PageText(number, text, holds_image)


# DOCX


def _docx(path: Path, limits: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    import docx
    from docx.oxml.ns import qn
    from docx.table import Table
    from docx.text.paragraph import Paragraph

    _refuse_bomb(path, limits)
    try:
        document = docx.Document(str(path))
        blocks = [
            _table(Table(block, document))
            if block.tag == qn("w:tbl")
            else _paragraph(Paragraph(block, document))
            for block in document.element.body.xpath(_WORD_BLOCKS)
        ]
    except MemoryError:
        raise
    except Exception:  # python-docx raises what its XML library and zipfile happen to raise
        raise _Damaged("is damaged or is no DOCX") from None
    text = re.sub(r"\f\s*\f", "\f", "\n".join(blocks))  # a break, and Word's note that it broke
    return _by_form_feed(text)


def _refuse_bomb(path: Path, limits: DocumentLimits) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile:
        raise _Damaged("is no DOCX, or is encrypted: remove its password first") from None
    if unpacked > limits.bytes:
        raise _Damaged(f"unpacks to {unpacked / 1e6:,.0f} MB, which is too large")


def _paragraph(paragraph: "Paragraph") -> str:
    """Its text with a form feed at each page break; Word notes those it made itself as well."""
    broken_before = "\f" if paragraph.paragraph_format.page_break_before else ""
    level = _LEVEL.fullmatch((paragraph.style and paragraph.style.name) or "")
    heading = f"{'#' * int(level[1])} " if level else ""
    return f"{broken_before}{heading}{_word_text(paragraph._p)}"


def _table(table: "Table") -> str:
    return "\n".join(_row(_word_text(cell._tc) for cell in row.cells) for row in table.rows)


def _word_text(element: Any) -> str:  # lxml has no types
    """The text of a paragraph or a cell, with that of text boxes in it, which Word keeps twice."""
    from docx.oxml.ns import qn

    signs = {qn(f"w:{name}"): sign for name, sign in _SIGNS.items()}
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


def _html(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    """Marks at the ends of blocks become line ends; blanks of the source count as one."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(path.read_bytes(), "html.parser")
    _refuse_depth(soup)
    for tag in soup(["noscript", "svg", "nav"]):  # get_text leaves out scripts, styles, comments
        tag.clear()
    for row in soup("tr"):
        cells = row.find_all(["td", "th"], recursive=False)
        row.string = _LINE + _row(cell.get_text(" ") for cell in cells) + _LINE
    for tag in soup("pre"):
        tag.string = tag.get_text().replace("\n", _LINE)
    for tag in soup([*_BLOCKS, *_HEADINGS]):
        is_heading = tag.name in _HEADINGS and tag.get_text(strip=True)
        tag.insert(0, f"{_PAGE}{'#' * int(tag.name[1])} " if is_heading else _LINE)
        tag.append(_LINE)
    text = re.sub(r"\s+", " ", soup.get_text())
    text = re.sub(rf" ?{_LINE}[ {_LINE}]*", "\n", text)
    return _by_heading(text.replace(_PAGE, "\f"))


def _refuse_depth(soup: "BeautifulSoup") -> None:
    """Refuse tags in tags in tags …: what the library does with them takes the square of them."""
    depths = {id(soup): 0}
    for tag in soup.find_all(True):
        depths[id(tag)] = depth = depths[id(tag.parent)] + 1
        if depth > _DEPTH:
            raise _Damaged(f"has more than {_DEPTH} tags in one another")


def _markdown(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    lines: list[str] = []
    in_code = False
    for line in _text_of(path).splitlines():
        in_code ^= is_fence(line)
        is_heading = not in_code and re.match(r"#{1,6}\s", line)
        lines.append(f"\f{line}" if is_heading else line)
    return _by_heading("\n".join(lines))


def _by_heading(text: str) -> tuple[Iterable[PageText], Paging]:
    """Pages that begin at form feeds put before headings; a heading without text joins the next."""
    sections: list[str] = []
    waiting = ""
    for piece in text.split("\f"):
        waiting += piece
        if "\n" in piece.strip():
            sections.append(waiting)
            waiting = ""
    sections.append(waiting)
    return _parts(sections), "headings" if "\f" in text else "parts"


# plain text, CSV, JSON lines


def _plain(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    return _by_form_feed(_text_of(path))


def _by_form_feed(text: str) -> tuple[Iterable[PageText], Paging]:
    """Pages between form feeds; parts of a text that has none."""
    if "\f" not in text:
        return _parts([text]), "parts"
    pieces = text.removesuffix("\f").split("\f")
    pages = (PageText(number, clean(piece)) for number, piece in enumerate(pieces, 1))
    return continued_pages(pages), "pages"


def _csv(path: Path, _: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    text = _text_of(path)
    if hint := _HINT.match(text):
        text = text[hint.end() :]
    try:
        delimiter = csv.Sniffer().sniff(text[:_SNIFFED], ",;\t|").delimiter
    except csv.Error:
        delimiter = ","
    # No more than that is guessed: the first quote within quotes may well come later.
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    try:
        lines = [_row(row) for row in rows if any(row)]
    except csv.Error as error:
        raise _Damaged(f"is no table: {error}") from None
    return _under_header(lines[0], lines[1:]) if lines else [], "parts"


def _under_header(header: str, lines: Sequence[str]) -> Iterator[PageText]:
    """Pages of whole rows, each under the line that names the columns."""
    page, length, number = [header], len(header), 1
    for line in lines:
        if length + len(line) > _PART_CHARACTERS and len(page) > 1:
            yield PageText(number, clean("\n".join(page)))
            page, length, number = [header], len(header), number + 1
        page.append(line)
        length += len(line) + 1
    yield PageText(number, clean("\n".join(page)))


def _jsonl(path: Path, limits: DocumentLimits) -> tuple[Iterable[PageText], Paging]:
    """The pages of a report that was read before; the numbers are the file's."""
    pages: dict[int, PageText] = {}
    lines = _unpacked(path, limits).removeprefix(codecs.BOM_UTF8).splitlines()
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
    return continued_pages(pages[number] for number in sorted(pages)), "pages"


class _Line(BaseModel):
    page: int = Field(ge=1, le=10_000_000)
    text: str


def _unpacked(path: Path, limits: DocumentLimits) -> bytes:
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


def _text_of(path: Path) -> str:
    content = path.read_bytes()
    for encoding in _encodings(content):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise _Damaged("is no text")


def _encodings(content: bytes) -> tuple[str, ...]:
    """Encodings to try: what the first bytes say, UTF-8, and at last one that fits any bytes."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16",)
    if content[1:200:2].count(0) > 50:
        return ("utf-16-le",)
    if content[0:200:2].count(0) > 50:
        return ("utf-16-be",)
    return ("utf-8-sig", "cp1252", "latin-1")


def _parts(sections: Iterable[str]) -> Iterator[PageText]:
    """Each section as a page; a longer one is cut, best between paragraphs, into several."""
    texts = continued(filter(None, chain.from_iterable(map(_cut, sections))))
    return (PageText(number, text) for number, text in enumerate(texts, 1))


def _cut(text: str) -> Iterator[str]:
    text = clean(text)
    start = 0
    while len(text) - start > _PART_CHARACTERS:
        half, limit = start + _PART_CHARACTERS // 2, start + _PART_CHARACTERS
        places = (text.rfind(end, half, limit) for end in _ENDS)
        place = next((place for place in places if place > 0), limit)
        place = start + names_at_end(text[start:place], text[place : limit + _PART_CHARACTERS])
        yield text[start:place].rstrip()
        after = _NOT_BLANK.search(text, place)
        start = after.start() if after else len(text)
    yield text[start:]


def continued_pages(pages: Iterable[PageText]) -> Iterator[PageText]:
    """The pages of a file; one that begins inside a table begins with the names of its columns."""
    ours, theirs = tee(pages)
    texts = continued(page.text for page in theirs)
    return (replace(page, text=text) for page, text in zip(ours, texts, strict=True))


def _row(cells: Iterable[str]) -> str:
    """A row of a table as one line that a chunk will not cut."""
    return " | ".join(" ".join(cell.split()) for cell in cells)


def clean(text: str) -> str:
    """``text`` without what no reader sees: broken characters, ligatures, blanks at line ends."""
    sound = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "").translate(_PLAIN)
    return "\n".join(map(_plain_line, sound.splitlines())).strip()


def _plain_line(line: str) -> str:
    """A line without the blanks and dashes that only align the cells of a table."""
    if not line.lstrip().startswith("|"):
        return line.rstrip()
    return re.sub(r"-{4,}", "---", re.sub(r" {2,}", " ", line)).strip()


_Reader: TypeAlias = Callable[[Path, DocumentLimits], tuple[Iterable[PageText], Paging]]
_READERS: dict[str, _Reader] = {
    ".pdf": _pdf,
    ".docx": _docx,
    ".html": _html,
    ".htm": _html,
    ".md": _markdown,
    ".markdown": _markdown,
    ".csv": _csv,
    ".tsv": _csv,
    ".txt": _plain,
    ".jsonl": _jsonl,
    ".jsonl.gz": _jsonl,
}
KINDS = tuple(_READERS)
