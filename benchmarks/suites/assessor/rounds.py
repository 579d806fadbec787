"""Rounds of a multi-hop search for the plan assessor: evidence, candidates, gains.

Rules propose the candidates instead of a language model, so that a measurement can be repeated. No
rule uses the supporting paragraphs, and a candidate names only what the question or the evidence
names.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from planweave.benchmarks.suites.mhqa.multihop import Corpus, MultiHop, Paragraph
from planweave.learning import CandidateQuery, RetrievedPage, words
from planweave.learning.paths import read_paths

ROUNDS = 5
PER_ROUND = 2
"""Paragraphs that a round adds to the evidence."""
SHOWN = 15
"""Hits of a query that the assessor sees."""

_NAME = re.compile(
    r"[A-Z0-9][\w'\u2019&.-]*"
    r"(?: (?:(?:of|the|and|de|in|for|on|to|a|von|van|la) )*[A-Z0-9(][\w'\u2019&.()-]*)*"
)
_QUOTED = re.compile(r'["“]([^"”]{3,60})["”]')
_CAPITAL = re.compile(r"\b[A-Z0-9]\w+")
_BRACKETS = re.compile(r"\s*\(.*\)")
_CUT = re.compile(r",|;|\b(?:in which|of which|that|which|who|whose|whom|where|when|and|or|but)\b")
_SEARCH = re.compile(r"(?:search|retrieve)\[(.+)\]", re.IGNORECASE)
_OPENING_TEXT = """
what who whom whose which when where why how is are was were do does did in on at the a an of
for are both from by after before he she it they this his her its as with between
"""
_OPENING = frozenset(_OPENING_TEXT.split())  # words with a capital only at the start of a sentence
_FOCUS = 6  # plain words of a question that a query adds to a name


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """One choice among candidates.

    The gain of a candidate is the reciprocal rank of the first supporting paragraph among the
    paragraphs that are not yet evidence; 0 if there is none.
    """

    question: MultiHop
    number: int
    evidence: tuple[Paragraph, ...]
    candidates: Sequence[CandidateQuery]  # in the order of the proposer
    gains: Sequence[float]
    chosen: int = 0  # index of the chosen candidate

    @property
    def found(self) -> tuple[Paragraph, ...]:
        """The evidence including the paragraphs that the chosen candidate adds."""
        hits = (Paragraph(*hit) for hit in self.candidates[self.chosen].hits)
        return self.evidence + tuple(_not_in(hits, self.evidence)[:PER_ROUND])


class Lot(NamedTuple):
    """The random draws of a round."""

    place: int
    coin: float


Choose: TypeAlias = Callable[[Round, Lot], int]
"""Chooses a candidate of a round."""


def choose_by_lot(round_: Round, lot: Lot) -> int:  # noqa: ARG001
    """A random candidate, so that the states do not depend on any chooser."""
    return lot.place


def choose_best(round_: Round, lot: Lot) -> int:  # noqa: ARG001
    """The candidate that finds a missing paragraph at the best rank."""
    return int(np.argmax(round_.gains))


def find_names(text: str) -> list[str]:
    """The names in a text, quoted or written with capitals or numbers, in reading order."""
    found = dict.fromkeys(match.strip() for match in _QUOTED.findall(text))
    for match in _NAME.findall(text):
        parts = match.split(" ")
        while parts and parts[0].lower() in _OPENING:
            parts.pop(0)
        name = " ".join(parts).strip(" .,'\u2019-()")
        if len(name) > 2:
            found.setdefault(name)
    return list(found)


def propose_queries(
    question: MultiHop, evidence: Sequence[Paragraph], searches: Sequence[str] = ()
) -> list[str]:
    """Queries that a proposer could think of, in its likely order.

    First come the question, its names and its clauses; then, from the newest two paragraphs, the
    titles and names, alone and with the plain words of the question; last, the steps of the
    published solution that can be asked by now, unanswered ones first.

    ``searches`` are queries of a recorded run, which count as steps.
    """
    asked = question.question
    given = " ".join([asked, *(paragraph.page for paragraph in evidence)]).lower()
    steps = [
        query for query in [*searches, *_open_steps(question, given)] if _is_grounded(query, given)
    ]
    clauses = [clause for clause in _CUT.split(asked) if len(clause.split()) >= 3]
    own = [asked, *find_names(asked)[:5], *clauses, *_follow_ups(asked, evidence)]
    found = dict.fromkeys(query.strip(" ?.,") for query in own + steps)
    return [query for query in found if len(query) > 2]


def _open_steps(question: MultiHop, given: str) -> list[str]:
    """The sub-questions, unanswered ones first."""
    answers: dict[int, str] = {}
    open_: list[str] = []
    done: list[str] = []
    for number, step in enumerate(question.steps, 1):
        query = re.sub(r"#(\d+)", lambda match: answers.get(int(match[1]), match[0]), step.query)
        if step.answer.lower() in given:
            answers[number] = step.answer
            done.append(query)
        else:
            open_.append(query)
    return open_ + done


def _is_grounded(query: str, given: str) -> bool:
    """Whether the given text has all names of a query, so that it can be asked now."""
    return "#" not in query and all(
        name.lower() in given for name in _CAPITAL.findall(query) if name.lower() not in _OPENING
    )


def _follow_ups(asked: str, evidence: Sequence[Paragraph]) -> Iterator[str]:
    named = words(" ".join(find_names(asked)))
    plain = [word for word in re.findall(r"\w+", asked) if words(word) - named]
    focus = " ".join(plain[:_FOCUS])
    for paragraph in list(reversed(evidence))[:2]:
        title = _BRACKETS.sub("", paragraph.title)
        yield f"{title} {focus}"
        known = f"{asked} {title}".lower()
        new = [n for n in find_names(paragraph.text) if n.lower() not in known and not n.isdigit()]
        for name in new[:3]:
            yield name
            yield f"{name} {focus}"


def reciprocal_gain(question: MultiHop, fresh: Sequence[Paragraph]) -> float:
    """Reciprocal rank of the first supporting paragraph; 0 if there is none."""
    ranks = (rank for rank, found in enumerate(fresh, 1) if found in question.supporting)
    return 1 / next(ranks, np.inf)


def _not_in(found: Iterable[Paragraph], evidence: Sequence[Paragraph]) -> list[Paragraph]:
    return [paragraph for paragraph in found if paragraph not in evidence]


@dataclass(eq=False)
class _Search:
    """The state of the search for one question."""

    question: MultiHop
    random: np.random.Generator
    evidence: tuple[Paragraph, ...] = ()

    def pool(self, most: int, searches: Sequence[str], others: Sequence[str]) -> list[str]:
        """The proposer's first query, and a random draw of the others."""
        first, *further = propose_queries(self.question, self.evidence, searches)
        further += [query for query in others if query not in (first, *further)]
        drawn = self.random.choice(len(further), min(most - 1, len(further)), replace=False)
        return [first, *(further[number] for number in sorted(drawn.tolist()))]


