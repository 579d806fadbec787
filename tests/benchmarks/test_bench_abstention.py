"""Coverage against error, and the calibrated threshold."""

import json
import random
from contextlib import closing
from functools import partial
from pathlib import Path

import bench_command
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import record
from scipy import stats

from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.store import ResultFile
from planweave.benchmarks.suites.query_writing.abstention import (
    ConfidencePoint,
    confidence_points,
    curve,
    find_threshold,
    measure_threshold,
    upper_limit,
)

bench = partial(bench_command.bench, "abstention")


def point(
    number: int,
    confidence: float,
    right: bool = True,
    *,
    answerable: bool = True,
    answered: bool = True,
) -> ConfidencePoint:
    return ConfidencePoint(
        question=f"q{number}",
        confidence=confidence,
        answerable=answerable,
        answered=answered,
        right=right and answerable and answered,
    )


@given(
    st.integers(1, 300) | st.integers(1500, 2500),
    st.data(),
    st.sampled_from((0.5, 0.9, 0.95, 0.99)),
)
def test_the_limit_is_clopper_and_pearsons(n: int, data: st.DataObject, confidence: float) -> None:
    wrong = data.draw(st.integers(0, n))
    exact = 1.0 if wrong == n else float(stats.beta.ppf(confidence, wrong + 1, n - wrong))
    assert upper_limit(wrong, n, confidence) == pytest.approx(exact, abs=1e-9)


def test_without_answers_there_is_no_threshold() -> None:
    assert upper_limit(0, 0) == 1
    assert find_threshold([]) is None
    assert find_threshold([point(n, 0.9, answered=False) for n in range(99)]) is None


BY_HAND = [
    point(1, 0.9),
    point(2, 0.8),
    point(3, 0.8, right=False),
    point(4, 0.4),
    point(5, 0.0, answered=False),
    point(6, 0.85, answerable=False),
    point(7, 0.3, answerable=False),
    point(8, 0.0, answerable=False, answered=False),
]


def test_a_threshold_by_hand() -> None:
    there = measure_threshold(BY_HAND, 0.8)
    assert (there.given, there.wrong) == (4, 2)
    assert there.coverage
    assert there.error
    assert there.refused
    assert (there.coverage.value, there.coverage.n) == (0.6, 5)
    assert (there.error.value, there.error.n) == (0.5, 4)
    assert there.refused.value == pytest.approx(2 / 3)
    assert there.refused.n == 3
    nothing = measure_threshold(BY_HAND, 0.95)
    assert (nothing.given, nothing.error) == (0, None)


def ladder(*wrong: int, number: int = 200) -> list[ConfidencePoint]:
    """Confidences from high to low, with these places wrong."""
    return [point(n, 1 - n / number, n not in wrong) for n in range(number)]


def test_the_threshold_is_the_smallest_within_the_target() -> None:
    assert find_threshold(ladder()) == pytest.approx(1 / 200)  # nothing is wrong: all are answered
    bad = ladder(*range(100, 200))
    found = find_threshold(bad, target=0.1)
    assert found is not None
    there = measure_threshold(bad, found)
    assert there.limit(0.95) <= 0.1
    [below] = [s for s in curve(bad) if s.given == there.given + 1]
    assert below.limit(0.95) > 0.1
    assert 100 < there.given < 110


def test_the_first_threshold_allows_a_wrong_answer() -> None:
    few = ladder(3)
    assert find_threshold(few, spare=0) is None  # 29 answers pass with none wrong, and one is
    assert find_threshold(few, spare=1) == pytest.approx(1 / 200)
    assert find_threshold(ladder(0, 1, 2, 3, 4, 5)) is None
    assert find_threshold(ladder()[:28]) is None  # too few to show that 10 % is held
    assert find_threshold(ladder()[:46]) is not None


