"""Chunks: the passages of a page that a search compares."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planweave.tools.documents.tables import names_above

if TYPE_CHECKING:
    from planweave.models.embeddings import TextTokens

Spans = Callable[[str], Sequence[tuple[int, int]]]
"""Finds the tokens of a text: begin and end of each, in characters."""

_SENTENCE_END = re.compile(r"[.!?\u2026]['\")\]\u201d\u2019]*\s+|[\u3002\uff01\uff1f]|\n\s*\n")
_LINE_END = re.compile(r"\n")
_BLANK = re.compile(r"\s+")
_ROW = re.compile(r"^.* \| .*$|^\|.*$", re.MULTILINE)


def tokenizer() -> "TextTokens":
    """The tokenizer of the offline embedding model, loaded when it is first needed."""
    from planweave.models.embeddings import tokenizer as load

    return load()


def chunk(text: str, *, size: int = 100, overlap: int = 0, spans: Spans | None = None) -> list[str]:
    """Cut a page into successive chunks of at most ``size`` tokens.

    A chunk ends at the end of a sentence, or else of a line or a word, unless it would be less than
    half full. A row of a table (cells separated by ``|``) is never cut, however long it is. The
    last ``overlap`` tokens of a chunk also begin the next one. ``spans`` finds the tokens; by
    default those of the offline embedding model.

    Returns:
        Unchanged passages of ``text``, without surrounding blanks.
    """
    overlap = min(overlap, size - 1)
    tokens = (spans or tokenizer().spans)(text)
    starts = [begin for begin, _ in tokens]
    cuts = _Cuts(text)
    chunks: list[str] = []
    first = 0
    while first < len(tokens):
        end = cuts.end(starts, first, size)
        after = bisect_right(starts, end - 1) if end < len(text) else len(tokens)
        chunks.append(text[starts[first] : end].strip())
        if after >= len(tokens):
            break
        next_first = cuts.move_out_of_row(starts, after - overlap)
        first = next_first if next_first > first else after
    return [piece for piece in chunks if piece]


class PageChunk(NamedTuple):
    """A chunk of a page.

    Attributes:
        above: The heading and column names of the table in which it begins; empty outside.
    """

    page: int
    text: str
    above: str

    @property
    def searched(self) -> str:
        """The text for embedding and indexing."""
        return f"{self.above}\n{self.text}" if self.above else self.text


def chunk_page(
    page: int, text: str, *, size: int = 100, overlap: int = 0, spans: Spans | None = None
) -> list[PageChunk]:
    """Cut a page into chunks (:func:`chunk`), each with the names of the rows at its beginning."""
    found: list[PageChunk] = []
    begin = -1
    for passage in chunk(text, size=size, overlap=overlap, spans=spans):
        begin = text.index(passage, begin + 1)
        found.append(PageChunk(page, passage, names_above(text, begin)))
    return found


class _Cuts:
    """The places where a text may be cut."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._places = [
            [match.end() for match in pattern.finditer(text)]
            for pattern in (_SENTENCE_END, _LINE_END, _BLANK)
        ]
        self._rows = [match.span() for match in _ROW.finditer(text)]
        self._row_starts = [begin for begin, _ in self._rows]

    def end(self, starts: Sequence[int], first: int, size: int) -> int:
        """The end, in characters, of the chunk that begins with token ``first``."""
        if first + size >= len(starts):
            return self._length
        begin, limit = starts[first], starts[first + size]
        half = starts[first + size // 2]
        if row := self._row_at(limit):
            return row[0] if row[0] > begin else row[1]
        for places in self._places:
            place = bisect_right(places, limit)
            if place and places[place - 1] > half and not self._row_at(places[place - 1]):
                return places[place - 1]
        return limit

    def move_out_of_row(self, starts: Sequence[int], token: int) -> int:
        """The first token of the row around ``token``; outside rows, ``token`` itself."""
        row = self._row_at(starts[token])
        return bisect_right(starts, row[0] - 1) if row else token

    def _row_at(self, place: int) -> tuple[int, int] | None:
        """The row that a cut at ``place`` would break."""
        at = bisect_right(self._row_starts, place) - 1
        if at >= 0 and self._rows[at][0] < place < self._rows[at][1]:
            return self._rows[at]
        return None
