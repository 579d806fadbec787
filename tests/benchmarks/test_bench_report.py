import sys

from inline_snapshot import snapshot

from benchmarks.record import Called, Record, Score
from benchmarks.report import Report, draw, markdown
from benchmarks.store import Run
from models import CallRecord

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


def record(question, method, value, seconds, **changed):
    call = CallRecord(
        role="planner", model="embedded", input_tokens=900, output_tokens=100, dollars=0.25
    )
    fields = {
        "key": f"{question}/{method}/{changed.get('database')}",
        "suite": "dqa",
        "question": question,
        "scenario": question.partition("-")[0],
        "method": method,
        "database": "graph",
        "model": "embedded",
        "settings": {},
        "started": "",
        "seconds": seconds,
        "score": Score(
            value=value,
            answer="x",
            explanation="",
            details={
                "clean": question.endswith("1"),
                "improves": True,
                "lost_share": 0.0 if value else 0.6,
                "baselines": {"one hop": 1.0},
            },
        ),
        "turns": [{"tool": "cypher", "input": "MATCH (n:Trade_node) RETURN n.ingoing", "fact": 1}],
        "calls": [Called(prompt=(), record=call)],
    }
    return Record.model_validate(fields | changed)


RECORDS = [
    record("locating-1", "iter_rag", 1.0, 10.0),
    record("locating-1", "planrag", 1.0, 20.0),
    record("locating-2", "iter_rag", 0.0, 30.0),
    record("locating-2", "planrag", 0.0, 5.0, error="OSError: no | pipe", calls=[], turns=[]),
]


def test_the_report_as_markdown():
    assert markdown(Report.of([RUN, RUN], RECORDS)) == snapshot("""\
# Results: dqa

- planweave bench dqa --limit 2 · 2026-11-21 · 2 of 301 questions · Some CPU, 2 cores · 8.0 GB · planweave 0.1.0 0123456789ab

## Accuracy

| method | all questions | standard error | no answer | crashed |
|---|---|---|---|---|
| iter_rag | 50.0% [9-91] (2) | 35.4% | 0 | 0 |
| planrag | 50.0% [9-91] (2) | 35.4% | 0 | 1 |

In brackets: the 95 % interval (Wilson, with errors clustered by question) and the number of runs. Runs without an answer and crashed ones count as wrong.

## Accuracy by scenario and database

| scenario | method | relational | paper | graph | paper | both | paper | clean subset |
|---|---|---|---|---|---|---|---|---|
| locating | iter_rag | - | 37.5% | 50.0% [9-91] (2) | 59.5% | 50.0% [9-91] (2) | 48.5% | 100.0% [21-100] (1) |
| locating | planrag | - | 64.5% | 50.0% [9-91] (2) | 64.0% | 50.0% [9-91] (2) | 64.3% | 100.0% [21-100] (1) |

A decision is right if it is the annotated one or, by the simulator, as good. Clean: questions with a single best decision that improves on deciding nothing and to which the rules as printed lead, too. The paper's figures are GPT-4, zero-shot, on all 200 + 101 questions: another model and another sample, not to be compared directly.

## Baselines without a language model, on the same questions

| scenario | baseline | accuracy |
|---|---|---|
| locating | one hop | 100.0% [34-100] (2) |

A decider that does not beat these has not analysed anything.

## Regret

| scenario | method | mean · median · p95 of the gain lost |
|---|---|---|
| locating | iter_rag | 0.3 · 0.3 · 0.57 |
| locating | planrag | 0.3 · 0.3 · 0.57 |

Part of the attainable gain that is lost, by the simulator: 0 is the best decision, 1 no better than deciding nothing; no answer counts 1. Questions that no decision improves are left out.

## Single and multiple retrieval (figure 5)

| scenario | retrieval | method | accuracy | paper |
|---|---|---|---|---|
| locating | single | iter_rag | 50.0% [9-91] (2) | 43.9% |
| locating | single | planrag | 50.0% [9-91] (2) | 65.6% |

Single: iter_rag sent at most one query for this question on this kind of database; multiple: more. Questions that it was not asked, or crashed on, are left out.

## Missed data analysis (table 6)

| scenario | method | missed: none read | at least one unread | paper |
|---|---|---|---|---|
| locating | iter_rag | 0.0% [0-66] (2) | 100.0% [34-100] (2) | 3.3% |
| locating | planrag | 50.0% [9-91] (2) | 100.0% [34-100] (2) | 1.3% |

From the parsed queries that brought rows. Critical are IV (ingoing, or a sum of flow) and TP_total (total_power, or a sum of trading powers) in Locating, CO (current_output) and PD (pop_demand) in Building.

## Failures by class (figure 6)

| scenario | method | CAN | MIS | DEEP | QUR | OTH | wrong | of |
|---|---|---|---|---|---|---|---|---|
| locating | iter_rag | 0 | 0 | 1 | 0 | 0 | 1 | 2 |
| locating | planrag | 0 | 0 | 0 | 0 | 1 | 1 | 2 |

By fixed rules, the first that holds: OTH the run crashed; QUR queries were tried and none brought a row; CAN the answer is no candidate or no better than deciding nothing; OTH no answer; MIS none of the critical values was read; DEEP the rest.

## Re-plannings (table 7)

| scenario | method | 0 | 1 | 2 | 3 | 4 or more |
|---|---|---|---|---|---|---|
| locating | planrag | 50.0% [9-91] (2) | - | - | - | - |
| locating | paper (questions: accuracy) | 376: 66.8% | 0 | 12: 41.7% | 5: 20.0% | 7: 0.0% |

## Methods on the same questions

| first | second | pairs | only first right | only second right | p |
|---|---|---|---|---|---|
| iter_rag | planrag | 2 | 0 | 0 | 1.000 |

Exact McNemar test; only the discordant pairs (the two columns before p) carry information, and where they are few no difference can be shown. p is not corrected for the number of comparisons.

## Cost of a question

| method | calls | tokens | seconds | dollars | replies from cache |
|---|---|---|---|---|---|
| iter_rag | 1 · 1 · 1 | 1,000 · 1,000 · 1,000 | 20 · 20 · 29 | 0.25 · 0.25 · 0.25 | 0 |
| planrag | 0.5 · 0.5 · 0.95 | 500 · 500 · 950 | 12.5 · 12.5 · 19.2 | 0.125 · 0.125 · 0.237 | 0 |

Mean · median · 95th percentile. Seconds are wall time, waiting for a busy model included; a reply from the cache takes none.

## Crashed runs

| runs | error | for example |
|---|---|---|
| 1 | OSError: no \\| pipe | locating-2/planrag/None |
""")


def test_what_is_not_known_is_left_out_and_never_counted_as_zero():
    unpriced = record("distribution-1", "planrag", 1.0, 1.0)
    call = unpriced.calls[0]
    call = call.model_copy(update={"record": call.record.model_copy(update={"dollars": None})})
    report = Report.of([RUN], [unpriced.model_copy(update={"calls": [call]})])
    titles = [table.title for table in report.tables]
    assert "Missed data analysis (table 6)" not in titles
    assert "Crashed runs" not in titles
    cost = next(table for table in report.tables if table.title == "Cost of a question")
    assert cost.rows[0][4] == "unknown price"


def test_the_picture_needs_no_display(tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    page, picture = draw(Report.of([RUN], RECORDS), tmp_path / "new")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"]({picture.name})" in page.read_text("utf-8")


def test_without_matplotlib_the_page_has_no_picture(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert draw(Report.of([RUN], RECORDS), tmp_path) == [tmp_path / "report.md"]
    assert "![" not in (tmp_path / "report.md").read_text("utf-8")
