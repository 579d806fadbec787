"""Generated questions as numbers: what is known of every candidate, and what choosing it brings.

All questions come from a scenario's generator, and the simulator alone says what is right: nothing
of a published data set can get in here.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planweave import BadInput
from planweave.learning.queries.attributes import Attributes, Slot
from planweave.learning.queries.formulas import FormulaColumn
from planweave.learning.queries.rankings import LearnedRanking
from planweave.learning.queries.slots import find_named
from planweave.simulators.outcome import Semantics
from planweave.simulators.scenario import Question, Scenario

Rows: TypeAlias = NDArray[np.intp]


class Origin(NamedTuple):
    """Where a generated question comes from: enough to make it again."""

    scenario: str
    seed: int
    size: int
    semantics: str

    def __str__(self) -> str:
        """As it is written into the experience."""
        return (
            f"generated: {self.scenario}, seed {self.seed}, size {self.size}, "
            f"{self.semantics} semantics"
        )


@dataclass(frozen=True, kw_only=True)
class Worlds:
    """Which questions are generated."""

    scenario: Scenario
    semantics: Semantics = "annotation"  # by which the simulator says what is right
    smallest: int = 150  # rows
    largest: int = 1200

    def questions(self, seeds: Iterable[int]) -> Iterator[tuple[Origin, Question]]:
        """One question for each seed; the size of its world is drawn by the seed too."""
        for seed in seeds:
            spread = self.largest / self.smallest
            drawn = random.Random(f"size {seed}").random()  # noqa: S311 - worlds, not secrets
            size = round(self.smallest * spread**drawn)
            asked = self.scenario.ask(self.scenario.generate(seed, size), seed)
            yield Origin(self.scenario.name, seed, size, self.semantics), asked


def attributes_of(questions: Sequence[Question]) -> Attributes:
    """What can be known of the candidates of questions like these.

    The candidates are the nodes whose keys they are; a slot is a text column without repetitions of
    which every question names one value.
    """
    scenario = questions[0].scenario
    labels = [
        node.label
        for node in scenario.graph.nodes
        if all(set(q.candidates) <= set(q.world[node.table].values(node.key)) for q in questions)
    ]
    if not labels:
        raise BadInput(f"The candidates of {scenario.name} are the keys of no node label.")
    tables = {table.name: table for table in scenario.tables}
    slots = [
        slot
        for node in scenario.graph.nodes
        for column in tables[node.table].columns
        if column.type == "text"
        and all(
            _find_named_value(q, slot := Slot(node.label, column.name)) is not None
            for q in questions
        )
    ]
    key = scenario.graph.node(labels[0]).key
    excluded = [
        slot
        for slot in slots
        if (slot.label, slot.column) == (labels[0], key)
        and all(_find_named_value(q, slot) not in q.candidates for q in questions)
    ]
    return Attributes(scenario, labels[0], slots, excluded[0] if excluded else None)


def _find_named_value(question: Question, slot: Slot) -> str | None:
    """What of that column the question names, if its values are all different."""
    table = question.world[question.scenario.graph.node(slot.label).table]
    values = [str(value) for value in table.values(slot.column)]
    return find_named(question.prompt, values) if len(set(values)) == len(values) else None


def _named_value(question: Question, slot: Slot) -> str:
    if (value := _find_named_value(question, slot)) is None:
        raise BadInput(f"{question.id} names no single {slot.column}, as the first questions do.")
    return value


@dataclass(frozen=True, eq=False)
class Questions:
    """The candidates of many questions, below each other."""

    columns: Mapping[str, FormulaColumn]  # every attribute of every candidate [rows]
    starts: Rows  # the first row of each question [questions]
    right: NDArray[np.bool_]  # whether each candidate is a best decision [rows]
    gain: FormulaColumn  # the part of the attainable gain that each candidate brings, 0 to 1 [rows]

    @classmethod
    def of(
        cls, questions: Iterable[Question], attributes: Attributes, semantics: Semantics
    ) -> "Questions":
        """Put every candidate of every question before the simulator."""
        every = [_simulate(question, attributes, semantics) for question in questions]
        return cls(
            {
                name: np.concatenate([one.columns[name] for one in every])
                for name in every[0].columns
            },
            np.cumsum([0, *(len(one.right) for one in every[:-1])]),
            np.concatenate([one.right for one in every]),
            np.concatenate([one.gain for one in every]),
        )

    def __len__(self) -> int:
        """How many questions."""
        return len(self.starts)

    def chosen(self, numbers: Sequence[int]) -> "Questions":
        """The questions of these numbers, in this order."""
        ends = [*self.starts.tolist(), len(self.right)]
        rows = np.concatenate([np.arange(ends[n], ends[n + 1]) for n in numbers])
        sizes = [ends[n + 1] - ends[n] for n in numbers]
        return self._select_rows(rows, np.cumsum([0, *sizes[:-1]]))

    def within(self, preferred: Sequence[str]) -> "Questions":
        """Without the candidates that a ranking with these preferences would never choose."""
        rows = np.flatnonzero(self._eligible(preferred))
        return self._select_rows(rows, np.searchsorted(rows, self.starts).astype(np.intp))

    def telling(self) -> list[str]:
        """The attributes that differ between rows, each content once."""
        contents: dict[bytes, str] = {}
        for name, column in self.columns.items():
            if np.ptp(column) > 0:
                contents.setdefault(np.round(column, 9).tobytes(), name)
        return list(contents.values())

    def gains(self) -> tuple[float, float]:
        """The part of the attainable gain of a choice by lot, and of the best choice there is."""
        sizes = np.diff([*self.starts, len(self.right)])
        by_lot = np.add.reduceat(self.gain, self.starts) / sizes
        return float(by_lot.mean()), float(np.maximum.reduceat(self.gain, self.starts).mean())

    def share(self, ranking: LearnedRanking) -> float:
        """The share of the questions that a ranking decides rightly."""
        return float(self.right[self.decide(ranking)].mean())

    def decide(self, ranking: LearnedRanking) -> Rows:
        """The row that a ranking puts first, for each question; of equal ones the earliest."""
        return self.first(self.scores(ranking))

    def scores(self, ranking: LearnedRanking) -> FormulaColumn:
        """What a ranking puts the candidates in order by [rows]."""
        with np.errstate(all="ignore"):
            score = np.broadcast_to(ranking.formula.evaluate(self.columns), self.gain.shape)
        least = np.finfo(np.float64).min
        score = np.where(np.isfinite(score), score, least)
        return np.where(self._eligible(ranking.preferred), score, -np.inf)

    def first(self, score: FormulaColumn) -> Rows:
        """The first row with the largest score, for each question."""
        best = np.maximum.reduceat(score, self.starts)[self.question]
        rows = np.flatnonzero(score == best)[::-1]
        found = np.zeros(len(self), np.intp)
        found[self.question[rows]] = rows  # the earliest one is written last
        return found

    @cached_property
    def question(self) -> Rows:
        """The number of the question that each row belongs to [rows]."""
        return np.repeat(np.arange(len(self)), np.diff([*self.starts, len(self.right)]))

    @cached_property
    def rivals(self) -> tuple[Rows, Rows, FormulaColumn]:
        """Pairs of rows: a best decision, and one that gains less; and how much, of all pairs."""
        best = self.first(self.gain)[self.question]
        less = self.gain[best] - self.gain
        worse = np.flatnonzero(less > 0)
        total = float(less.sum())
        return best[worse], worse, less[worse] / (total if total else 1.0)

    def _select_rows(self, rows: Rows, starts: Rows) -> "Questions":
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Questions(columns, starts, self.right[rows], self.gain[rows])

    def _eligible(self, preferred: Sequence[str]) -> NDArray[np.bool_]:
        kept = np.ones(len(self.right), dtype=np.bool_)
        for name in preferred:
            liked = kept & (self.columns[name] > 0)
            some = np.logical_or.reduceat(liked, self.starts)
            kept = np.where(some[self.question], liked, kept)
        return kept


def _simulate(question: Question, attributes: Attributes, semantics: Semantics) -> Questions:
    """One question."""
    outcome, node = question.simulate(semantics=semantics), attributes.candidate
    place = {key: row for row, key in enumerate(question.world[node.table].values(node.key))}
    rows = [place[candidate] for candidate in outcome.candidates]
    asked = {slot: _named_value(question, slot) for slot in attributes.slots}
    known = attributes.columns(question.world, asked)
    right = np.isin(outcome.candidates, outcome.equivalent)
    columns = {name: column[rows] for name, column in known.items()}
    return Questions(columns, np.array([0]), right, outcome.gained_share)
