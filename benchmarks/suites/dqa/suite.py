"""Decision QA: the questions of a data set as samples, and the scores of their answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, get_args

import typer
from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.core.lines import cache_script
from planweave.benchmarks.core.options import Options, listed
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import (
    Sample,
    Selection,
    ShowStatus,
    Suite,
    drawn,
    in_turn,
    register,
)
from planweave.benchmarks.suites.dqa import analyst  # noqa: F401 - the model analyst:perfect
from planweave.benchmarks.suites.dqa.tables import decision_tables
from planweave.graphs import METHODS, of_family
from planweave.memory import NO_DECISION, Answer, Context
from planweave.nodes.deciding.experience import load_paths
from planweave.simulators.baselines import BASELINES, random_source
from planweave.simulators.outcome import Decision, Outcome
from planweave.simulators.published import load_dataset
from planweave.simulators.scenario import Question
from planweave.tools.database import Kind

NAME = "dqa"


@dataclass(frozen=True, kw_only=True)
class DecisionOptions(Options):
    """Options of the suite."""

    data: Annotated[Path, typer.Option(help="Clone or archive in the published layout.")]
    method: Annotated[str, typer.Option(help="Comma-separated methods, or all deciders.")] = "all"
    database: Annotated[str, typer.Option(help="relational, graph or both.")] = "both"
    scenario: Annotated[
        str, typer.Option(help="Comma-separated scenarios; both: all in the data.")
    ] = "both"

    def settings(self) -> dict[str, str | int]:
        """As in the paper: each observation can change the plan, and there is one decision call."""
        own: dict[str, str | int] = {"replan": "every_observation", "ask_again": False}
        return super().settings() | own | {"max_iterations": 15}


@register(NAME, tables=decision_tables)
class DecisionQA(Suite):
    """Decision QA: each question with each method on each kind of database.

    Locating, Building, and any scenario in the published layout. The model analyst:perfect is a
    script that never errs, so its losses are not the model's.
    """

    Options = DecisionOptions

    def select(self, options: DecisionOptions, context: Context, status: ShowStatus) -> Selection:
        """The same number of questions of every scenario, with every method and database."""
        deciders, every = [*of_family("decide")], options.method == "all"
        methods = deciders if every else listed(options.method, METHODS.names(), "method", every="")
        kinds = listed(options.database, get_args(Kind), "kind of database", every="both")
        found = load_dataset(options.data)
        chosen = choose(
            [question for question in found.questions if question.database],
            listed(options.scenario, found.scenarios, "scenario", every="both"),
            options.limit,
            options.seed,
        )
        status("writing the databases …")
        without = [question.id for question in found.questions if not question.database]
        skipped = [f"Skipped, without a database: {', '.join(without)}."] if without else []
        return Selection(
            samples=samples(chosen, methods=methods, databases=kinds, settings=context),
            about=options.about(questions=len(found.questions), chosen=len(chosen)),
            notes=[*found.missing, *skipped],
        )


def choose(
    questions: Sequence[Question], scenarios: Sequence[str], limit: int | None, seed: int
) -> list[Question]:
    """Draw questions evenly from the scenarios.

    The draw depends only on the seed and the questions' ids. A smaller limit draws a subset of a
    larger one, so that a run can be extended.
    """
    pools = []
    for scenario in scenarios:
        found = [question for question in questions if question.scenario.name == scenario]
        if not found:
            raise BadInput(f"The data set has no question of the scenario {scenario!r}.")
        pools.append(drawn(found, None, seed, lambda question: question.id))
    return in_turn(*pools)[:limit]


def samples(
    questions: Iterable[Question],
    *,
    methods: Sequence[str],
    databases: Sequence[Kind],
    settings: Context,
) -> list[Sample]:
    """Every question with every method on every kind of database.

    The order is question by question, so that a partial run compares the methods on the same
    questions, and a model's server reads the common beginning of their prompts once.
    """
    questions, made = [*questions], []
    _check_unseen(questions, settings)
    for question in questions:
        judge = DecisionScorer(question)
        for database in databases:
            path = _database_script(question, database)
            context = settings.model_copy(
                update={
                    "database" if database == "relational" else "graph": str(path),
                    "rules": question.rules,
                    "candidates": tuple(str(candidate) for candidate in question.candidates),
                }
            )
            made += [
                Sample(
                    suite=NAME,
                    question=question.id,
                    scenario=question.scenario.name,
                    method=method,
                    database=database,
                    asked=question.prompt,
                    context=context,
                    content=path.stem,
                    target=judge,
                )
                for method in methods
            ]
    return made


def _check_unseen(questions: Iterable[Question], settings: Context) -> None:
    """Raise if the experience, from any source, contains one of the questions."""
    if settings.experience is None:
        return
    paths = load_paths(settings.experience, settings.owner)
    seen = {" ".join(path.question.split()) for path in paths}
    known = [q.id for q in questions if " ".join(q.prompt.split()) in seen]
    if known:
        raise BadInput(
            f"The experience contains {len(known)} of the questions, such as {known[0]}.",
            fix="Measure with experience that comes from other questions.",
        )


def _database_script(question: Question, database: Kind) -> Path:
    """The script of the question's database, with typos corrected."""
    assert question.database is not None  # noqa: S101 (only such questions are chosen)
    if database == "relational":
        return cache_script(question.scenario.name, question.database.sql, "sql")
    return cache_script(question.scenario.name, question.database.cypher, "cql")


