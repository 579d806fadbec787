"""A scenario is a plug-in: tables, rules, a question, a simulator and a generator of worlds.

To add one, build a :class:`Scenario` and register it (:mod:`planweave.simulators.registry`);
the loaders, the benchmark and the deciders need no change. ``docs/scenarios.md`` shows how.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from itertools import chain
from random import Random
from typing import NamedTuple, TypeAlias

from planweave.errors import BadInput
from planweave.simulators.outcome import Aim, Decision, Outcome, Semantics
from planweave.simulators.tables import (
    DataTable,
    GraphMapping,
    Value,
    World,
    write_cypher,
    write_sql,
)

Parameters: TypeAlias = Mapping[str, Value]
"""The subjects of a question by name: the country, the goods …"""


class Case(NamedTuple):
    """A world and the parameters of one question about it."""

    world: World
    parameters: Parameters


Generate: TypeAlias = Callable[[int, int], Case]
"""Makes a case from a seed and a number of rows; the same arguments give the same case."""

Cases: TypeAlias = Callable[[Random, int, int], Iterator[Case]]
"""Draws one world for a seed and a size, and yields its cases with a clear best decision."""


def generator(name: str, tries: int = 400) -> Callable[[Cases], Generate]:
    """Make a :data:`Generate` that returns the first case of at most ``tries`` worlds."""

    def decorate(cases: Cases) -> Generate:
        @wraps(cases)
        def generate(seed: int, size: int) -> Case:
            if size < 10:
                fix = "Ask for 10 rows or more."
                raise BadInput(f"A world of {size} rows is too small.", fix=fix)
            rng = Random(f"{name} {seed} {size}")  # noqa: S311 - worlds, not secrets
            for case in chain.from_iterable(cases(rng, seed, size) for _ in range(tries)):
                return case
            raise BadInput(
                f"No world of {size} rows with a clear best decision was found for seed {seed}."
            )

        return generate

    return decorate


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One kind of decision question.

    Attributes:
        name: Identifier; also the folder of its data sets.
        rules: The complete business rules; they lead to the simulator's decision.
        goal: Template of the goal, which follows the question; may be empty.
        graph: The tables that are node labels, and those that are relationship types.
        generate: Makes a world of about ``size`` rows with a question that has one clear best
            decision; the same seed and size give the same world.
        database: Template of the name of a question's database files.
    """

    name: str
    rules: str
    question: str
    goal: str = ""
    tables: tuple[DataTable, ...]
    graph: GraphMapping
    aim: Aim
    candidates: Callable[[World, Parameters], tuple[Decision, ...]]
    simulate: Callable[[World, Parameters], Outcome]
    generate: Generate
    database: str = "{database}"

    def ask(self, case: Case, number: int = 1) -> "Question":
        """The question of a generated case, with the simulator's answer as the right one."""
        parameters = {"database": f"{self.name}{number}", "question_num": number, **case.parameters}
        return Question(
            id=f"{self.name}-{number}",
            scenario=self,
            text=fill(self.question, parameters),
            goal=fill(self.goal, parameters),
            rules=self.rules,
            parameters=parameters,
            answer=self.simulate(*case).best,
            database=QuestionDatabase(self, lambda: case.world),
        )


def fill(template: str, parameters: Parameters) -> str:
    """The template with its parameters filled in."""
    try:
        return template.format_map(parameters)
    except KeyError as missing:
        raise BadInput(f"The question has no {missing.args[0]!r}.") from None


@dataclass(frozen=True, eq=False)
class QuestionDatabase:
    """The database of a question; it is read at the first use, once for all its questions."""

    scenario: Scenario
    read: Callable[[], World] = field(repr=False)

    @cached_property
    def world(self) -> World:
        """The tables."""
        return self.read()

    @cached_property
    def sql(self) -> str:
        """The world as standard SQL for a relational database, with typos corrected."""
        return write_sql(self.world)

    @cached_property
    def cypher(self) -> str:
        """The world as Cypher for a graph database, with typos corrected."""
        return write_cypher(self.world, self.scenario.graph)


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """One decision question, its database and its annotated answer."""

    id: str
    scenario: Scenario
    text: str
    goal: str
    rules: str  # the business rules in the words of the data set
    parameters: Parameters
    answer: Decision
    database: QuestionDatabase | None  # None if the data set lacks it

    @property
    def prompt(self) -> str:
        """The text for a decider: the question and the goal."""
        return f"{self.text.strip()}\n{self.goal.strip()}".strip()

    @property
    def world(self) -> World:
        """The tables of its database."""
        if self.database is None:
            raise BadInput(
                f"Question {self.id} has no database file.", fix="Get the whole data set again."
            )
        return self.database.world

    @property
    def candidates(self) -> tuple[Decision, ...]:
        """The decisions that the question admits."""
        return self.scenario.candidates(self.world, self.parameters)

    def simulate(self, **changed: Value) -> Outcome:
        """The value of every candidate; ``changed`` replaces parameters, such as ``semantics``."""
        return self.scenario.simulate(self.world, {**self.parameters, **changed})


def semantics_of(parameters: Parameters) -> Semantics:
    """The semantics that the parameters ask for; for published questions, ``annotation``."""
    return "printed" if parameters.get("semantics") == "printed" else "annotation"


def parameter(parameters: Parameters, name: str) -> str:
    """A parameter as text."""
    if name not in parameters:
        raise BadInput(f"The question has no {name!r}.")
    return str(parameters[name])
