"""A result file as it may be passed on: everything that a report needs, and no text of the data."""

from pathlib import Path

import pytest
from bench_command import bench
from records import record

from planweave.benchmarks.core.record import Called
from planweave.benchmarks.core.report import Report
from planweave.benchmarks.core.store import ResultFile, read
from planweave.models import CallRecord

SECRET = "Words of a page that is not ours."
QUOTE = {"document": "a.pdf", "page": 3, "text": SECRET}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "full.jsonl"
    call = CallRecord(role="reader", model="m", reply="{}", input_tokens=7)
    facts = [
        {"number": 1, "text": SECRET, "source": "documents", "quote": QUOTE},
        {"number": 2, "text": "price 3", "source": "sql", "quote": None},
        {"number": 3, "text": SECRET, "source": "environment", "query": "Search[it]"},
    ]
    file = ResultFile(path, print)
    file.append(
        record(
            texts=[SECRET],
            plan=[f"Search[{SECRET}]"],
            facts=facts,
            calls=[Called(prompt=(("human", 0),), record=call)],
        )
    )
    file.close()
    return path


def test_prompts_and_pages_are_left_out_and_the_report_stays(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "public.jsonl"
    bench("publish", results, "--out", out)
    assert SECRET in results.read_text()
    assert SECRET not in out.read_text()
    (told,) = read(out).records.values()
    assert [fact["text"] for fact in told.facts] == ["", "price 3", ""]
    assert told.facts[0]["quote"] == {"document": "a.pdf", "page": 3, "text": ""}
    assert told.tokens == 7
    before, after = (Report.of([], [*read(p).records.values()]).as_json() for p in (results, out))
    assert before == after


def test_a_file_is_not_overwritten(results: Path) -> None:
    bench("publish", results, "--out", results, fails="--out")
    assert SECRET in results.read_text()
