"""The threshold above which a question is refused."""

from pathlib import Path

from bench_command import bench
from json_lines import write_lines
from scripted import register

from planweave.benchmarks.suites.query_writing.refusal import (
    QuestionChance,
    calibrate,
    find_threshold,
)


def test_the_threshold_is_the_conformal_quantile() -> None:
    chances = [place / 10 for place in range(10)]
    assert find_threshold(chances, 0.5) == 0.4  # the fifth smallest of ten: floor(11 * 0.5)
    assert find_threshold(chances, 0.1) == 0.0
    assert find_threshold(chances, 0.05) is None  # nineteen questions are needed for that


def test_the_threshold_is_measured_on_the_other_half() -> None:
    known = [QuestionChance(f"known {number}", True, 1 - number / 100) for number in range(60)]
    unknown = [QuestionChance(f"unknown {number}", False, 0.1) for number in range(40)]
    found = calibrate([*known, *unknown], target=0.2, seed=1)
    assert found.threshold is not None
    assert found.lost is not None
    assert found.refused is not None
    assert 0.4 < found.threshold < 0.7
    assert found.calibrated_on + found.lost.n == 60
    assert found.refused.value == 1


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
        lines: list[dict[str, object]] = [
            {"id": f"{name}{n}", "db_id": "shop", "question": question.format(n), "gold": gold}
            for n in range(count)
        ]
        write_lines(tmp_path / f"{name}.jsonl", *lines)
    model = register(lambda prompt: "no" if "weather" in prompt.text else "Yes.")
    out = tmp_path / "out"
    bench("refusal", "--data", tmp_path, "--model", model, "--out", out, "--json")
    assert "| 0.5 | 100.0%" in (out / "refusal.md").read_text()
