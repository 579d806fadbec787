"""Generated questions as numbers: the attributes of every candidate, and the gain of choosing it.

All questions come from the generator of a scenario, and the simulator alone decides what is
correct. No published data set is used.
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
    """The origin of a generated question, sufficient to generate it again."""

    scenario: str
    seed: int
    size: int
    semantics: str

    def __str__(self) -> str:
        """The origin as written into the experience."""
        return (
            f"generated: {self.scenario}, seed {self.seed}, size {self.size}, "
            f"{self.semantics} semantics"
        )


@dataclass(frozen=True, kw_only=True)
class Worlds:
    """The settings of the generated questions."""

    scenario: Scenario
    semantics: Semantics = "annotation"  # by which the simulator decides what is correct
    smallest: int = 150  # rows
    largest: int = 1200

    def questions(self, seeds: Iterable[int]) -> Iterator[tuple[Origin, Question]]:
        """One question for each seed, which also determines the size of its world."""
        for seed in seeds:
            spread = self.largest / self.smallest
            drawn = random.Random(f"size {seed}").random()  # noqa: S311 - worlds, not secrets
            size = round(self.smallest * spread**drawn)
            asked = self.scenario.ask(self.scenario.generate(seed, size), seed)
            yield Origin(self.scenario.name, seed, size, self.semantics), asked


def attributes_of(questions: Sequence[Question]) -> Attributes:
    """The attributes of the candidates of similar questions.

    The candidates are keys of nodes. A slot is a text column without repetitions of which every
    question names one value.
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
            _find_value(q, slot := Slot(node.label, column.name)) is not None for q in questions
        )
    ]
    key = scenario.graph.node(labels[0]).key
    excluded = [
        slot
        for slot in slots
        if (slot.label, slot.column) == (labels[0], key)
        and all(_find_value(q, slot) not in q.candidates for q in questions)
    ]
    return Attributes(scenario, labels[0], slots, excluded[0] if excluded else None)


def _find_value(question: Question, slot: Slot) -> str | None:
    """The value of that column that the question names, if all its values are different."""
    table = question.world[question.scenario.graph.node(slot.label).table]
    values = [str(value) for value in table.values(slot.column)]
    return find_named(question.prompt, values) if len(set(values)) == len(values) else None


def _named_value(question: Question, slot: Slot) -> str:
    if (value := _find_value(question, slot)) is None:
        raise BadInput(f"{question.id} names no single {slot.column}, as the first questions do.")
    return value


@dataclass(frozen=True, eq=False)
class Questions:
    """The candidates of many questions, as rows."""

    columns: Mapping[str, FormulaColumn]  # every attribute of every candidate [rows]
    starts: Rows  # the first row of each question [questions]
    right: NDArray[np.bool_]  # whether each candidate is a best decision [rows]
    gain: FormulaColumn  # the share of the attainable gain of each candidate, 0 to 1 [rows]

    @classmethod
    def of(
        cls, questions: Iterable[Question], attributes: Attributes, semantics: Semantics
    ) -> "Questions":
        """Simulate every candidate of every question."""
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
        """The number of questions."""
        return len(self.starts)

    def chosen(self, numbers: Sequence[int]) -> "Questions":
        """The questions with these numbers, in this order."""
        ends = [*self.starts.tolist(), len(self.right)]
        rows = np.concatenate([np.arange(ends[n], ends[n + 1]) for n in numbers])
        sizes = [ends[n + 1] - ends[n] for n in numbers]
        return self._select_rows(rows, np.cumsum([0, *sizes[:-1]]))

    def within(self, preferred: Sequence[str]) -> "Questions":
        """The questions without candidates that a ranking with these preferences never chooses."""
        rows = np.flatnonzero(self._eligible(preferred))
        return self._select_rows(rows, np.searchsorted(rows, self.starts).astype(np.intp))

    def telling(self) -> list[str]:
        """The attributes that differ between rows, without duplicates."""
        contents: dict[bytes, str] = {}
        for name, column in self.columns.items():
            if np.ptp(column) > 0:
                contents.setdefault(np.round(column, 9).tobytes(), name)
        return list(contents.values())

    def gains(self) -> tuple[float, float]:
        """The share of the attainable gain of a random choice, and of the best choice."""
        sizes = np.diff([*self.starts, len(self.right)])
        by_lot = np.add.reduceat(self.gain, self.starts) / sizes
        return float(by_lot.mean()), float(np.maximum.reduceat(self.gain, self.starts).mean())

    def share(self, ranking: LearnedRanking) -> float:
        """The share of the questions that a ranking decides correctly."""
        return float(self.right[self.decide(ranking)].mean())

    def decide(self, ranking: LearnedRanking) -> Rows:
        """The row that a ranking puts first, for each question; of equal rows the earliest."""
        return self.first(self.scores(ranking))

    def scores(self, ranking: LearnedRanking) -> FormulaColumn:
        """The scores by which a ranking orders the candidates [rows]."""
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
        """The number of the question of each row [rows]."""
        return np.repeat(np.arange(len(self)), np.diff([*self.starts, len(self.right)]))

    @cached_property
    def rivals(self) -> tuple[Rows, Rows, FormulaColumn]:
        """Pairs of a best row and a worse row, with the share of each in the total difference."""
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
    """The candidates of one question."""
    outcome, node = question.simulate(semantics=semantics), attributes.candidate
    place = {key: row for row, key in enumerate(question.world[node.table].values(node.key))}
    rows = [place[candidate] for candidate in outcome.candidates]
    asked = {slot: _named_value(question, slot) for slot in attributes.slots}
    known = attributes.columns(question.world, asked)
    right = np.isin(outcome.candidates, outcome.equivalent)
    columns = {name: column[rows] for name, column in known.items()}
    return Questions(columns, np.array([0]), right, outcome.gained_share)
