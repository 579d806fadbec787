"""The paragraphs of a data set as a document collection, made once.

A title is a document and its paragraphs are its pages, so that methods see the titles, and a page
that was found can be traced to its paragraph.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from planweave.benchmarks.suites.mhqa.multihop import MultiHop, Paragraph
from planweave.texts import digest
from planweave.tools.documents.collection import OnEmbedded, open_collection

Place = tuple[str, int]
"""Title, and the number of the paragraph among those of that title, from 1."""


class ParagraphCollection(NamedTuple):
    """What the questions of a data set are asked on."""

    collection: str
    places: Mapping[Paragraph, Place]

    def supporting(self, question: MultiHop) -> list[Place]:
        """Where the paragraphs are that the answer to a question rests on."""
        return [self.places[paragraph] for paragraph in question.supporting]


def collect(
    dataset: str,
    questions: Iterable[MultiHop],
    *,
    embeddings: str = "minilm",
    progress: OnEmbedded | None = None,
) -> ParagraphCollection:
    """Make the collection of the questions' paragraphs, or find that it is there.

    Its name holds a digest of what is in it, so that other paragraphs make another collection and
    a run that was stopped goes on where it was.

    ``questions`` are all of the data set: the paragraphs of the others are what distracts.
    Without ``embeddings`` (``none``) the search is by words alone.
    """
    placed = places(questions)
    titles: dict[str, list[str]] = {}
    for paragraph in placed:
        titles.setdefault(paragraph.title, []).append(paragraph.page)
    name = f"bench/mhqa-{dataset}-{digest(json.dumps([embeddings, titles]), 12)}"
    open_collection(name, embeddings=embeddings, create=True).add_texts(titles, progress=progress)
    return ParagraphCollection(name, placed)


def places(questions: Iterable[MultiHop]) -> dict[Paragraph, Place]:
    """Where each paragraph of the questions is in their collection."""
    found: dict[Paragraph, Place] = {}
    pages: Counter[str] = Counter()
    for paragraph in dict.fromkeys(p for question in questions for p in question.paragraphs):
        pages[paragraph.title] += 1
        found[paragraph] = (paragraph.title, pages[paragraph.title])
    return found
