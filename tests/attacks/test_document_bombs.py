"""Documents that cost a naive reader minutes or gigabytes: each ends, and others go on."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from document_bombs import BOMBS
from documents import WordTokens

from planweave.tools.documents import pages, process
from planweave.tools.documents.pages import DocumentLimits, Unreadable
from planweave.tools.documents.process import Cutting, Parser
from planweave.tools.process import HelperProcess

pytestmark = pytest.mark.slow

FULL = os.environ.get("PLANWEAVE_ATTACK") == "full"
LONGEST = 1_000_000  # characters of text in an answer, before those of its last page


@pytest.mark.parametrize("name", BOMBS if FULL else [*BOMBS][::18])
def test_it_ends(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read or refused, and the next document is read.

    This process parses nothing and gets the text in short answers, so that its threads go on.
    """
    path, note, limits = tmp_path / name, tmp_path / "note.txt", DocumentLimits()
    path.write_bytes(BOMBS[name]())
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
