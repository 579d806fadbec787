"""How many supporting paragraphs one search by the question itself finds: no language model."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple, get_args

from planweave.benchmarks.core.metrics import group_by, rate
from planweave.benchmarks.core.table import Rows, table_of_rows
from planweave.benchmarks.suites.mhqa.suite import HopsQuestion
from planweave.benchmarks.suites.mhqa.tables import Support, support
from planweave.memory import SearchMode
from planweave.tools.documents.collection import open_collection

DEPTHS = (2, 5, 10)
"""How many paragraphs a search returns (RAG-k)."""

_MODES: tuple[SearchMode, ...] = get_args(SearchMode)


class SearchTrial(NamedTuple):
    """What a search for a question found."""

    dataset: str
    hops: int
    mode: SearchMode
    k: int
    support: Support


def search(pools: Sequence[Sequence[HopsQuestion]]) -> Iterator[SearchTrial]:
    """Search for every question by itself, in every mode and depth, question by question."""
    for one in (one for pool in pools for one in pool):
        collection = open_collection(one.collection)
        for mode in _MODES:
            pages = collection.search(one.question.question, k=max(DEPTHS), mode=mode)
            places = [(page.document, page.page) for page in pages]
            for k in DEPTHS:
                judged = support(one.supporting, places[:k])
                yield SearchTrial(one.dataset, one.question.hops, mode, k, judged)


@table_of_rows(
    "Supporting paragraphs found by one search with the question",
    "data set | hops | search | k | found | all of them found",
    note="The corpus is the pooled paragraphs of the data set's questions. In brackets: 95 % "
    "interval and number of questions. No figure here depends on a language model.",
)
def table(found: Sequence[SearchTrial]) -> Rows:
    """Recall by data set, and by hops where the questions of a data set differ in them."""
    for dataset, own in sorted(group_by(found, lambda one: one.dataset).items()):
        kinds = sorted({one.hops for one in own})
        for hops in ("all", *(kinds if len(kinds) > 1 else ())):
            some = [one for one in own if hops in ("all", one.hops)]
            for mode, k in product(_MODES, DEPTHS):
                supports = [one.support for one in some if (one.mode, one.k) == (mode, k)]
                recalls = rate([support.recall for support in supports])
                yield dataset, hops, mode, k, recalls, rate([one.whole for one in supports])
