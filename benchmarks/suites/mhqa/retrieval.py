"""How many supporting paragraphs one search by the question itself finds: no language model."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from planweave.benchmarks.core.metrics import rate
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.mhqa.suite import Asked
from planweave.benchmarks.suites.mhqa.tables import Support, support
from planweave.memory import SearchMode
from planweave.tools.documents.collection import open_collection

DEPTHS = (2, 5, 10)
"""How many paragraphs a search returns (RAG-k)."""

_MODES: tuple[SearchMode, ...] = get_args(SearchMode)


class Searched(NamedTuple):
    """What a search for a question found."""

    dataset: str
    hops: int
    mode: SearchMode
    k: int
    support: Support


def search(pools: Sequence[Sequence[Asked]]) -> Iterator[Searched]:
    """Search for every question by itself, in every mode and depth, question by question."""
    for one in (one for pool in pools for one in pool):
        collection = open_collection(one.collection)
        for mode in _MODES:
            pages = collection.search(one.question.question, k=max(DEPTHS), mode=mode)
            places = [(page.document, page.page) for page in pages]
            for k in DEPTHS:
                judged = support(one.supporting, places[:k])
                yield Searched(one.dataset, one.question.hops, mode, k, judged)


class _Part(NamedTuple):
    """A row of the table, in the order of the rows; 0 hops are all questions."""

    dataset: str
    hops: int
    mode: int
    k: int


def table(found: Sequence[Searched]) -> Table:
    """Recall by data set, and by hops where the questions of a data set differ in them."""
    kinds: dict[str, set[int]] = {}
    parts: dict[_Part, list[Support]] = {}
    for one in found:
        kinds.setdefault(one.dataset, set()).add(one.hops)
        for hops in (0, one.hops):
            part = _Part(one.dataset, hops, _MODES.index(one.mode), one.k)
            parts.setdefault(part, []).append(one.support)
    return Table(
        title="Supporting paragraphs found by one search with the question",
        columns=("data set", "hops", "search", "k", "found", "all of them found"),
        rows=[
            (
                part.dataset,
                part.hops or "all",
                _MODES[part.mode],
                part.k,
                rate([one.recall for one in supports]),
                rate([one.whole for one in supports]),
            )
            for part, supports in sorted(parts.items())
            if not part.hops or len(kinds[part.dataset]) > 1
        ],
        note="The corpus is the pooled paragraphs of the data set's questions. In brackets: 95 % "
        "interval and number of questions. No figure here depends on a language model.",
    )
