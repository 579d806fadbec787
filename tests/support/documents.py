"""Documents of every kind, made by hand, and a tokenizer that needs no weights."""

import atexit
import re
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

_TEXT = "BT /F1 12 Tf 72 720 Td 14 TL {lines} ET"
_PICTURE = "q 200 0 0 200 72 400 cm /Im1 Do Q"


class WordTokens:
    """A token is a word or a sign; ``path`` is a tokenizer that says the same."""

    @property
    def path(self) -> Path:
        return _tokenizer()

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


@cache
def _tokenizer() -> Path:
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split

    made = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = Split(Regex(r"\w+|[^\w\s]"), "removed", invert=True)
    path = Path(mkdtemp(prefix="planweave-tokens-")) / "tokenizer.json"
    made.save(str(path))
    atexit.register(rmtree, path.parent, ignore_errors=True)
    return path


def write_pdf(path: Path, pages: Sequence[str | None]) -> Path:
    """A PDF with these texts, line by line; None is a page that holds a picture alone."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids "
        f"[{' '.join(f'{5 + 2 * number} 0 R' for number in range(len(pages)))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray"
        " /BitsPerComponent 8 /Length 1 >>\nstream\n0\nendstream",
    ]
    for number, text in enumerate(pages):
        shown = "".join(f"({line}) Tj T* " for line in (text or "").splitlines())
        content = _PICTURE if text is None else _TEXT.format(lines=shown)
        used = "/XObject << /Im1 4 0 R >>" if text is None else "/Font << /F1 3 0 R >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << {used} >>"
            f" /Contents {6 + 2 * number} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    body, places = "%PDF-1.4\n", []
    for number, text_of_object in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text_of_object}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    path.write_text(
        f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF",
        "latin-1",
    )
    return path


def encrypt(path: Path, password: str) -> Path:
    """The same PDF under a password."""
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=path)
    writer.encrypt(password, algorithm="RC4-128")
    writer.write(path)
    return path


def add_table(file: Any, *rows: Sequence[str]) -> None:
    """Add a table with these texts to a DOCX."""
    table = file.add_table(len(rows), len(rows[0]))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text


def write_bomb(path: Path, megabytes: int) -> Path:
    """A DOCX that unpacks to far more than it has."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("word/document.xml", b" " * (megabytes * 1_000_000))
    return path