def test_a_failure_ends_the_search() -> None:
    """What passes by luck further down is not taken."""
    early = ladder(*range(80, 100), number=1000)
    found = find_threshold(early, target=0.1)
    assert found is not None
    assert 80 < measure_threshold(early, found).given < 100
    assert any(s.limit(0.95) <= 0.1 for s in curve(early) if s.given > 500)


def test_the_target_is_exceeded_as_rarely_as_promised() -> None:
    """On drawn worlds whose true error is known the threshold exceeds the target in few."""
    rng, exceeded, worlds, found = random.Random(5), 0, 100, 0
    for _ in range(worlds):
        points = [
            point(n, confidence, rng.random() > _true_error(confidence))
            for n in range(150)
            if (confidence := round(rng.random(), 2)) >= 0
        ]
        threshold = find_threshold(points, target=0.1, confidence=0.9)
        if threshold is None:
            continue
        found += 1
        above = [_true_error(p.confidence) for p in points if p.confidence >= threshold]
        exceeded += sum(above) / len(above) > 0.1
    assert found > worlds / 2
    assert exceeded / worlds <= 0.1


def _true_error(confidence: float) -> float:
    return max(0.0, 0.5 - 0.6 * confidence)


def run_of(name: str, result: str, confidence: float | None, *, answerable: bool = True) -> Record:
    right = result == ("right" if answerable else "refused")
    details = {"result": result, "answerable": answerable, "confidence": confidence}
    score = Score.model_validate(
        {"value": float(right), "answer": "x", "explanation": "", "details": details}
    )
    return record(name, "guided", key=name, suite="text2sql", score=score, database="")


def test_points_of_records() -> None:
    runs = [
        run_of("a", "right", 0.9),
        run_of("b", "wrong", 0.5),
        run_of("c", "failed", 0.4),
        run_of("d", "refused", None),
        run_of("e", "right", None),  # a method without confidences has no point
        run_of("f", "answered", 0.7, answerable=False),
        run_of("g", "empty", 0.2, answerable=False),
        run_of("h", "refused", None, answerable=False),
    ]
    found = {p.question: p for p in confidence_points(runs)}
    assert [*found] == [*"abcdfgh"]
    assert [name for name, p in found.items() if p.answered] == [*"abfg"]
    assert [name for name, p in found.items() if p.right] == ["a"]
    assert not found["f"].answerable
    crashed = run_of("z", "failed", None).model_copy(update={"error": "x"})
    assert not confidence_points([crashed])[0].answered


def kept(folder: Path, *runs: Record) -> Path:
    path = folder / "results.jsonl"
    with closing(ResultFile(path, print)) as results:
        for run in runs:
            results.append(run)
    return path


def test_the_command(tmp_path: Path) -> None:
    runs = [run_of(f"a{number}", "right", 0.9) for number in range(120)]
    runs += [run_of(f"b{number}", "wrong", 0.2) for number in range(120)]
    runs += [run_of(f"u{number}", "answered", 0.1, answerable=False) for number in range(120)]
    path = kept(tmp_path, *runs)
    done = json.loads(bench(path, "--out", tmp_path / "out", "--json").stdout)
    threshold, steps = done["tables"]
    [row] = threshold["rows"]
    assert (row[0], row[1], row[2]) == ("guided", 0.9, 180)
    assert 0.4 < row[3]["value"] < 0.6
    assert (row[4]["value"], row[6]["value"]) == (0.0, 1.0)
    assert [step[1] for step in steps["rows"]] == [0.9, 0.2, 0.1]
    assert steps["rows"][-1][5]["value"] == pytest.approx(2 / 3)
    assert (tmp_path / "out" / "abstention.png").read_bytes().startswith(b"\x89PNG")
    assert "Calibrated threshold" in (tmp_path / "out" / "abstention.md").read_text("utf-8")


def test_results_without_a_confidence(tmp_path: Path) -> None:
    path = kept(tmp_path, run_of("a", "right", None))
    bench(path, fails="No result in these files has a confidence")
