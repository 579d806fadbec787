"""The process that parses documents: bounded, replaced when it fails, and gone at the end."""

import os
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from documents import WordTokens, write_pdf

from planweave.tools.documents import process, worker
from planweave.tools.documents.pages import DocumentLimits, PageText, Unreadable, read
from planweave.tools.documents.process import Cutting, Parser, read_in_process

CUTTING = Cutting(WordTokens().path, 5, 1)
ENDLESS = b"<a" * 300_000
"""HTML for whose reading the standard library takes the square of its length."""


def endless(folder: Path) -> Path:
    path = folder / "endless.html"
    path.write_bytes(ENDLESS)
    return path


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


def test_chunks_are_cut_as_asked(tmp_path: Path) -> None:
    with Parser() as parser:
        parsed = parser.read(note(tmp_path), DocumentLimits(), CUTTING)
    assert parsed.chunks == [(1, "One two three four.", ""), (1, ". Five six seven.", "")]


def test_without_a_tokenizer_there_are_pages_alone(tmp_path: Path) -> None:
    assert read_in_process(note(tmp_path, "text"), DocumentLimits()).pages == [PageText(1, "text")]


def test_what_takes_too_long_is_ended_and_the_next_is_read(tmp_path: Path) -> None:
    limits = DocumentLimits(seconds=1)
    with Parser() as parser:
        with pytest.raises(
            Unreadable, match=r"^endless\.html takes more than 3 s of processor time to read\."
        ):
            parser.read(endless(tmp_path), limits)
        assert parser.read(note(tmp_path), DocumentLimits()).document.pages


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
def test_what_takes_too_much_memory_is_ended_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_bytes(b"a\n" * 4_000_000)
    with Parser() as parser:
        with pytest.raises(Unreadable, match=r"^rows\.txt made its reader fail, or takes"):
            parser.read(path, DocumentLimits(memory=60 << 20, pages=10**9))
        assert parser.read(note(tmp_path), DocumentLimits()).document.pages


def test_what_cannot_be_read_says_why_and_leaves_the_process(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_text("no PDF")
    with Parser() as parser:
        parser.read(note(tmp_path), DocumentLimits())
        first = parser._process
        with pytest.raises(Unreadable, match=r"^broken\.pdf is damaged or is no PDF\."):
            parser.read(broken, DocumentLimits())
        with pytest.raises(Unreadable, match=r"is of no kind that can be read"):
            parser.read(tmp_path / "a.xlsx", DocumentLimits())
        parser.read(note(tmp_path), DocumentLimits())
        assert parser._process is first


def test_the_process_ends_with_the_work(tmp_path: Path) -> None:
    with Parser() as parser:
        parser.read(note(tmp_path), DocumentLimits())
        assert parser._process is not None
        number = parser._process._process.pid
        os.kill(number, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_what_is_not_read_needs_no_process() -> None:
    with Parser() as parser:
        assert parser._process is None


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
