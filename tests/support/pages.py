"""A document collection of a few pages, to drive a graph along its edges."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest


class FoundPage(NamedTuple):
    """As a search returns it."""

    document: str
    page: int
    text: str
    chunk: str
    score: float


class Listed(NamedTuple):
    """As a collection lists it."""

    name: str
    pages: int


class Shelf:
    """Finds the pages that hold a word of the query; the queries are kept."""

    def __init__(self, *pages: tuple[str, int, str]) -> None:
        self.pages = [FoundPage(name, page, text, text[:40], 1.0) for name, page, text in pages]
        self.queries: list[str] = []

    def documents(self) -> Sequence[Listed]:
        """One entry for each document."""
        names = dict.fromkeys(page.document for page in self.pages)
        return [Listed(name, sum(page.document == name for page in self.pages)) for name in names]

    def characters(self) -> int:
        """Length of the text of all pages."""
        return sum(len(page.text) for page in self.pages)

    def all_pages(self) -> list[tuple[str, int, str]]:
        """Document, number and text of each page."""
        return [(page.document, page.page, page.text) for page in self.pages]

    def search(self, query: str, *, k: int, mode: str) -> list[FoundPage]:
        """The first ``k`` pages that hold a word of ``query``."""
        self.queries.append(query)
        words = query.casefold().split()
        return [page for page in self.pages if any(w in page.text.casefold() for w in words)][:k]


_READERS = (
    *("shared.intake", "documents.documents", "documents.whole_collection", "assist.replies"),
)


def put_up(monkeypatch: pytest.MonkeyPatch, *pages: tuple[str, int, str]) -> Shelf:
    """Let every node that opens a collection get a shelf of these pages."""
    shelf = Shelf(*pages)
    for module in _READERS:
        monkeypatch.setattr(f"planweave.nodes.{module}.open_collection", lambda _: shelf)
    return shelf
