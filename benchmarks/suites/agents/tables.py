"""The tables of the document agents' report, made from records."""

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from pydantic import BaseModel

from planweave.benchmarks.core.metrics import (
    Groups,
    group_by,
    group_by_method,
    rate,
    rate_of,
    spread,
)
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import (
    Cell,
    Cells,
    ReportTable,
    Rows,
    row_per_method,
    table_by_part,
    table_of_rows,
)
from planweave.benchmarks.suites.agents.questions import SETS
from planweave.nodes.support.judges import ANSWER_JUDGE, JudgedAnswer

JUDGE_CHECK = "judge beside people"
"""The scenario of the judge's check."""


class RagMetrics(NamedTuple):
    """The three RAGAS metrics of a run; None if not measured."""

    faithfulness: float | None
    answer_relevance: float | None
    context_relevance: float | None


class _Details(BaseModel):
    trial: int
    asked: str
    gold: str | None
    evidence: list[tuple[str, int]]
    found: bool
    scored: Literal["judge", "rule", "no answer"]
    judged: JudgedAnswer | None
    rag: RagMetrics | None = None


class _Checked(BaseModel):
    """Details of the score of a check of the judge."""

    better: str | None
    other: str | None


def agent_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables of the suite."""
    answers = group_by_method([record for record in records if record.method != ANSWER_JUDGE])
    checks = [record for record in records if record.method == ANSWER_JUDGE]
    return [
        _sets(answers),
        _scored(answers),
        _judge(group_by_method(checks)),
        _citations(answers),
        _findable(answers),
        _unanswerable(answers),
        _rag(answers),
        _cost(answers),
        _questions(answers),
    ]


@table_of_rows(
    "The RAG pipeline (thesis, table 4.1)",
    "set | method | faithfulness | answer relevance | context relevance | runs",
    note="Mean ± sample standard deviation over runs, in brackets the runs that were measured "
    "(a run without an answer, or a judge's reply that could not be read, is none). Pages: one "
    "search by the question.",
)
def _rag(groups: Groups) -> Rows:
    for part in SETS:
        for label, records in groups.items():
            own = [r for r in records if r.scenario == part and not r.error]
            found = [m for m in (_details(record).rag for record in own) if m]
            if found:
                columns = (
                    [v for v in values if v is not None] for values in zip(*found, strict=True)
                )
                cells = (f"{mean_and_deviation(each, 3)} ({len(each)})" for each in columns)
                yield part, label, *cells, len(own)


def mean_and_deviation(values: Sequence[float], digits: int = 1) -> str:
    """Mean ± sample standard deviation; only the mean for a single value."""
    if not values:
        return "-"
    deviation = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{digits}f}{deviation}"


def _details(record: Record) -> _Details:
    return _Details.model_validate(record.score.details)


def _by_trial(records: Sequence[Record]) -> list[float]:
    """Per cent of right answers in each trial."""
    trials = group_by(records, lambda record: _details(record).trial)
    return [fmean(100 * record.score.value for record in own) for own in trials.values()]


def _sets(groups: Groups) -> ReportTable:
    every = [record for own in groups.values() for record in own]
    sets = [name for name in SETS if any(record.scenario == name for record in every)]
    rows: list[tuple[Cell, ...]] = []
    for label, own in groups.items():
        parts = [[record for record in own if record.scenario == name] for name in sets]
        trials = len({_details(record).trial for record in own})
        cells = [mean_and_deviation(_by_trial(part)) for part in (*parts, own)]
        rows.append((label, trials, *cells))
    number = {name: len({r.question for r in every if r.scenario == name}) for name in sets}
    heads = [f"{name} ({number[name]})" for name in sets]
    return ReportTable(
        title="Right answers by set",
        columns=("method", "trials", *heads, f"all ({sum(number.values())})"),
        rows=rows,
        note="Per cent, mean ± sample standard deviation over trials of all questions together; "
        "in brackets the number of questions. A set of few questions can show little.",
    )


@row_per_method(
    "How answers were scored",
    "method | answers | none given | by rule | by the judge | share of the judge | "
    "right by the judge | judge unsure | judge unread",
    note="By rule: numbers with their scale, unit and rounding, spans that match wholly or "
    "not at all, and what cannot be answered. The judge has the rest; unsure, unread and no "
    "answer count as wrong. The next table shows how often it errs.",
)
def _scored(own: Sequence[Record]) -> Cells:
    details = [_details(record) for record in own]
    judged = [(d, r) for d, r in zip(details, own, strict=True) if d.scored == "judge"]
    unread = sum(d.judged is None or d.judged.verdict is None for d, _ in judged)
    unsure = sum(bool(d.judged and d.judged.verdict == "Unsure") for d, _ in judged)
    right = sum(record.score.value for _, record in judged)
    counted = [sum(d.scored == way for d in details) for way in ("no answer", "rule")]
    share = f"{len(judged) / len(own):.1%}"
    return len(own), *counted, len(judged), share, int(right), unsure, unread


@table_of_rows(
    "The judge beside people",
    "judge | pairs | better answer refused | worse answer accepted | as people | "
    "no difference | the other way round | unread verdicts",
    note="Pairs of answers of which both annotators say that the same one is more correct, "
    "one of them that it is so by much (RAGChecker's human-judged pairs). People compared the "
    "two and called neither right or wrong, so a better answer that is refused, or a worse "
    "one that is accepted, is an error only as far as one must be right and one wrong.",
)
def _judge(groups: Groups) -> Rows:
    for own in groups.values():
        pairs = [_Checked.model_validate(r.score.details) for r in own if not r.error]
        better = [pair.better == "Correct" for pair in pairs]
        other = [pair.other == "Correct" for pair in pairs]
        both = list(zip(better, other, strict=True))
        unread = sum((pair.better is None) + (pair.other is None) for pair in pairs)
        yield (
            _judge_model(own),
            len(pairs),
            rate([not one for one in better]),
            rate(other),
            sum(one and not two for one, two in both),
            sum(one == two for one, two in both),
            sum(two and not one for one, two in both),
            unread,
        )


def _judge_model(records: Sequence[Record]) -> str:
    return records[0].calls[0].record.model if records[0].calls else records[0].model


@row_per_method(
    "Citations",
    "method | a fact from a gold page | answers that cite a page | citing a gold page | "
    "cited pages that are gold | claims supported",
    note="Of the questions that the documents answer: answers with a fact from a page that "
    "contains the evidence; of those that cite a page, how many cite such a page, and the mean "
    "share of such pages among the cited ones. The last column is over all claims (sentences "
    "of the answers), as the citation check sees them. In brackets: 95 % interval and number.",
)
def _citations(own: Sequence[Record]) -> Cells:
    asked = [record for record in own if _details(record).evidence]
    citing = [record for record in asked if _cited(record)]
    claims = [(bool(claim["supported"]), r.question) for r in own for claim in r.claims]
    return (
        rate_of(asked, lambda r: not {*r.pages()}.isdisjoint(_details(r).evidence)),
        len(citing),
        rate_of(citing, lambda r: _gold_share(r) > 0),
        rate_of(citing, _gold_share),
        rate([one for one, _ in claims], [name for _, name in claims]),
    )


def _cited(record: Record) -> set[tuple[str, int]]:
    numbers = (record.answer or {}).get("facts")
    return {*record.pages(numbers if isinstance(numbers, list) else [])}


def _gold_share(record: Record) -> float:
    """Share of the cited pages that hold the evidence."""
    cited = _cited(record)
    return len(cited & {*_details(record).evidence}) / len(cited)


@table_of_rows(
    "Pages found by the question itself",
    "set | a gold page is found",
    note="One search with the question as it is, as many pages as an agent gets: what "
    "the retrieval gives without any agent.",
)
def _findable(groups: Groups) -> Rows:
    questions = {r.question: r for own in groups.values() for r in own if _details(r).evidence}
    for name in (*SETS, "all"):
        own = [r for r in questions.values() if name in (r.scenario, "all")]
        if own:
            yield name, rate([_details(record).found for record in own])


@row_per_method(
    "What the documents do not answer",
    "method | answers | said to be unknown",
    note="Right is an answer without a short answer that says what is unknown. They are among "
    "the questions of simple 1. An agent that found nothing at all passes as well.",
)
def _unanswerable(own: Sequence[Record]) -> Cells:
    asked = [record for record in own if _details(record).gold is None]
    return (len(asked), sum(int(record.score.value) for record in asked)) if asked else ()


@row_per_method(
    "Cost of an answer, the judge left out",
    "method | calls | tokens | seconds | dollars",
    note="Mean ± sample standard deviation; dollars as mean · median · 95th percentile. "
    "Seconds are wall time, waiting for a busy machine included.",
)
def _cost(own: Sequence[Record]) -> Cells:
    calls = [[c.record for c in r.calls if c.record.role != ANSWER_JUDGE] for r in own]
    judging = [
        sum(call.record.seconds for call in record.calls if call.record.role == ANSWER_JUDGE)
        for record in own
    ]
    costs = [[call.dollars for call in made] for made in calls]
    known = [sum(c for c in made if c is not None) for made in costs if None not in made]
    tokens = [sum(call.input_tokens + call.output_tokens for call in made) for made in calls]
    return (
        mean_and_deviation([len(made) for made in calls]),
        mean_and_deviation(tokens),
        mean_and_deviation([r.seconds - part for r, part in zip(own, judging, strict=True)]),
        spread(known) if len(known) == len(costs) else "unknown price",
    )


def _question_cells(record: Record) -> tuple[Cell, ...]:
    details = _details(record)
    return record.scenario, record.question, details.asked, details.gold


_questions = table_by_part(
    "Each question",
    "set | question | asked | right answer",
    _question_cells,
    lambda own: mean_and_deviation([100 * record.score.value for record in own]),
    order=lambda row: SETS.index(row[0]),
    note="Per cent of trials, mean ± sample standard deviation. No right answer: the documents "
    "do not contain it.",
)