def play_rounds(
    questions: Sequence[MultiHop],
    corpus: Corpus,
    *,
    seed: int,
    candidates: int = 5,
    choose: Choose = choose_by_lot,
    strangers: int = 0,
    searches: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Round]:
    """Search for the support of each question until it is found, at most ``ROUNDS`` rounds.

    Candidates also come from other questions (``strangers`` per round) and from recorded runs
    (``searches``, by question).
    """
    runs = [_Search(q, np.random.default_rng([seed, *q.id.encode()])) for q in questions]
    every = [[*find_names(question.question), question.question] for question in questions]
    for number in range(ROUNDS):
        pools = []
        for run in runs:
            drawn = [every[row] for row in run.random.choice(len(every), strangers)]
            others = [own[run.random.integers(len(own))] for own in drawn]
            known = (searches or {}).get(run.question.question, ())
            pools.append(run.pool(candidates, known, others))
        queries = list(dict.fromkeys(query for pool in pools for query in pool))
        ranked = dict(zip(queries, corpus.search(queries), strict=True))
        still = []
        for run, pool in zip(runs, pools, strict=True):
            open_ = _offer_round(run, number, {query: ranked[query] for query in pool})
            lot = Lot(int(run.random.integers(len(pool))), run.random.random())
            made = replace(open_, chosen=choose(open_, lot))
            yield made
            run.evidence = made.found
            if not set(run.question.supporting) <= set(run.evidence):
                still.append(run)
        runs = still


def _offer_round(run: _Search, number: int, ranked: Mapping[str, Sequence[Paragraph]]) -> Round:
    """Make the round that offers these queries with the paragraphs that they find."""
    return Round(
        question=run.question,
        number=number,
        evidence=run.evidence,
        candidates=[
            CandidateQuery(query, [RetrievedPage(*found) for found in ranking[:SHOWN]])
            for query, ranking in ranked.items()
        ],
        gains=[
            reciprocal_gain(run.question, _not_in(found, run.evidence)) for found in ranked.values()
        ],
    )


def recorded_searches(path: Path) -> dict[str, list[str]]:
    """The queries of recorded runs on training questions, by question."""
    found: dict[str, list[str]] = {}
    for run in read_paths(path, lambda record: str(record.get("split"))):
        if run.task == "train":
            searches = map(_SEARCH.fullmatch, run.instructions)
            found.setdefault(run.question, []).extend(match[1] for match in searches if match)
    return found
