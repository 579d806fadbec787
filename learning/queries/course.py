"""A course of learning: which questions are asked, what is kept on the way, what is learned.

Lessons are learned from; trial questions choose among what was learned; unseen questions only
measure. All three are generated, each from seeds of its own. Every generation is written to a
database, so that a course that was stopped goes on where it was.
"""

import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from planweave import BadInput
from planweave.learning.paths import TaskPath
from planweave.learning.queries.attributes import Attributes
from planweave.learning.queries.formulas import Formula
from planweave.learning.queries.memory import FINISH
from planweave.learning.queries.questions import Questions, Worlds, attributes_of
from planweave.learning.queries.rankings import Ranking
from planweave.learning.queries.search import Generation, Search, Settings
from planweave.simulators.scenario import Question

_LOOKED_AT = 20
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS generation(run TEXT, number INTEGER, answered INTEGER,"
    " lessons REAL, unseen REAL, best TEXT, population TEXT, PRIMARY KEY(run, number))",
    "CREATE TABLE IF NOT EXISTS took(run TEXT, number INTEGER, seconds REAL,"
    " PRIMARY KEY(run, number))",
)


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is learned from."""

    worlds: Worlds
    lessons: int = 3000
    trial: int = 1000
    unseen: int = 1000


class Material:
    """The questions of a course, generated when they are first needed.

    Args:
        folder: Where their numbers are kept, so that a later run need not generate them again.
        progress: Called with how many of the questions are made, and of how many.
    """

    def __init__(
        self,
        course: Course,
        folder: Path | None = None,
        progress: Callable[[int, int], None] = lambda _done, _of: None,
    ) -> None:
        self.course, self._folder, self._progress = course, folder, progress

    @cached_property
    def attributes(self) -> Attributes:
        """What can be known of the candidates."""
        seeds = range(1, _LOOKED_AT + 1)
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
        course, attributes = self.course, self.attributes
        worlds = course.worlds
        about = [worlds.scenario.name, worlds.semantics, worlds.smallest, worlds.largest]
        name = "-".join(map(str, [*about, before, count]))
        file = self._folder / f"{name}.npz" if self._folder else None
        if file and (kept := Questions.read(file)):
            return kept
        total = course.lessons + course.trial + course.unseen

        def gathered() -> Iterator[Question]:
            seeds = range(before + 1, before + count + 1)
            for done, (_, question) in enumerate(course.worlds.questions(seeds), start=1):
                self._progress(before + done, total)
                yield question

        made = Questions.of(gathered(), attributes, worlds.semantics)
        if file:
            made.write(file)
        return made


class Point(NamedTuple):
    """How good the best ranking of a generation is: one point of the curve.

    Attributes:
        answered: Questions that were answered up to there.
        lessons: Share of the lessons that it decides rightly.
        unseen: Share of the unseen questions.
    """

    generation: int
    answered: int
    lessons: float
    unseen: float
    best: str


class Learned(NamedTuple):
    """What a course has come to.

    Attributes:
        trial: Share of the trial questions that it decides rightly.
        paths: It as paths of instructions, for each query language.
    """

    ranking: Ranking
    trial: float
    unseen: float
    paths: tuple[TaskPath, ...]


class Learner:
    """Learns from the material of a course.

    Args:
        file: The database that every generation is written to.
        proposed: Formulas to begin with besides the plain ones, such as those of other searches.

    Raises:
        BadInput: The database cannot be opened.
    """

    def __init__(
        self, material: Material, settings: Settings, file: Path, proposed: Sequence[Formula] = ()
    ) -> None:
        self._material, self.settings, self._file = material, settings, file
        self._proposed = tuple(proposed)
        self._keep("SELECT 1")

    @property
    def course(self) -> Course:
        """What is learned from."""
        return self._material.course

    @property
    def about(self) -> str:
        """What distinguishes this search from others of the same course."""
        begun = f" after {len(self._proposed)} proposals" if self._proposed else ""
        return f"seed {self.settings.seed}{begun}"

    @property
    def key(self) -> str:
        """Names course, settings and proposals: the same ones learn the same."""
        course = self._material.course
        worlds = course.worlds
        drawn = [worlds.scenario.name, worlds.semantics, worlds.smallest, worlds.largest]
        sizes = [course.lessons, course.trial, course.unseen]
        about = [*drawn, *sizes, asdict(self.settings), [str(f) for f in self._proposed]]
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]

    def learn(self) -> Iterator[Point]:
        """Every generation that is still to do, as it is done."""
        begun = perf_counter()
        for generation in self._search.generations(self._last()):
            best = generation.population[0]
            point = Point(
                generation.number,
                generation.answered,
                self._search.right(best, self._material.lessons),
                self._search.right(best, self._material.unseen),
                str(best),
            )
            population = json.dumps([_written(ranking) for ranking in generation.population])
            first = json.dumps(_written(best))
            self._keep(
                "INSERT OR REPLACE INTO generation VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self.key, *point[:4], first, population),
            )
            self._keep(  # only the last one is gone on from
                "UPDATE generation SET population = '' WHERE run = ? AND number < ?",
                (self.key, generation.number),
            )
            self._keep(
                "INSERT OR REPLACE INTO took VALUES (?, ?, ?)",
                (self.key, generation.number, perf_counter() - begun),
            )
            yield point
            begun = perf_counter()

    def curve(self) -> list[Point]:
        """Every generation that was done."""
        rows = self._keep(
            "SELECT number, answered, lessons, unseen, best FROM generation WHERE run = ?"
            " ORDER BY number",
            (self.key,),
        )
        return [
            Point(n, a, share, new, str(_read(json.loads(best)))) for n, a, share, new, best in rows
        ]

    def seconds(self) -> float | None:
        """What all generations took by the clock, with the worlds that had to be made for them.

        None where that was not noted of each.
        """
        rows = self._keep(
            "SELECT SUM(seconds), COUNT(seconds) = COUNT(*) FROM generation"
            " LEFT JOIN took USING (run, number) WHERE run = ?",
            (self.key,),
        )
        ((seconds, every),) = rows
        return seconds if every else None

    def formulas(self) -> list[Formula]:
        """Those of the last generation, the best first; none before the first one."""
        last = self._last()
        return [ranking.formula for ranking in last.population] if last else []

    def learned(self) -> Learned:
        """The ranking to keep: the shortest that no other one beats by more than chance.

        Candidates are the best of every generation and the last population. A ranking is beaten
        if, on the trial questions that only one of the two decides rightly, it is behind by more
        than one standard error.
        """
        last = self._last()
        if last is None:
            raise BadInput("Nothing was learned yet.", fix="Start with `planweave learn dqa`.")
        rows = self._keep("SELECT best FROM generation WHERE run = ?", (self.key,))
        found = dict.fromkeys([_read(json.loads(row[0])) for row in rows])
        found.update(dict.fromkeys(last.population))
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
        unseen = self._search.right(chosen, self._material.unseen)
        return Learned(chosen, share, unseen, self._paths(chosen))

    def _paths(self, ranking: Ranking) -> tuple[TaskPath, ...]:
        """The ranking with the first trial question that it decides rightly."""
        course, trial = self._material.course, self._material.trial
        right = trial.right[trial.decide(ranking)].tolist()
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

    @cached_property
    def _search(self) -> Search:
        rules = self._material.course.worlds.scenario.rules
        return Search(self._material.lessons, rules, self.settings, self._proposed)

    def _last(self) -> Generation | None:
        rows = self._keep(
            "SELECT number, population, answered FROM generation WHERE run = ?"
            " ORDER BY number DESC LIMIT 1",
            (self.key,),
        )
        if not rows:
            return None
        number, population, answered = rows[0]
        return Generation(number, tuple(_read(item) for item in json.loads(population)), answered)

    def _keep(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(self._file)) as database, database:
                for table in _SCHEMA:
                    database.execute(table)
                return database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise BadInput(
                f"The database {self._file} of what was learned cannot be used ({error}).",
                fix="Name another folder with --out.",
            ) from None


def _written(ranking: Ranking) -> list[object]:
    return [str(ranking.formula), list(ranking.preferred)]


def _read(item: list[Any]) -> Ranking:
    return Ranking(Formula.read(item[0]), tuple(item[1]))
