"""The supporting paragraphs that one search with the question finds, without a model."""

from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import NamedTuple, get_args

from planweave.benchmarks.core.metrics import group_by, rate
from planweave.benchmarks.core.table import Rows, table_of_rows
from planweave.benchmarks.suites.mhqa.suite import HopsQuestion
from planweave.benchmarks.suites.mhqa.tables import Support, judge_support
from planweave.memory import SearchMode
from planweave.tools.documents.collection import open_collection

DEPTHS = (2, 5, 10)
"""Numbers of paragraphs that a search returns (RAG-k)."""

_MODES: tuple[SearchMode, ...] = get_args(SearchMode)


class SearchTrial(NamedTuple):
    """The result of one search for a question."""

    dataset: str
    hops: int
    mode: SearchMode
    k: int
    support: Support


def search(pools: Sequence[Sequence[HopsQuestion]]) -> Iterator[SearchTrial]:
    """Search for every question in every mode and depth, question by question."""
    for one in chain.from_iterable(pools):
        collection = open_collection(one.collection)
        for mode in _MODES:
            pages = collection.search(one.question.question, k=max(DEPTHS), mode=mode)
            places = [(page.document, page.page) for page in pages]
            for k in DEPTHS:
                judged = judge_support(one.supporting, places[:k])
                yield SearchTrial(one.dataset, one.question.hops, mode, k, judged)


@table_of_rows(
    "Supporting paragraphs found by one search with the question",
    "data set | hops | search | k | found | all of them found",
    note="The corpus is the pooled paragraphs of the data set's questions. In brackets: 95 % "
    "interval and number of questions. No figure here depends on a language model.",
)
def table(found: Sequence[SearchTrial]) -> Rows:
    """Recall by data set, and by hops if these differ within the data set."""
    for dataset, own in sorted(group_by(found, lambda one: one.dataset).items()):
        kinds = sorted({one.hops for one in own})
        for hops in ("all", *(kinds if len(kinds) > 1 else ())):
            some = [one for one in own if hops in ("all", one.hops)]
            for mode, k in product(_MODES, DEPTHS):
                supports = [one.support for one in some if (one.mode, one.k) == (mode, k)]
                recalls = rate([one.recall for one in supports])
                yield dataset, hops, mode, k, recalls, rate([one.whole for one in supports])
