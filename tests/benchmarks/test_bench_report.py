from inline_snapshot import external_file
from pydantic import JsonValue
from records import record

from planweave.benchmarks.core.record import Called, Record, Score
from planweave.benchmarks.core.report import Report, markdown
from planweave.benchmarks.core.store import Run
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
    details: dict[str, JsonValue] = {
        "clean": question.endswith("1"),
        "improves": True,
        "lost_share": 0.0 if value else 0.6,
        "baselines": {"one hop": 1.0},
    }
    filled = {
        "model": "embedded",
        "seconds": seconds,
        "score": Score(value=value, answer="x", explanation="", details=details),
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


def test_the_report_as_markdown() -> None:
    assert markdown(Report.of([RUN, RUN], RECORDS)) == external_file("report.md", format=".txt")


def test_what_is_not_known_is_left_out_and_never_counted_as_zero() -> None:
    unpriced = full("distribution-1", "planrag", 1.0, 1.0)
    call = unpriced.calls[0]
    call = call.model_copy(update={"record": call.record.model_copy(update={"dollars": None})})
    report = Report.of([RUN], [unpriced.model_copy(update={"calls": [call]})])
    titles = [table.title for table in report.tables]
    assert "Missed data analysis (table 6)" not in titles
    assert "Crashed runs" not in titles
    cost = next(table for table in report.tables if table.title == "Cost of a question")
    assert cost.rows[0][6] == "unknown price"
