"""The search for rankings: proposed, tried on generated questions, and kept if they decide well.

The first proposals are the plain queries of the schema: they order the candidates by one attribute,
after attributes with which a random choice gains more. Later proposals join, change and exchange
parts of the best formulas, with the numbers of the rules: stored instructions are recombined (the
enlargeability of arXiv 2504.13032). Every proposal answers a batch of questions; the best answer
all lessons (successive halving). Of rankings with the same decisions only the best is kept, and a
long one must be better to be kept.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planweave import BadInput
from planweave.learning.queries.formulas import Formula, cross, vary
from planweave.learning.queries.questions import Questions
from planweave.learning.queries.rankings import LearnedRanking

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]\w)")
_GAIN_WEIGHT, _ORDER_WEIGHT = 0.3, 0.3
_MIN_GAIN, _LOSS_WEIGHT = 0.01, 3.0
_FRESH_SHARE, _VARIED_SHARE = 0.1, 0.65


@dataclass(frozen=True, kw_only=True)
class RankingSettings:
    """The settings of a search."""

    seed: int = 1
    generations: int = 250
    population: int = 100
    proposals: int = 400
    batch: int = 300  # questions that each proposal answers
    promoted: int = 60
    largest: int = 41  # names, numbers and operators of a formula at most
    parsimony: float = 0.001  # cost of each of them


class Generation(NamedTuple):
    """The state of a search."""

    number: int
    population: tuple[LearnedRanking, ...]
    answered: int


class Search:
    """A search over the lessons of one scenario; formulas may have numbers of its rules.

    It begins with the plain formulas and the ``proposed`` ones without unknown names.
    """

    def __init__(
        self,
        lessons: Questions,
        rules: str,
        settings: RankingSettings,
        proposed: Sequence[Formula] = (),
    ) -> None:
        self._all, self._settings = lessons, settings
        self._names = lessons.telling()
        if not self._names:
            raise BadInput(
                "No number in the databases tells one candidate from another.",
                fix="Learn on a scenario whose candidates have numbers, or links to count.",
            )
        self._proposed = [f for f in proposed if f.names <= set(lessons.columns)]
        self._leaves = [*self._names, *2 * list(dict.fromkeys(_NUMBER.findall(rules)))]

    def generations(self) -> Iterator[Generation]:
        """Yield every generation."""
        last = self._first_generation()
        yield last
        lessons = self._all.within(last.population[0].preferred)
        values = {ranking: self._value(ranking, lessons) for ranking in last.population}
        while last.number < self._settings.generations:
            last = self._next_generation(last, lessons, values)
            yield last

    def _first_generation(self) -> Generation:
        """The generation of the plain queries."""
        preferred = self._find_preferred()
        formulas = [Formula(name) for name in self._names]
        formulas += [Formula("-", (Formula("0"), formula)) for formula in formulas]
        formulas += self._proposed
        lessons = self._all.within(preferred)
        rankings = [LearnedRanking(formula, preferred) for formula in formulas]
        rankings.sort(key=lambda ranking: self._value(ranking, lessons), reverse=True)
        kept = tuple(rankings[: self._settings.population])
        return Generation(0, kept, len(rankings) * len(lessons))

    def _find_preferred(self) -> tuple[str, ...]:
        """Find attributes with which a random choice gains more and little is lost."""
        preferred: tuple[str, ...] = ()
        worth = self._worth(preferred)
        while options := [(*preferred, name) for name in self._names if name not in preferred]:
            worths = {option: self._worth(option) for option in options}
            best = max(options, key=lambda option: worths[option])
            if worths[best] < worth + _MIN_GAIN:
                break
            preferred, worth = best, worths[best]
        return preferred

    def _worth(self, preferred: tuple[str, ...]) -> float:
        by_lot, attainable = self._all.within(preferred).gains()
        return by_lot + _LOSS_WEIGHT * attainable

    def _next_generation(
        self, last: Generation, lessons: Questions, values: dict[LearnedRanking, float]
    ) -> Generation:
        """The next generation; ``values`` has the values of the population and is updated."""
        settings, number = self._settings, last.number + 1
        rng = random.Random(f"{settings.seed} {number}")  # noqa: S311 - not for secrets
        numbers = range(len(lessons))
        batch = lessons.chosen(rng.sample(numbers, min(settings.batch, len(lessons))))
        proposed = self._proposals(last.population, rng)
        proposed.sort(key=lambda ranking: self._value(ranking, batch), reverse=True)
        for ranking in proposed[: settings.promoted]:
            values[ranking] = self._value(ranking, lessons)
        ranked = sorted(values, key=lambda ranking: values[ranking], reverse=True)
        kept: dict[bytes, LearnedRanking] = {}
        for ranking in ranked:  # the best, and so the shortest, of rankings with equal decisions
            kept.setdefault(lessons.decide(ranking).tobytes(), ranking)
            if len(kept) == settings.population:
                break
        population = tuple(kept.values())
        known = {ranking: values[ranking] for ranking in population}
        values.clear()
        values.update(known)
        promoted = len(proposed[: settings.promoted])
        answered = len(proposed) * len(batch) + promoted * len(lessons)
        return Generation(number, population, last.answered + answered)

    def _proposals(
        self, population: Sequence[LearnedRanking], rng: random.Random
    ) -> list[LearnedRanking]:
        """New rankings: variations of good ones, or combinations of two."""
        known, made = set(population), dict[LearnedRanking, None]()
        for _ in range(20 * self._settings.proposals):
            if len(made) == self._settings.proposals:
                break
            formula = self._vary_good(population, rng)
            ranking = LearnedRanking(formula, population[0].preferred)
            if formula.size <= self._settings.largest and ranking not in known:
                made[ranking] = None
        return list(made)

    def _vary_good(self, population: Sequence[LearnedRanking], rng: random.Random) -> Formula:
        """A formula one to three changes away from a good one; some get a random new part."""

        def good() -> Formula:
            places = [rng.randrange(len(population)) for _ in range(rng.choice((1, 2, 2)))]
            return population[min(places)].formula

        formula = good()
        if rng.random() < _FRESH_SHARE:
            fresh = Formula(rng.choice(self._leaves))
            for _ in range(rng.randint(1, 4)):
                fresh = vary(fresh, self._leaves, rng)
            return cross(formula, fresh, rng)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if rng.random() < _VARIED_SHARE:
                formula = vary(formula, self._leaves, rng)
            else:
                formula = cross(formula, good(), rng)
        return formula

    def _value(self, ranking: LearnedRanking, questions: Questions) -> float:
        """Share of correct decisions, plus a little for nearly correct ones, minus the length."""
        score = questions.scores(ranking)
        chosen = questions.first(score)
        best, worse, weight = questions.rivals
        ordered = float(weight @ (score[best] > score[worse]))
        right = float(questions.right[chosen].mean())
        gained = float(questions.gain[chosen].mean())
        length = self._settings.parsimony * ranking.size
        return right + _GAIN_WEIGHT * gained + _ORDER_WEIGHT * ordered - length
