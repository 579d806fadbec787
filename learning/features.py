"""The features of a candidate for the plan assessor; all are known at run time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from planweave.learning.vectors import Embed, Floats

_DEPTH = 5
"""New pages of a ranking that count."""

_WORD = re.compile(r"\w+")
_BRACKETS = re.compile(r"\s*\(.*\)")
_MAX_TITLE_LENGTH = 100
_STOP_WORD_TEXT = """
a an and are as at be been but by did do does for from had has have he her his how in into is it
its of on or she that the their them they this to was were what when where which who whom whose
why will with
"""
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())


class RetrievedPage(NamedTuple):
    """A page that the retriever returns for a query."""

    title: str
    text: str


class CandidateQuery(NamedTuple):
    """A possible next query and the pages that it finds; the first five new pages count."""

    query: str
    hits: Sequence[RetrievedPage]


class Group(NamedTuple):
    """The candidates of one round."""

    question: str  # its question; all rounds of a question are on the same side of the split
    dataset: str  # data sets count alike, however many rounds they have (by the square root)
    inputs: Floats
    gains: Floats  # [candidates], reciprocal ranks


def words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, in lower case."""
    return frozenset(_WORD.findall(text.lower())) - _STOP_WORDS


def features(
    question: str, evidence: Sequence[str], candidates: Sequence[CandidateQuery], embed: Embed
) -> Floats:
    """The features of each candidate: [candidates, ``len(FEATURES)``], without NaN.

    ``evidence`` holds the passages found so far, oldest first, as ``title: text`` if there is a
    title. There is at least one candidate.
    """
    new_hits = [[hit for hit in c.hits if not _is_seen(hit, evidence)][:_DEPTH] for c in candidates]
    pages = (_page_text(hit) for hits in new_hits for hit in hits)
    queries = (candidate.query for candidate in candidates)
    texts = list(dict.fromkeys([question, *evidence, *queries, *pages]))
    state = _State(question, evidence, dict(zip(texts, embed(texts), strict=True)))
    rows = [_row(state, c, hits) for c, hits in zip(candidates, new_hits, strict=True)]
    return np.array([[row[name] for name in FEATURES] for row in rows], np.float32)


def _is_seen(hit: RetrievedPage, evidence: Sequence[str]) -> bool:
    return any(hit.text in passage for passage in evidence)


def _page_text(hit: RetrievedPage) -> str:
    return f"{hit.title}: {hit.text}" if hit.title else hit.text


@dataclass(frozen=True)
class _State:
    """The state of the search."""

    question: str
    evidence: Sequence[str]
    vectors: Mapping[str, Floats]

    @cached_property
    def asked(self) -> frozenset[str]:
        return words(self.question)

    @cached_property
    def known(self) -> frozenset[str]:
        return words(" ".join(self.evidence))

    @cached_property
    def lowered(self) -> str:
        return " ".join(self.evidence).lower()

    @cached_property
    def titles(self) -> list[str]:
        """Titles of the evidence, in lower case."""
        heads = (passage.partition(": ") for passage in self.evidence)
        plain = (
            _plain_title(head)
            for head, colon, _ in heads
            if colon and len(head) < _MAX_TITLE_LENGTH
        )
        return [title for title in plain if title]

    def near(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosines of a text with others."""
        return [float(self.vectors[text] @ self.vectors[other]) for other in others]


def _row(
    state: _State, candidate: CandidateQuery, new_hits: Sequence[RetrievedPage]
) -> dict[str, float]:
    is_seen = [_is_seen(hit, state.evidence) for hit in candidate.hits[:_DEPTH]]
    return {
        "hits": float(bool(new_hits)),
        "hits_seen": sum(is_seen) / len(is_seen) if is_seen else 0.0,
        "first_hit_seen": float(is_seen[:1] == [True]),
        "passages": len(state.evidence) / 10,
        **_meaning(state, candidate.query, [_page_text(hit) for hit in new_hits]),
        **_wording(state, candidate.query, [words(_page_text(hit)) for hit in new_hits]),
        **_naming(state, candidate.query.lower(), new_hits),
    }


def _meaning(state: _State, query: str, pages: Sequence[str]) -> dict[str, float]:
    """Cosines of question, evidence, query and new pages with each other."""
    to_query, to_question = state.near(query, pages), state.near(state.question, pages)
    to_evidence = state.near(query, state.evidence)
    nearness = [max(state.near(page, state.evidence), default=0.0) for page in pages]
    return {
        "question~query": state.near(query, [state.question])[0],
        "evidence~query": max(to_evidence, default=0.0),
        "last_passage~query": _at(to_evidence, -1),
        **{f"query~hit{n + 1}": _at(to_query, n) for n in range(3)},
        "query~hits": _mean(to_query),
        **{f"question~hit{n + 1}": _at(to_question, n) for n in range(3)},
        "question~best_hit": max(to_question, default=0.0),
        "question~hits": _mean(to_question),
        **{f"evidence~hit{n + 1}": _at(nearness, n) for n in range(2)},
    }


def _wording(state: _State, query: str, pages: Sequence[frozenset[str]]) -> dict[str, float]:
    """Shares of common words of two texts; "open" words are asked and not in the evidence."""
    own, asked, known = words(query), state.asked, state.known
    open_ = asked - known
    first, second = [*pages, frozenset[str](), frozenset[str]()][:2]
    found = {
        f"{what}_in_hit{n}": _share(part, page)
        for n, page in ((1, first), (2, second))
        for what, part in (("query", own), ("question", asked), ("open", open_))
    }
    return found | {
        "query_in_question": _share(own, asked),
        "question_in_query": _share(asked, own),
        "query_in_evidence": _share(own, known),
        "new_in_evidence": _share(own - asked, known),
        "open_in_query": _share(open_, own),
        "open_in_hits": _share(open_, first | second),
        "query_of_nowhere": float(bool(own - asked - known)),
        "query_words": min(len(own), 20) / 10,
        "question_words": min(len(asked), 30) / 20,
        "open_words": min(len(open_), 30) / 10,
    }


def _naming(state: _State, query: str, new_hits: Sequence[RetrievedPage]) -> dict[str, float]:
    """Whether one text contains the title of another: the links of a multi-hop question."""
    hits = [*new_hits, RetrievedPage("", ""), RetrievedPage("", "")][:2]
    found = {"evidence_title_in_query": float(_has_any(state.titles, query))}
    for n, hit in enumerate(hits, 1):
        title = [part for part in [_plain_title(hit.title)] if part]
        found |= {
            f"title{n}_in_question": float(_has_any(title, state.question.lower())),
            f"title{n}_in_evidence": float(_has_any(title, state.lowered)),
            f"title{n}_in_query": float(_has_any(title, query)),
            f"query_in_title{n}": float(_has_any([query], hit.title.lower())),
            f"evidence_title_in_hit{n}": float(_has_any(state.titles, hit.text.lower())),
        }
    return found


def _plain_title(title: str) -> str:
    return _BRACKETS.sub("", title).strip().lower()


def _has_any(parts: Sequence[str], text: str) -> bool:
    return any(part in text for part in parts)


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    """The share of ``part`` that is in ``whole``; 0 for an empty part."""
    return len(part & whole) / len(part) if part else 0.0


def _at(values: Sequence[float], place: int) -> float:
    return values[place] if -len(values) <= place < len(values) else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


FEATURES = tuple(_row(_State("", [], {"": np.zeros(1, np.float32)}), CandidateQuery("", []), []))
"""The names of the features, in the order of the columns."""