class DecisionScorer:
    """Scores answers to one question; the simulation runs once, at the first use."""

    def __init__(self, question: Question) -> None:
        self._question = question

    def score(self, answer: Answer | None) -> Score:
        """1 for the annotated decision or an equally good one, 0 for any other or no answer.

        If no decision is an improvement, that answer is right, too.
        """
        named = answer["decision"] if answer else None
        by_name = {str(candidate): candidate for candidate in self._outcome.candidates}
        decided = by_name.get(named) if named else None
        best = [str(candidate) for candidate in self._equivalent]
        others = f" and {len(best) - 1} more" if len(best) > 1 else ""
        return Score(
            value=float(named in best or (named == NO_DECISION and not self._outcome.improving)),
            answer=named,
            explanation=f"{named or 'no decision'}; best is {best[0]}{others}",
            details={
                "best": list[JsonValue](best),
                "clean": self._clean,
                "one_best": not self._outcome.degenerate,
                "candidates": len(by_name),
                "lost_share": lost_share(self._outcome, decided),
                "improves": decided is not None and improves(self._outcome, decided),
                "baselines": dict[str, JsonValue](self._baselines),
            },
        )

    @cached_property
    def _outcome(self) -> Outcome:
        return self._question.simulate()

    @cached_property
    def _equivalent(self) -> tuple[Decision, ...]:
        """The annotated decision first, then those that the simulator finds equally good."""
        return tuple(dict.fromkeys((self._question.answer, *self._outcome.equivalent)))

    @cached_property
    def _baselines(self) -> dict[str, float]:
        """The scores of the deciders without a language model."""
        question, scenario = self._question, self._question.scenario.name
        scores = {
            name: float(str(decide(question)) in map(str, self._equivalent))
            for name, decide in BASELINES.get(scenario, {}).items()
        }
        if scenario == "locating":
            scores["random source with presence"] = random_source(question)
        return scores

    @cached_property
    def _clean(self) -> bool:
        """Whether there is one right answer, to which the printed rules lead, too."""
        printed = self._question.simulate(semantics="printed")
        annotated = (self._question.answer,)
        return (
            self._outcome.improving
            and self._outcome.equivalent == annotated
            and printed.equivalent == annotated
        )


def improves(outcome: Outcome, decision: Decision) -> bool:
    """Whether a decision is better than deciding nothing (if that is unknown, than the worst).

    Otherwise it is not a proper candidate, since it does not affect the goal.
    """
    gained = outcome.gains
    return float(gained[outcome.candidates.index(decision)]) > 1e-9 * float(gained.max())


def lost_share(outcome: Outcome, decision: Decision | None) -> float | None:
    """Normalised regret: the lost share of the attainable gain; None if nothing can be gained.

    0 is the best decision; 1 is no better than deciding nothing, and also counts for no answer. If
    the value of deciding nothing is unknown, the worst feasible candidate replaces it.
    """
    if not outcome.gained_share.any():
        return None
    if decision is None:
        return 1.0
    return 1.0 - float(outcome.gained_share[outcome.candidates.index(decision)])
