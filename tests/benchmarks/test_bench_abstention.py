"""Thresholds below which a question is not answered: of confidence, and of a chance."""

import json
import random
from contextlib import closing
from functools import partial
from pathlib import Path

import bench_command
import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_lines import write_lines
from records import record, score
from scipy import stats
from scripted import register

from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.store import ResultFile
from planweave.benchmarks.suites.query_writing.abstention import (
    ConfidencePoint,
    calibrate,
    confidence_points,
    curve,
    find_threshold,
    measure_threshold,
    upper_limit,
)
from planweave.benchmarks.suites.query_writing.refusal import find_threshold as find_quantile

bench = partial(bench_command.bench, "abstention")


def point(number: int, confidence: float, right: bool = True, **changed: bool) -> ConfidencePoint:
    """A right answer to a question that can be answered, if nothing else is given."""
    given = {"answerable": True, "answered": True} | changed
    right = right and all(given.values())
    return ConfidencePoint(question=f"q{number}", confidence=confidence, right=right, **given)


@given(
    st.integers(1, 300) | st.integers(1500, 2500),
    st.data(),
    st.sampled_from((0.5, 0.9, 0.95, 0.99)),
)
def test_the_limit_is_clopper_and_pearsons(n: int, data: st.DataObject, confidence: float) -> None:
    wrong = data.draw(st.integers(0, n))
    exact = 1.0 if wrong == n else float(stats.beta.ppf(confidence, wrong + 1, n - wrong))
    assert upper_limit(wrong, n, confidence) == pytest.approx(exact, abs=1e-9)


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
    shares = [(one.value, one.n) for one in (there.coverage, there.error, there.refused) if one]
    assert shares == [(0.6, 5), (0.5, 4), (pytest.approx(2 / 3), 3)]
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
    assert upper_limit(0, 0) == 1
    assert find_threshold([]) is None
    assert find_threshold([point(n, 0.9, answered=False) for n in range(99)]) is None


def test_a_failure_ends_the_search() -> None:
    """What passes by luck further down is not taken."""
    early = ladder(*range(80, 100), number=400)
    found = find_threshold(early, target=0.1)
    assert found is not None
    assert 80 < measure_threshold(early, found).given < 100
    assert any(s.limit(0.95) <= 0.1 for s in curve(early) if s.given > 300)


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
    found = score(float(right), result=result, answerable=answerable, confidence=confidence)
    return record(name, "guided", key=name, suite="text2sql", score=found, database="")


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


def test_the_command(tmp_path: Path) -> None:
    runs = [run_of(f"a{number}", "right", 0.9) for number in range(120)]
    runs += [run_of(f"b{number}", "wrong", 0.2) for number in range(120)]
    runs += [run_of(f"u{number}", "answered", 0.1, answerable=False) for number in range(120)]
    path = tmp_path / "results.jsonl"
    with closing(ResultFile(path, print)) as results:
        results.append(run_of("a", "right", None))
        bench(path, fails="No result in these files has a confidence")
        for run in runs:
            results.append(run)
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


def test_the_threshold_is_the_conformal_quantile() -> None:
    chances = [point(place, place / 10) for place in range(10)]
    unanswerable = [point(10, 0.0, answerable=False)]
    assert find_quantile(chances + unanswerable, 0.5) == 0.4  # the fifth of ten: floor(11 * 0.5)
    assert find_quantile(chances, 0.1) == 0.0
    assert find_quantile(chances, 0.05) is None  # nineteen questions are needed for that


def test_the_threshold_is_measured_on_the_other_half() -> None:
    known = [point(number, 1 - number / 100) for number in range(60)]
    unknown = [point(number, 0.1, answerable=False) for number in range(60, 100)]
    found = calibrate([*known, *unknown], partial(find_quantile, target=0.2), seed=1)
    assert found.threshold is not None
    assert 0.4 < found.threshold < 0.7
    assert found.calibrated_on == 50
    assert found.measured is not None
    assert found.measured.coverage is not None
    assert found.measured.refused is not None
    assert found.measured.coverage.n + found.measured.refused.n == 50
    assert found.measured.refused.value == 1


def test_the_command_asks_the_model_and_writes_the_table(tmp_path: Path) -> None:
    (tmp_path / "databases").mkdir()
    (tmp_path / "databases" / "shop.sql").write_text(
        "CREATE TABLE lamp (id INTEGER PRIMARY KEY, colour TEXT, price REAL);"
        "INSERT INTO lamp VALUES (1, 'red', 3);"
    )
    price, weather = "What is the price of lamp {}?", "What is the weather in {}?"
    for name, question, gold, count in (
        ("questions", price, "SELECT price FROM lamp", 40),
        ("unanswerable", weather, "", 10),
    ):
        line = {"db_id": "shop", "gold": gold}
        lines = (line | {"id": f"{name}{n}", "question": question.format(n)} for n in range(count))
        write_lines(tmp_path / f"{name}.jsonl", *lines)
    model = register(lambda prompt: "no" if "weather" in prompt.text else "Yes.")
    out = tmp_path / "out"
    words = ("refusal", "--data", tmp_path, "--model", model, "--out", out, "--json")
    calibrated, steps, errors = json.loads(bench_command.bench(*words).stdout)["tables"]
    [row] = calibrated["rows"]
    assert [row[at]["value"] for at in (3, 4, 6)] == [1, 0, 1]  # coverage, error, refused
    assert [[cell["value"] for cell in step[4:]] for step in steps["rows"]] == [
        [1, 0, 1],
        [1, 0.2, 0],
    ]
    assert errors["rows"] == []
    assert "Calibrated threshold" in (out / "refusal.md").read_text()
