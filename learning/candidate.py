"""What the plan assessor is asked about, and what it learns from."""

from collections.abc import Sequence
from typing import NamedTuple

from planweave.learning.vectors import Floats


class Hit(NamedTuple):
    """A page that the retriever returns for a query."""

    title: str
    text: str


class Candidate(NamedTuple):
    """A query that could be searched next.

    Attributes:
        hits: What the retriever returns for it now, best first, with the pages that are evidence
            already; empty if it finds nothing. The first five that are new are looked at.
    """

    query: str
    hits: Sequence[Hit]


class Group(NamedTuple):
    """The candidates of one round.

    Attributes:
        question: Which question it belongs to; all its rounds fall on the same side of the split.
        dataset: Data sets count alike, however many rounds they have (by the square root).
        gains: [candidates], reciprocal ranks.
    """

    question: str
    dataset: str
    inputs: Floats
    gains: Floats
