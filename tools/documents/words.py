"""Search by words: BM25 over texts in any script."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from planweave.tools.documents.vectors import IndexHit

if TYPE_CHECKING:
    import bm25s

# Scripts without blanks between words: Thai to Burmese, Khmer, kana, Chinese characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,]\d+)+)|(?P<unspaced>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}_])[\w{_MARKS}])+"
)
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")


def words(text: str) -> list[str]:
    """The normalised words and numbers of a text, including stop words.

    Words are in lower case and NFKC (CO₂ is co2), numbers without thousands separators. In a script
    without blanks, every character and every pair of neighbours is a word.
    """
    return list(_split_words(unicodedata.normalize("NFKC", text).casefold()))


def _split_words(text: str) -> Iterator[str]:
    for token in _TOKEN.finditer(text):
        found = token.group()
        match token.lastgroup:
            case "number":
                yield _THOUSANDS.sub("", found)
            case "unspaced":
                yield from found
                yield from map("".join, pairwise(found))
            case _:
                yield found


class WordIndex:
    """BM25 in Lucene's variant (k1 1.5, b 0.75), without English stop words."""

    def __init__(self, index: "bm25s.BM25") -> None:
        self._index = index

    @classmethod
    def build(cls, texts: Sequence[str]) -> "WordIndex":
        """Index ``texts``; their positions are their numbers."""
        import bm25s

        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        # The library fails if no text has a word, so such a text gets an empty word.
        vocabulary = {"": 0}
        tokens = [
            [vocabulary.setdefault(word, len(vocabulary)) for word in _indexed_words(text) or [""]]
            for text in texts or [""]
        ]
        index.index((tokens, vocabulary), show_progress=False)
        return cls(index)

    def search(self, query: str, k: int) -> list[IndexHit]:
        """The ``k`` best texts, of those that share a word with the query, best first."""
        scores = self._index.get_scores_from_ids(self._index.get_tokens_ids(_indexed_words(query)))
        found = np.flatnonzero(scores)
        if len(found) > k:  # a common word is in most texts: sort only the best
            found = found[scores[found] >= np.partition(scores[found], -k)[-k]]
        best = found[np.argsort(-scores[found], kind="stable")[:k]]
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))

    def save(self, path: Path) -> None:
        """Write the index into the folder ``path``.

        Raises:
            OSError: It cannot be written.
        """
        self._index.save(path, show_progress=False)

    @classmethod
    def load(cls, path: Path) -> "WordIndex":
        """Read what :meth:`save` wrote; damaged files raise any error of the library."""
        import bm25s

        return cls(bm25s.BM25.load(path, show_progress=False))


def _indexed_words(text: str) -> list[str]:
    stop_words = _stop_words()
    return [word for word in words(text) if word not in stop_words]


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN)
