from pathlib import Path

import pytest
from bench_command import bench
from cases import cases
from records import record, score

from planweave import BadInput
from planweave.benchmarks.core.record import Called, Record
from planweave.benchmarks.core.report import Report
from planweave.benchmarks.core.store import ResultFile, Run, read, read_all
from planweave.models import CallRecord


def finished(key: str, value: float = 1.0) -> Record:
    return record(key=key, score=score(value, best=["x", float("nan")]))


RUN = Run(
    suite="dqa", command="p", started="2026-01", models=["m"], settings={}, versions={}, machine={}
)


def silent(said: str) -> None:
    raise AssertionError(said)


def filled(path: Path, *keys: str) -> Path:
    results = ResultFile(path, silent)
    results.append(RUN)
    for key in keys:
        results.append(finished(key))
    results.close()
    return path


def test_the_later_line_of_a_key_counts_and_no_text_ends_a_benchmark(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.jsonl", "one")
    results = ResultFile(path, silent)
    later = finished("one", 0.0)
    results.append(later.model_copy(update={"error": "It says \ud83d - no more."}))
    results.close()
    (found,) = read(path).records.values()
    assert (found.score.value, found.error) == (0.0, "It says ? - no more.")


@cases(1, 20, 200)
def test_an_incomplete_last_line_is_moved_aside_and_only_it_is_redone(
    cut: int, tmp_path: Path
) -> None:
    path = filled(tmp_path / "a.jsonl", "one", "two")
    whole = path.read_bytes()
    path.write_bytes(whole[: -1 - cut])
    assert list(read(path).records) == ["one"]
    said: list[str] = []
    results = ResultFile(path, said.append)
    results.append(finished("two"))
    results.close()
    assert "incomplete" in said[0]
    assert path.read_bytes() == whole
    torn = (tmp_path / "a.jsonl.torn").read_bytes()
    assert whole.splitlines()[-1].startswith(torn.rstrip(b"\n"))
    assert len(torn) > 1
    path.write_bytes(whole[:-1])  # a last line that lacks only its newline is kept
    ResultFile(path, silent).close()
    assert path.read_bytes() == whole


WITH_SCORE = f'{{"kind":"sample",{finished("three").model_dump_json()[1:]}'


@cases(
    b"\x00\x00\x00",
    b'{"kind": "sample"}',
    b"",
    b"\xff\xfe",
    WITH_SCORE.replace('"value":1.0', '"value":NaN').encode(),
    WITH_SCORE.replace('"value":1.0', '"value":-Infinity').encode(),
)
def test_a_damaged_line_is_named_and_nothing_is_changed(line: bytes, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.jsonl", "one", "two")
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = b"".join([lines[0], line, b"\n", *lines[1:]])
    path.write_bytes(damaged)
    for use in (lambda: ResultFile(path, silent), lambda: read(path)):
        with pytest.raises(BadInput, match=r"a\.jsonl is damaged in line 2"):
            use()
    assert path.read_bytes() == damaged
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_several_files_are_one_result(tmp_path: Path) -> None:
    one = filled(tmp_path / "a.jsonl", "one", "both")
    two = filled(tmp_path / "b.jsonl", "both", "two")
    two.write_bytes(two.read_bytes()[:-5])
    said: list[str] = []
    together = read_all([one, two], said.append)
    assert list(together.records) == ["one", "both"]
    assert len(together.runs) == 2
    assert said == [f"The last line of {two} is incomplete and was skipped."]


SECRET = "Words of a page that is not ours."


def test_a_file_is_published_without_prompts_and_pages_and_reports_the_same(tmp_path: Path) -> None:
    full, out = tmp_path / "full.jsonl", tmp_path / "public.jsonl"
    quote = {"document": "a.pdf", "page": 3, "text": SECRET}
    facts = [
        {"number": 1, "text": SECRET, "source": "documents", "quote": quote},
        {"number": 2, "text": "price 3", "source": "sql", "quote": None},
        {"number": 3, "text": SECRET, "source": "environment", "query": "Search[it]"},
    ]
    call = CallRecord(role="reader", model="m", reply="{}", input_tokens=7)
    calls = [Called(prompt=(("human", 0),), record=call)]
    results = ResultFile(full, silent)
    results.append(record(texts=[SECRET], plan=[f"Search[{SECRET}]"], facts=facts, calls=calls))
    results.close()
    bench("publish", full, "--out", full, fails="--out")
    bench("publish", full, "--out", out)
    assert SECRET in full.read_text()
    assert SECRET not in out.read_text()
    (told,) = read(out).records.values()
    assert [fact["text"] for fact in told.facts] == ["", "price 3", ""]
    assert told.facts[0]["quote"] == quote | {"text": ""}
    assert told.tokens == 7
    before, after = (Report.of([], [*read(p).records.values()]).as_json() for p in (full, out))
    assert before == after
