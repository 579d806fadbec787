"""A course of learning: its questions, its progress, and its result.

The learner learns from the lessons, chooses a ranking by the trial questions, and is measured on
the unseen questions. All three are generated from separate seeds.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from planweave import BadInput
from planweave.learning.paths import TaskPath
from planweave.learning.queries.attributes import Attributes
from planweave.learning.queries.formulas import Formula
from planweave.learning.queries.memory import FINISH
from planweave.learning.queries.questions import Questions, Worlds, attributes_of
from planweave.learning.queries.rankings import LearnedRanking
from planweave.learning.queries.search import RankingSettings, Search
from planweave.simulators.scenario import Question

_SAMPLE_QUESTIONS = 20


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is learned from."""

    worlds: Worlds
    lessons: int = 3000
    trial: int = 1000
    unseen: int = 1000


class CourseMaterial:
    """The questions of a course, generated when they are first needed."""

    def __init__(
        self, course: Course, progress: Callable[[int, int], None] = lambda _done, _of: None
    ) -> None:
        self.course, self._progress = course, progress

    @cached_property
    def attributes(self) -> Attributes:
        """The attributes of the candidates."""
        seeds = range(1, _SAMPLE_QUESTIONS + 1)
        return attributes_of([question for _, question in self.course.worlds.questions(seeds)])

    @cached_property
    def lessons(self) -> Questions:
        """See :class:`Course`, here and below."""
        return self._questions(0, self.course.lessons)

    @cached_property
    def trial(self) -> Questions:
        """Their seeds follow those of the lessons."""
        return self._questions(self.course.lessons, self.course.trial)

    @cached_property
    def unseen(self) -> Questions:
        """Their seeds follow those of the trial."""
        return self._questions(self.course.lessons + self.course.trial, self.course.unseen)

    def _questions(self, before: int, count: int) -> Questions:
        course, worlds = self.course, self.course.worlds
        total = course.lessons + course.trial + course.unseen

        def gathered() -> Iterator[Question]:
            seeds = range(before + 1, before + count + 1)
            for done, (_, question) in enumerate(worlds.questions(seeds), start=1):
                self._progress(before + done, total)
                yield question

        return Questions.of(gathered(), self.attributes, worlds.semantics)


class GenerationPoint(NamedTuple):
    """The quality of the best ranking of a generation: one point of the curve."""

    generation: int
    answered: int  # questions answered so far
    lessons: float  # share of the lessons that it decides correctly
    unseen: float  # share of the unseen questions
    best: str


class Learned(NamedTuple):
    """The result of a course."""

    ranking: LearnedRanking
    trial: float  # share of the trial questions that it decides correctly
    unseen: float
    paths: tuple[TaskPath, ...]  # the ranking as paths of instructions, for each query language


class Learner:
    """Learns from the material of a course; ``curve`` has every finished generation.

    It begins with the plain formulas and the ``proposed`` ones, such as those of other searches.
    """

    def __init__(
        self, material: CourseMaterial, settings: RankingSettings, proposed: Sequence[Formula] = ()
    ) -> None:
        self._material, self.settings = material, settings
        self._proposed = tuple(proposed)
        self.curve: list[GenerationPoint] = []
        self._best: dict[LearnedRanking, None] = {}
        self._population: tuple[LearnedRanking, ...] = ()

    @property
    def course(self) -> Course:
        """What is learned from."""
        return self._material.course

    @property
    def about(self) -> str:
        """A description that distinguishes this search from others of the same course."""
        begun = f" after {len(self._proposed)} proposals" if self._proposed else ""
        return f"seed {self.settings.seed}{begun}"

    def learn(self) -> Iterator[GenerationPoint]:
        """Run the search and yield every generation."""
        rules = self.course.worlds.scenario.rules
        search = Search(self._material.lessons, rules, self.settings, self._proposed)
        for generation in search.generations():
            best = generation.population[0]
            self._best[best] = None
            self._population = generation.population
            point = GenerationPoint(
                generation.number,
                generation.answered,
                self._material.lessons.share(best),
                self._material.unseen.share(best),
                str(best),
            )
            self.curve.append(point)
            yield point

    def formulas(self) -> list[Formula]:
        """The formulas of the last generation, best first; none before the first generation."""
        return [ranking.formula for ranking in self._population]

    def learned(self) -> Learned:
        """The shortest ranking that no other one beats by more than chance.

        The candidates are the best ranking of every generation and the last population. A ranking
        is beaten if it is behind by more than one standard error on the trial questions that only
        one of the two decides correctly.
        """
        if not self._population:
            raise BadInput("Nothing was learned yet.", fix="Start with `planweave learn dqa`.")
        found = self._best | dict.fromkeys(self._population)
        trial = self._material.trial
        right = {r: trial.right[trial.decide(r)] for r in found}
        first = max(found, key=lambda ranking: (right[ranking].sum(), -ranking.size))
        unbeaten = []
        for ranking, good in right.items():
            wins = int((right[first] & ~good).sum())
            losses = int((good & ~right[first]).sum())
            if wins - losses <= math.sqrt(wins + losses):
                unbeaten.append(ranking)
        chosen = min(unbeaten, key=lambda ranking: (ranking.size, -right[ranking].sum()))
        share = float(right[chosen].mean())
        return Learned(chosen, share, self._material.unseen.share(chosen), self._paths(chosen))

    def _paths(self, ranking: LearnedRanking) -> tuple[TaskPath, ...]:
        """The ranking as paths, with the first trial question that it decides correctly."""
        course, trial = self._material.course, self._material.trial
        right = trial.right[trial.decide(ranking)].tolist()
        if True not in right:
            raise BadInput(
                "What was learned decides none of the trial questions rightly.",
                fix="Search longer: --generations.",
            )
        seed = course.lessons + 1 + right.index(True)
        ((origin, question),) = course.worlds.questions([seed])
        queries = (
            f"sql[{ranking.sql(self._material.attributes)}]",
            f"cypher[{ranking.cypher(self._material.attributes)}]",
        )
        name = course.worlds.scenario.name
        return tuple(
            TaskPath(name, question.prompt, (query, FINISH), origin=str(origin))
            for query in queries
        )
