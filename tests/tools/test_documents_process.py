"""The process that parses documents: bounded, replaced when it fails, and gone at the end."""

import os
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from documents import WordTokens, write_pdf

from planweave.tools.documents import process, worker
from planweave.tools.documents.pages import DocumentLimits, Unreadable, read
from planweave.tools.documents.process import Cutting, Parser

CUTTING = Cutting(WordTokens().path, 5, 1)


def note(folder: Path, text: str = "One two three four. Five six seven.") -> Path:
    path = folder / "note.txt"
    path.write_text(text)
    return path


def test_what_is_read_apart_is_what_is_read_here(tmp_path: Path) -> None:
    long = "\f".join(f"Page {number}. " + "word \U0001f600 " * 9_000 for number in range(10))
    paths = [note(tmp_path, long), write_pdf(tmp_path / "a.pdf", ["One.", None, "Three."])]
    with Parser() as parser:
        for path in paths:
            parsed = parser.read(path, DocumentLimits(), CUTTING)
            assert parsed.document == read(path)
            assert {piece.page for piece in parsed.chunks} == {
                page.number for page in parsed.document.pages if page.text
            }


def test_a_long_document_comes_in_short_answers(tmp_path: Path) -> None:
    """The parent reads one at a time, and its other threads go on between them."""
    path = note(tmp_path, "\f".join(["word " * 100_000] * 6))
    request: dict[str, Any] = {"path": str(path), "limits": {}, "cutting": None}
    lengths = [
        sum(len(text) for _, text, _ in cast("Any", answer["pages"]))
        for answer in worker._answers(request)
    ]
    assert sum(lengths) > 2_900_000
    assert max(lengths) <= 1_500_000


def test_chunks_are_cut_as_asked_and_without_a_tokenizer_there_are_none(tmp_path: Path) -> None:
    with Parser() as parser:
        parsed = parser.read(note(tmp_path), DocumentLimits(), CUTTING)
        assert parsed.chunks == [(1, "One two three four.", ""), (1, ". Five six seven.", "")]
        assert parser.read(note(tmp_path), DocumentLimits()) == (parsed.document, [])


ENDLESS = b"<a" * 300_000
"""HTML for whose reading the standard library takes the square of its length."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
def test_what_takes_too_long_or_too_much_memory_is_ended(tmp_path: Path) -> None:
    (tmp_path / "endless.html").write_bytes(ENDLESS)
    (tmp_path / "rows.txt").write_bytes(b"a\n" * 4_000_000)
    late = r"^endless\.html takes more than 2 s of processor time to read\."
    with Parser() as parser:
        with pytest.raises(Unreadable, match=late):
            parser.read(tmp_path / "endless.html", DocumentLimits(seconds=0))
        assert parser.read(note(tmp_path), DocumentLimits()).document.pages
        with pytest.raises(Unreadable, match=r"^rows\.txt made its reader fail, or takes"):
            parser.read(tmp_path / "rows.txt", DocumentLimits(memory=60 << 20, pages=10**9))
        assert parser.read(note(tmp_path), DocumentLimits()).document.pages


def test_one_process_reads_all_files_and_ends_with_the_work(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_text("no PDF")
    with Parser() as unused:
        assert unused._process is None
    with Parser() as parser:
        parser.read(note(tmp_path), DocumentLimits())
        first = parser._process
        assert first is not None
        with pytest.raises(Unreadable, match=r"^broken\.pdf is damaged or is no PDF\."):
            parser.read(broken, DocumentLimits())
        with pytest.raises(Unreadable, match=r"is of no kind that can be read"):
            parser.read(tmp_path / "a.xlsx", DocumentLimits())
        parser.read(note(tmp_path), DocumentLimits())
        assert parser._process is first
        os.kill(first._process.pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(first._process.pid, 0)


def test_a_larger_file_may_take_longer() -> None:
    limits = DocumentLimits()
    assert limits.seconds_for(Path("a.txt"), 0) == limits.seconds_for(Path("a.pdf"), 0) == 6
    assert limits.seconds_for(Path("a.html"), 10_000_000) == 36
    assert limits.seconds_for(Path("a.jsonl.gz"), 10_000_000) == 106
    assert limits.memory_for(0) == 1 << 30
    assert limits.memory_for(10**9) == 2 << 30


def test_only_some_are_read_at_once() -> None:
    """However many callers there are: each may take a gigabyte."""
    held = [process._parallel_limit.acquire(blocking=False) for _ in range(64)]
    try:
        assert 2 <= sum(held) <= max(2, (os.cpu_count() or 2) // 2)
    finally:
        for _ in range(sum(held)):
            process._parallel_limit.release()
