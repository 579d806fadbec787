"""The tables of the Decision QA report; the paper's figures are in docs/reproduction.md."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from planweave.benchmarks.core.metrics import Rate, accuracy, grouped, rate, sign_test, spread
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, Table
from planweave.benchmarks.suites.dqa.analysis import (
    CRITICAL,
    FAILURE_CLASSES,
    failure_class,
    missed,
    retrievals,
    unread,
)
from planweave.benchmarks.suites.dqa.replans import KINDS, category

BOTH = "both"


def decision_tables(records: Sequence[Record]) -> list[Table]:
    """Every table of the report that is about decisions."""
    groups = grouped(records)
    return [
        by_scenario(groups),
        baseline_table(records),
        beside_baselines(groups),
        regret(groups),
        retrieval_split(groups),
        missed_data(groups),
        failures(groups),
        replannings(groups),
        replanning_categories(groups),
    ]


def by_scenario(groups: Mapping[str, Sequence[Record]]) -> Table:
    """Accuracy by scenario and database, and on the clean subset."""
    rows: list[tuple[Cell, ...]] = []
    for scenario in _scenarios(groups):
        for label, records in groups.items():
            own = [record for record in records if record.scenario == scenario]
            if not own:
                continue
            cells: list[Cell] = [
                accuracy([r for r in own if database in (r.database, BOTH)])
                for database in ("relational", "graph", BOTH)
            ]
            subsets = ("one_best", "clean")
            cells += [accuracy([r for r in own if r.score.details.get(name)]) for name in subsets]
            rows.append((scenario, label, *cells))
    return Table(
        title="Accuracy by scenario and database",
        columns=(
            *("scenario", "method", "relational", "graph", BOTH),
            *("one best decision", "clean subset"),
        ),
        rows=rows,
        note="A decision is right if it is the annotated one or, by the simulator, as good. One "
        "best decision: the others are degenerate, several decisions are equally good or none "
        "improves on deciding nothing. Clean: questions with one best decision to which the rules "
        "as printed lead, too.",
    )


def baseline_table(records: Sequence[Record]) -> Table:
    """What needs no language model, on the same questions."""
    rows: list[tuple[Cell, ...]] = [
        (scenario, name, value)
        for scenario in dict.fromkeys(record.scenario for record in records)
        for name, value in baselines([r for r in records if r.scenario == scenario]).items()
    ]
    return Table(
        title="Baselines without a language model, on the same questions",
        columns=("scenario", "baseline", "accuracy"),
        rows=rows,
        note="A decider that does not beat these has not analysed anything.",
    )


def baselines(records: Sequence[Record]) -> dict[str, Rate]:
    """Accuracy of each baseline; every question counts once."""
    found = _baseline_scores(records).items()
    return {name: made for name, scores in found if (made := rate([*scores.values()]))}


def beside_baselines(groups: Mapping[str, Sequence[Record]]) -> Table:
    """Each method against each baseline, question by question."""
    rows: list[tuple[Cell, ...]] = []
    for scenario in _scenarios(groups):
        for label, records in groups.items():
            for database in ("relational", "graph"):
                own = [r for r in records if (r.scenario, r.database) == (scenario, database)]
                right = {record.question: record.score.value for record in own}
                for name, scores in _baseline_scores(own).items():
                    test = sign_test(right, scores)
                    counts = (test.n, test.first, test.second, f"{test.p:.3f}")
                    rows.append((scenario, label, database, name, *counts))
    return Table(
        title="Methods beside the baselines, on the same questions",
        columns=(
            *("scenario", "method", "database", "baseline", "questions"),
            *("method scores more", "baseline scores more", "p"),
        ),
        rows=rows,
        note="Exact sign test, two-sided, not corrected for the number of comparisons.",
    )


def _baseline_scores(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Score of each baseline on each question."""
    scores: dict[str, dict[str, float]] = {}
    for record in records:
        found = record.score.details.get("baselines")
        for name, value in found.items() if isinstance(found, dict) else ():
            if isinstance(value, int | float):
                scores.setdefault(name, {})[record.question] = value
    return scores


def regret(groups: Mapping[str, Sequence[Record]]) -> Table:
    """The part of the attainable gain that the decisions leave."""

    def lost(records: Sequence[Record]) -> tuple[Cell, ...]:
        values = [record.score.details.get("lost_share") for record in records]
        known = [value for value in values if isinstance(value, int | float)]
        return spread(known), len(known)

    return Table(
        title="Regret",
        columns=("scenario", "method", "mean · median · p95 of the gain lost", "n"),
        rows=_per_scenario(groups, lost),
        note="Part of the attainable gain that is lost, by the simulator: 0 is the best decision, "
        "1 no better than deciding nothing; no answer counts 1. Questions that no decision "
        "improves are left out.",
    )


