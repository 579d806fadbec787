"""The paragraphs of a data set as a document collection.

A title is a document and its paragraphs are the pages. Methods thus see the titles, and each page
found is traced to its paragraph.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from planweave.benchmarks.suites.mhqa.multihop import MultiHop, Paragraph
from planweave.texts import digest
from planweave.tools.documents.collection import OnEmbedded, open_collection

Place = tuple[str, int]
"""Title, and number of the paragraph under that title, from 1."""


class ParagraphCollection(NamedTuple):
    """The collection that the questions of a data set are asked on."""

    collection: str
    places: Mapping[Paragraph, Place]

    def supporting(self, question: MultiHop) -> list[Place]:
        """Places of the paragraphs that support the answer to a question."""
        return [self.places[paragraph] for paragraph in question.supporting]


def collect_paragraphs(
    dataset: str,
    questions: Iterable[MultiHop],
    *,
    embeddings: str = "minilm",
    progress: OnEmbedded | None = None,
) -> ParagraphCollection:
    """Make the collection of the questions' paragraphs, unless it exists.

    Its name contains a digest of its content, so that other paragraphs make another collection and
    an interrupted run can continue. ``questions`` are all of the data set, since the paragraphs of
    the other questions distract. If ``embeddings`` is ``none``, the search is by words only.
    """
    placed = place_paragraphs(questions)
    titles: dict[str, list[str]] = {}
    for paragraph in placed:
        titles.setdefault(paragraph.title, []).append(paragraph.page)
    name = f"bench/mhqa-{dataset}-{digest(json.dumps([embeddings, titles]), 12)}"
    open_collection(name, embeddings=embeddings, create=True).add_texts(titles, progress=progress)
    return ParagraphCollection(name, placed)


def place_paragraphs(questions: Iterable[MultiHop]) -> dict[Paragraph, Place]:
    """Assign each distinct paragraph of the questions its place in the collection."""
    found: dict[Paragraph, Place] = {}
    pages: Counter[str] = Counter()
    for paragraph in dict.fromkeys(p for question in questions for p in question.paragraphs):
        pages[paragraph.title] += 1
        found[paragraph] = (paragraph.title, pages[paragraph.title])
    return found
