from pathlib import Path

import pytest
from cases import cases
from pydantic import JsonValue
from records import record

from planweave import BadInput
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.store import ResultFile, Run, read, read_all


def finished(key: str, value: float = 1.0) -> Record:
    details: dict[str, JsonValue] = {"best": ["x", float("nan")]}
    score = Score(value=value, answer="x", explanation="", details=details)
    return record(key=key, score=score)


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


def test_the_later_line_of_a_key_counts(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.jsonl", "one")
    results = ResultFile(path, silent)
    results.append(finished("one", value=0.0))
    results.close()
    assert read(path).records["one"].score.value == 0.0


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


def test_a_last_line_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.jsonl", "one", "two")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    ResultFile(path, silent).close()
    assert path.read_bytes() == whole


@cases(b"\x00\x00\x00\n", b'{"kind": "sample"}\n', b"\n", b"\xff\xfe\n")
def test_a_damaged_line_is_named_and_nothing_is_changed(line: bytes, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.jsonl", "one", "two")
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = b"".join([lines[0], line, *lines[1:]])
    path.write_bytes(damaged)
    for use in (lambda: ResultFile(path, silent), lambda: read(path)):
        with pytest.raises(BadInput, match=r"a\.jsonl is damaged in line 2"):
            use()
    assert path.read_bytes() == damaged
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


@cases("NaN", "Infinity", "-Infinity")
def test_a_score_that_is_no_number_is_damage(value: str, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.jsonl", "one", "two")
    first, found, rest = path.read_text().partition('"score":{"value":')
    assert found
    path.write_text(f"{first}{found}{value},{rest.partition(',')[2]}")
    with pytest.raises(BadInput, match=r"a\.jsonl is damaged in line"):
        read(path)


def test_several_files_are_one_result(tmp_path: Path) -> None:
    one = filled(tmp_path / "a.jsonl", "one", "both")
    two = filled(tmp_path / "b.jsonl", "both", "two")
    two.write_bytes(two.read_bytes()[:-5])
    said: list[str] = []
    together = read_all([one, two], said.append)
    assert list(together.records) == ["one", "both"]
    assert len(together.runs) == 2
    assert said == [f"The last line of {two} is incomplete and was skipped."]


def test_half_of_a_surrogate_pair_does_not_end_a_benchmark(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.jsonl", "one")
    results = ResultFile(path, silent)
    results.append(finished("two").model_copy(update={"error": "It says \ud83d - no more."}))
    results.close()
    assert read(path).records["two"].error == "It says ? - no more."
