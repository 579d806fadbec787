from io import StringIO
from pathlib import Path

import pytest
from cases import cases
from records import record, score
from rich.console import Console

from planweave.benchmarks.core import metrics
from planweave.benchmarks.core.record import Called, Record
from planweave.benchmarks.core.report import Report, draw, show, show_tables
from planweave.benchmarks.core.store import Run
from planweave.benchmarks.core.table import ReportTable
from planweave.models import CallRecord

RUN = Run(
    suite="dqa",
    command="planweave bench dqa --limit 2",
    started="2026-11-21T05:00:00+00:00",
    models=["embedded"],
    settings={},
    versions={"planweave": "0.1.0"},
    machine={"processor": "Some CPU", "cores": 2, "memory_gb": 8.0},
    commit="0123456789ab",
    data={"questions": 301, "chosen": 2},
)


def full(question: str, method: str, value: float, seconds: float, **changed: object) -> Record:
    """A record that has something for every table."""
    call = CallRecord(
        role="planner", model="embedded", input_tokens=900, output_tokens=100, dollars=0.25
    )
    details = {"lost_share": 0.0 if value else 0.6, "baselines": {"one hop": 1.0}}
    filled = {
        "model": "embedded",
        "seconds": seconds,
        "score": score(value, clean=question.endswith("1"), improves=True, **details),
        "turns": [
            {"tool": "cypher", "input": "MATCH (n:Trade_node) RETURN n.ingoing", "facts": [1]}
        ],
        "calls": [Called(prompt=(), record=call)],
    }
    return record(question, method, value, **filled | changed)


CRASHED = {"error": "OSError: no | pipe", "calls": [], "turns": []}
RECORDS = [
    full("locating-1", "iter_rag", 1.0, 10.0),
    full("locating-1", "planrag", 1.0, 20.0),
    full("locating-2", "iter_rag", 0.0, 30.0),
    full("locating-2", "planrag", 0.0, 5.0, key="locating-2/planrag/None", **CRASHED),
]


def test_the_report_as_markdown(tmp_path: Path) -> None:
    expected = Path(__file__).with_name("report.md").read_text(encoding="utf-8")
    (page,) = draw(Report.of([RUN, RUN], RECORDS), tmp_path)
    assert page.read_text(encoding="utf-8") == expected


def test_each_models_questions_are_split_by_its_own_retrievals() -> None:
    twice = full("locating-1", "iter_rag", 1.0, 1.0).turns * 2
    records = [
        full("locating-1", method, 1.0, 1.0, model=model, turns=turns, key=f"{method} {model}")
        for model, turns in (("large", []), ("small", twice))
        for method in ("iter_rag", "planrag")
    ]
    tables = {table.title: table for table in Report.of([RUN], records).tables}
    split = tables["Single and multiple retrieval (figure 5)"]
    parts = {(row[1], str(row[2]).split()[-1]) for row in split.rows}
    assert parts == {("single", "large"), ("multiple", "small")}


def test_unknown_figures_are_left_out_and_never_counted_as_zero() -> None:
    unpriced = full("distribution-1", "planrag", 1.0, 1.0)
    call = unpriced.calls[0]
    call = call.model_copy(update={"record": call.record.model_copy(update={"dollars": None})})
    report = Report.of([RUN], [unpriced.model_copy(update={"calls": [call]})])
    titles = [table.title for table in report.tables]
    assert "Missed data analysis (table 6)" not in titles
    assert "Crashed runs" not in titles
    cost = next(table for table in report.tables if table.title == "Cost of a question")
    assert cost.rows[0][6] == "unknown price"


@cases("Search[Ed Wood]", "a closing [/b] of nothing", "at 12:m:30")
def test_the_text_of_a_cell_is_no_markup(words: str) -> None:
    shown = StringIO()
    table = ReportTable(title=words, columns=(words,), rows=[(words,)])
    show_tables([table], Console(file=shown, width=80))
    assert shown.getvalue().count(words) == 3


def test_a_head_without_counts_is_shown_without_them() -> None:
    shown = StringIO()
    bare = RUN.model_copy(update={"data": {"chosen": 2}})
    show(Report.of([bare], RECORDS), Console(file=shown, width=200))
    assert "planweave bench dqa --limit 2 · 2026-11-21 · Some CPU" in shown.getvalue()


def test_installed_packages_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look takes a tenth of a second: once a record it would be minutes."""
    looks: list[None] = []

    class Methods:
        def names(self) -> tuple[str, ...]:
            looks.append(None)
            return ("planrag", "iter_rag")

    monkeypatch.setattr(metrics, "METHODS", Methods())
    assert list(metrics.group_by_method(RECORDS)) == ["iter_rag", "planrag"]
    assert len(looks) == 1
