"""The tables of the Decision QA report; the paper's figures are in docs/reproduction.md."""

from collections.abc import Sequence
from functools import partial

from planweave.benchmarks.core.metrics import (
    Groups,
    accuracy,
    by_part_and_method,
    group_by,
    group_by_method,
    rate,
    rate_of,
    sign_test,
    spread,
)
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cells, ReportTable, Rows, row_per_group, table_of_rows
from planweave.benchmarks.suites.dqa.analysis import (
    CRITICAL,
    FAILURE_CLASSES,
    KINDS,
    failure_class,
    has_missed_all,
    replan_category,
    retrievals,
    unread_values,
)

_DATABASES = ("relational", "graph")


def decision_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables of the suite."""
    groups = group_by_method(records)
    return [
        _by_scenario(groups),
        _baselines(records),
        _against_baselines(groups),
        _regret(groups),
        _retrieval_split(groups),
        _missed_data(groups),
        _failures(groups),
        _replannings(groups),
        _replanning_categories(groups),
    ]


_by_scenario_and_method = partial(by_part_and_method, reverse=True)
_row_per_part = partial(row_per_group, _by_scenario_and_method)


@_row_per_part(
    "Accuracy by scenario and database",
    "scenario | method | relational | graph | both | one best decision | clean subset",
    note="A decision is right if it is the annotated one or, by the simulator, as good. One "
    "best decision: the others are degenerate, several decisions are equally good or none "
    "improves on deciding nothing. Clean: questions with one best decision to which the rules "
    "as printed lead, too.",
)
def _by_scenario(own: Sequence[Record]) -> Cells:
    databases = (accuracy([r for r in own if r.database == name]) for name in _DATABASES)
    subsets = (
        accuracy([r for r in own if r.score.details.get(name)]) for name in ("one_best", "clean")
    )
    return *databases, accuracy(own), *subsets


@table_of_rows(
    "Baselines without a language model, on the same questions",
    "scenario | baseline | accuracy",
    note="They need no model and no analysis: compare every method with them.",
)
def _baselines(records: Sequence[Record]) -> Rows:
    for scenario, own in group_by(records, lambda record: record.scenario).items():
        for name, scores in _baseline_scores(own).items():
            yield scenario, name, rate([*scores.values()])


@table_of_rows(
    "Methods beside the baselines, on the same questions",
    "scenario | method | database | baseline | questions | method scores more | "
    "baseline scores more | p",
    note="Exact sign test, two-sided, not corrected for the number of comparisons.",
)
def _against_baselines(groups: Groups) -> Rows:
    for scenario, label, records in _by_scenario_and_method(groups):
        for database in _DATABASES:
            own = [record for record in records if record.database == database]
            right = {record.question: record.score.value for record in own}
            for name, scores in _baseline_scores(own).items():
                test = sign_test(right, scores)
                counts = (test.n, test.first, test.second, f"{test.p:.3f}")
                yield scenario, label, database, name, *counts


def _baseline_scores(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    scores: dict[str, dict[str, float]] = {}
    for record in records:
        found = record.score.details.get("baselines")
        for name, value in found.items() if isinstance(found, dict) else ():
            if isinstance(value, int | float):
                scores.setdefault(name, {})[record.question] = value
    return scores


@_row_per_part(
    "Regret",
    "scenario | method | mean · median · p95 of the gain lost | n",
    note="Part of the attainable gain that is lost, by the simulator: 0 is the best decision, "
    "1 no better than deciding nothing; no answer counts 1. Questions that no decision "
    "improves are left out.",
)
def _regret(own: Sequence[Record]) -> Cells:
    values = [record.score.details.get("lost_share") for record in own]
    known = [value for value in values if isinstance(value, int | float)]
    return spread(known), len(known)


@table_of_rows(
    "Single and multiple retrieval (figure 5)",
    "scenario | retrieval | method | accuracy",
    note="Single: iter_rag sent at most one query for this question on this kind of database; "
    "multiple: more. Questions that it was not asked, or crashed on, are left out.",
)
def _retrieval_split(groups: Groups) -> Rows:
    def asked(record: Record) -> tuple[str, str, str]:
        return record.question, record.database, record.model

    kinds = {
        asked(record): "single" if retrievals(record) <= 1 else "multiple"
        for records in groups.values()
        for record in records
        if record.method == "iter_rag" and not record.error
    }
    parts = [*_by_scenario_and_method(groups)]
    for scenario in dict.fromkeys(scenario for scenario, *_ in parts):
        for kind in ("single", "multiple"):
            for _, label, records in (part for part in parts if part[0] == scenario):
                own = [r for r in records if kinds.get(asked(r)) == kind]
                if own:
                    yield scenario, kind, label, accuracy(own)


@_row_per_part(
    "Missed data analysis (table 6)",
    "scenario | method | missed: none read | at least one unread",
    note="From the parsed queries that brought rows; crashed runs are left out. Critical are "
    "IV (ingoing, or a sum of flow) and TP_total (total_power, or a sum of trading powers) in "
    "Locating, CO (current_output) and PD (pop_demand) in Building.",
)
def _missed_data(records: Sequence[Record]) -> Cells:
    own = [record for record in records if not record.error and record.scenario in CRITICAL]
    return (
        (rate_of(own, has_missed_all), rate_of(own, lambda r: bool(unread_values(r))))
        if own
        else ()
    )


@_row_per_part(
    "Failures by class (figure 6)",
    f"scenario | method | {' | '.join(FAILURE_CLASSES)} | wrong | of",
    note="By fixed rules, the first that holds: OTH the run crashed; QUR queries were tried "
    "and none brought a row; CAN the answer is no candidate or no better than deciding "
    "nothing; OTH no answer; MIS none of the critical values was read; DEEP the rest.",
)
def _failures(own: Sequence[Record]) -> Cells:
    classes = [failure_class(record) for record in own]
    counts = [classes.count(name) for name in FAILURE_CLASSES]
    return *counts, sum(counts), len(own)


@_row_per_part("Re-plannings (table 7)", "scenario | method | 0 | 1 | 2 | 3 | 4 or more")
def _replannings(own: Sequence[Record]) -> Cells:
    if own[0].method != "planrag":
        return ()
    return [accuracy([r for r in own if min(4, len(r.replans)) == n]) for n in range(5)]


@_row_per_part(
    "Kinds of re-planning (table 12)",
    f"scenario | method | {' | '.join(KINDS)} | of",
    note="Of the questions that were re-planned, the share with a change of this kind; a "
    "question can have several. Re-order, replace and change target leave the number of "
    "steps, delete and merge lower it, the others raise it. By fixed rules over the words of "
    "the steps.",
)
def _replanning_categories(records: Sequence[Record]) -> Cells:
    own = [record for record in records if record.replans]
    counts = [sum(name in _categories(record) for record in own) for name in KINDS]
    return (*(f"{n / len(own):.1%}" for n in counts), len(own)) if own else ()


def _categories(record: Record) -> set[str]:
    plans = [(replan["before"], replan["after"]) for replan in record.replans]
    return {
        replan_category([str(step) for step in before], [str(step) for step in after])
        for before, after in plans
        if isinstance(before, list) and isinstance(after, list)
    }