def retrieval_split(groups: Mapping[str, Sequence[Record]]) -> Table:
    """Accuracy where IterRAG queried the database at most once, and where it did so more often."""
    kinds = {
        (record.question, record.database): "single" if retrievals(record) <= 1 else "multiple"
        for records in groups.values()
        for record in records
        if record.method == "iter_rag" and not record.error
    }
    rows: list[tuple[Cell, ...]] = []
    for scenario in _scenarios(groups):
        for kind in ("single", "multiple"):
            for label, records in groups.items():
                own = [
                    record
                    for record in records
                    if record.scenario == scenario
                    and kinds.get((record.question, record.database)) == kind
                ]
                if own:
                    rows.append((scenario, kind, label, accuracy(own)))
    return Table(
        title="Single and multiple retrieval (figure 5)",
        columns=("scenario", "retrieval", "method", "accuracy"),
        rows=rows,
        note="Single: iter_rag sent at most one query for this question on this kind of database; "
        "multiple: more. Questions that it was not asked, or crashed on, are left out.",
    )


def missed_data(groups: Mapping[str, Sequence[Record]]) -> Table:
    """How often the critical values were not read (table 6)."""
    rows: list[tuple[Cell, ...]] = []
    for scenario in _scenarios(groups):
        for label, records in groups.items():
            own = [r for r in records if r.scenario == scenario and not r.error]
            own = own if scenario in CRITICAL else []
            if own:
                names = [record.question for record in own]
                none = rate([float(missed(record)) for record in own], names)
                some = rate([float(bool(unread(record))) for record in own], names)
                rows.append((scenario, label, none, some))
    return Table(
        title="Missed data analysis (table 6)",
        columns=("scenario", "method", "missed: none read", "at least one unread"),
        rows=rows,
        note="From the parsed queries that brought rows; crashed runs are left out. Critical are "
        "IV (ingoing, or a sum of flow) and TP_total (total_power, or a sum of trading powers) in "
        "Locating, CO (current_output) and PD (pop_demand) in Building.",
    )


def failures(groups: Mapping[str, Sequence[Record]]) -> Table:
    """Wrong answers by class (figure 6)."""

    def counts(records: Sequence[Record]) -> tuple[Cell, ...]:
        classes = [failure_class(record) for record in records]
        wrong = len([name for name in classes if name])
        return (*(classes.count(name) for name in FAILURE_CLASSES), wrong, len(records))

    return Table(
        title="Failures by class (figure 6)",
        columns=("scenario", "method", *FAILURE_CLASSES, "wrong", "of"),
        rows=_per_scenario(groups, counts),
        note="By fixed rules, the first that holds: OTH the run crashed; QUR queries were tried "
        "and none brought a row; CAN the answer is no candidate or no better than deciding "
        "nothing; OTH no answer; MIS none of the critical values was read; DEEP the rest.",
    )


def replannings(groups: Mapping[str, Sequence[Record]]) -> Table:
    """Accuracy by the number of re-plannings (table 7)."""
    rows: list[tuple[Cell, ...]] = []
    for scenario in _scenarios(groups):
        for label, records in groups.items():
            own = [r for r in records if r.scenario == scenario and r.method == "planrag"]
            if own:
                cells = [
                    accuracy([r for r in own if min(4, len(r.replans)) == n]) for n in range(5)
                ]
                rows.append((scenario, label, *cells))
    return Table(
        title="Re-plannings (table 7)",
        columns=("scenario", "method", "0", "1", "2", "3", "4 or more"),
        rows=rows,
    )


def replanning_categories(groups: Mapping[str, Sequence[Record]]) -> Table:
    """What the re-plannings changed (table 12)."""
    rows: list[tuple[Cell, ...]] = []
    for scenario in _scenarios(groups):
        for label, records in groups.items():
            own = [r for r in records if r.scenario == scenario and r.replans]
            if own:
                counts = (sum(name in _categories(record) for record in own) for name in KINDS)
                rows.append((scenario, label, *(f"{n / len(own):.1%}" for n in counts), len(own)))
    return Table(
        title="Kinds of re-planning (table 12)",
        columns=("scenario", "method", *KINDS, "of"),
        rows=rows,
        note="Of the questions that were re-planned, the share with a change of this kind; a "
        "question can have several. Re-order, replace and change target leave the number of "
        "steps, delete and merge lower it, the others raise it. By fixed rules over the words of "
        "the steps.",
    )


def _categories(record: Record) -> set[str]:
    plans = [(replan["before"], replan["after"]) for replan in record.replans]
    return {
        category([str(step) for step in before], [str(step) for step in after])
        for before, after in plans
        if isinstance(before, list) and isinstance(after, list)
    }


def _per_scenario(
    groups: Mapping[str, Sequence[Record]],
    cells: Callable[[Sequence[Record]], Iterable[Cell]],
) -> list[tuple[Cell, ...]]:
    """A row for every scenario and group that has records."""
    return [
        (scenario, label, *cells(own))
        for scenario in _scenarios(groups)
        for label, records in groups.items()
        if (own := [record for record in records if record.scenario == scenario])
    ]


def _scenarios(groups: Mapping[str, Sequence[Record]]) -> list[str]:
    return sorted(
        {record.scenario for records in groups.values() for record in records}, reverse=True
    )
