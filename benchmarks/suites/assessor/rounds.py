"""Rounds of a multi-hop search as the plan assessor meets them: evidence, candidates, gains.

Candidates come from rules in place of a language model, so that a measurement needs none
and can be repeated. No rule looks at the supporting paragraphs, and no candidate names what
neither the question nor the evidence names.
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
"""Hits of a query that the assessor is shown."""

_NAME = re.compile(
    r"[A-Z0-9][\w'\u2019&.-]*"
    r"(?: (?:(?:of|the|and|de|in|for|on|to|a|von|van|la) )*[A-Z0-9(][\w'\u2019&.()-]*)*"
)
_QUOTED = re.compile(r'["“]([^"”]{3,60})["”]')
_CAPITAL = re.compile(r"\b[A-Z0-9]\w+")
_BRACKETS = re.compile(r"\s*\(.*\)")
_CUT = re.compile(r",|;|\b(?:in which|of which|that|which|who|whose|whom|where|when|and|or|but)\b")
_SEARCH = re.compile(r"(?:search|retrieve)\[(.+)\]", re.IGNORECASE)
_OPENING_WORDS = """
what who whom whose which when where why how is are was were do does did in on at the a an of
for are both from by after before he she it they this his her its as with between
"""
_OPENERS = frozenset(_OPENING_WORDS.split())  # have a capital for standing first
_FOCUS = 6  # plain words of a question that follow a name in a query


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """One choice among candidates.

    The gain of a candidate is the reciprocal rank of the first supporting paragraph that is not yet
    evidence, among the paragraphs that are not; 0 where there is none.
    """

    question: MultiHop
    number: int
    evidence: tuple[Paragraph, ...]
    candidates: Sequence[CandidateQuery]  # in the order of the proposer
    gains: Sequence[float]
    chosen: int = 0  # place of the candidate that is carried out

    @property
    def found(self) -> tuple[Paragraph, ...]:
        """The evidence with what the chosen candidate adds to it."""
        hits = (Paragraph(*hit) for hit in self.candidates[self.chosen].hits)
        return self.evidence + tuple(_fresh(hits, self.evidence)[:PER_ROUND])


class Lot(NamedTuple):
    """What is drawn in a round."""

    place: int
    coin: float


Choose: TypeAlias = Callable[[Round, Lot], int]
"""Which candidate of a round is carried out."""


def by_lot(round_: Round, lot: Lot) -> int:  # noqa: ARG001
    """Any candidate, so that the states that come up are no chooser's own."""
    return lot.place


def by_truth(round_: Round, lot: Lot) -> int:  # noqa: ARG001
    """The candidate that finds what is missing at the best rank."""
    return int(np.argmax(round_.gains))


def names(text: str) -> list[str]:
    """What a text names: quoted, or written with capitals or numbers; in reading order."""
    found = dict.fromkeys(match.strip() for match in _QUOTED.findall(text))
    for match in _NAME.findall(text):
        parts = match.split(" ")
        while parts and parts[0].lower() in _OPENERS:
            parts.pop(0)
        name = " ".join(parts).strip(" .,'\u2019-()")
        if len(name) > 2:
            found.setdefault(name)
    return list(found)


def proposals(
    question: MultiHop, evidence: Sequence[Paragraph], searches: Sequence[str] = ()
) -> list[str]:
    """Queries that a proposer could think of, in the order in which it would.

    The question as it is, the names in it, its clauses; then, the newest two paragraphs
    first, their title and the names in them, alone and with the plain words of the question; last
    the steps of the published way that can be asked by now, those not yet answered first.

    ``searches`` is what a recorded run searched for: steps, too.
    """
    asked = question.question
    given = " ".join([asked, *(paragraph.page for paragraph in evidence)]).lower()
    steps = [query for query in [*searches, *_steps(question, given)] if _grounded(query, given)]
    clauses = [clause for clause in _CUT.split(asked) if len(clause.split()) >= 3]
    own = [asked, *names(asked)[:5], *clauses, *_follow_ups(asked, evidence)]
    found = dict.fromkeys(query.strip(" ?.,") for query in own + steps)
    return [query for query in found if len(query) > 2]


def _steps(question: MultiHop, given: str) -> list[str]:
    """The sub-questions, those first whose answer is not given yet."""
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


def _grounded(query: str, given: str) -> bool:
    """Whether all that a query names is given, so that it could be asked now."""
    return "#" not in query and all(
        name.lower() in given for name in _CAPITAL.findall(query) if name.lower() not in _OPENERS
    )


def _follow_ups(asked: str, evidence: Sequence[Paragraph]) -> Iterator[str]:
    named = words(" ".join(names(asked)))
    plain = [word for word in re.findall(r"\w+", asked) if words(word) - named]
    focus = " ".join(plain[:_FOCUS])
    for paragraph in list(reversed(evidence))[:2]:
        title = _BRACKETS.sub("", paragraph.title)
        yield f"{title} {focus}"
        known = f"{asked} {title}".lower()
        new = [n for n in names(paragraph.text) if n.lower() not in known and not n.isdigit()]
        for name in new[:3]:
            yield name
            yield f"{name} {focus}"


def gain(question: MultiHop, fresh: Sequence[Paragraph]) -> float:
    """Reciprocal rank of the first supporting paragraph; 0 if there is none."""
    ranks = (rank for rank, found in enumerate(fresh, 1) if found in question.supporting)
    return 1 / next(ranks, np.inf)


def _fresh(found: Iterable[Paragraph], evidence: Sequence[Paragraph]) -> list[Paragraph]:
    return [paragraph for paragraph in found if paragraph not in evidence]


@dataclass(eq=False)
class _Search:
    """A question on its way."""

    question: MultiHop
    random: np.random.Generator
    evidence: tuple[Paragraph, ...] = ()

    def pool(self, most: int, searches: Sequence[str], others: Sequence[str]) -> list[str]:
        """The proposer's first query, and others drawn from its further ones."""
        first, *further = proposals(self.question, self.evidence, searches)
        further += [query for query in others if query not in (first, *further)]
        drawn = self.random.choice(len(further), min(most - 1, len(further)), replace=False)
        return [first, *(further[number] for number in sorted(drawn.tolist()))]


def rounds(
    questions: Sequence[MultiHop],
    corpus: Corpus,
    *,
    seed: int,
    candidates: int = 5,
    choose: Choose = by_lot,
    strangers: int = 0,
    searches: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Round]:
    """Search for the support of each question until it is found, at most ``ROUNDS`` rounds.

    Candidates are drawn from queries of other questions (``strangers``), too, and from what
    recorded runs searched for (``searches``, by question).
    """
    runs = [_Search(q, np.random.default_rng([seed, *q.id.encode()])) for q in questions]
    every = [[*names(question.question), question.question] for question in questions]
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
            open_ = _offered(run, number, {query: ranked[query] for query in pool})
            lot = Lot(int(run.random.integers(len(pool))), run.random.random())
            made = replace(open_, chosen=choose(open_, lot))
            yield made
            run.evidence = made.found
            if not set(run.question.supporting) <= set(run.evidence):
                still.append(run)
        runs = still


def _offered(run: _Search, number: int, ranked: Mapping[str, Sequence[Paragraph]]) -> Round:
    """The round in which a choice is to be made among queries, by what each of them finds."""
    return Round(
        question=run.question,
        number=number,
        evidence=run.evidence,
        candidates=[
            CandidateQuery(query, [RetrievedPage(*found) for found in ranking[:SHOWN]])
            for query, ranking in ranked.items()
        ],
        gains=[gain(run.question, _fresh(found, run.evidence)) for found in ranked.values()],
    )


def recorded_searches(path: Path) -> dict[str, list[str]]:
    """What recorded runs on training questions searched for, by question."""
    found: dict[str, list[str]] = {}
    for run in read_paths(path, lambda record: str(record.get("split"))):
        if run.task == "train":
            searches = map(_SEARCH.fullmatch, run.instructions)
            found.setdefault(run.question, []).extend(match[1] for match in searches if match)
    return found
