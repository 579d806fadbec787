"""The rules suite: problem files, what counts as right, the baseline, the command."""

from functools import partial
from pathlib import Path

import bench_command
import pytest
from cases import cases
from json_lines import write_lines
from published import published
from records import answered, record, score
from scripted import Prompt, Reply, act, finding, register, tell

from planweave import BadInput
from planweave.benchmarks.core.metrics import Estimate, longest_chain
from planweave.benchmarks.core.options import published_folder
from planweave.benchmarks.core.store import read
from planweave.benchmarks.suites.rules.judge import read_amount, score_answer
from planweave.benchmarks.suites.rules.load import DOMAINS, LeagueVerdict, Problem, load
from planweave.benchmarks.suites.rules.tables import rules_tables
from planweave.models import CallRecord

bench = partial(bench_command.bench, "rules")

FEE = "Each checked bag costs $40."
ROWS: list[tuple[str, str, int, str, object]] = [
    ("air-1", "airline", 0, "Ann flies to Rome for $100.\n1. A bag;\n2. A box;", 140),
    ("air-2", "airline", 1, "Bob flies to Oslo for $200.\n1. A bag;\n2. A box; 3. A box;", 280),
    ("tax-1", "tax", 0, "Wages: $100.", -387.0),
    ("nba-1", "nba", 2, "A. Team A signs.", {"violation": True, "operation": "A", "team": "A"}),
    ("nba-2", "nba", 0, "C. Team C waits.", {"violation": False, "operation": "C", "team": "C"}),
]
LINES = [dict(zip(("id", "domain", "level", "prompt", "answer"), row, strict=True)) for row in ROWS]
LINES[2] |= {"form_answer": 703.0, "doubts": ["Line 22 says enter 0."]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "rulearena"
    folder.mkdir()
    write_lines(folder / "problems.jsonl.gz", *LINES)
    for domain in DOMAINS:
        (folder / f"rules_{domain}.txt").write_text(f"# Rules of {domain}\n{FEE}\n")
    return folder


def test_published_data_are_where_the_setting_says(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLANWEAVE_PUBLISHED", raising=False)
    with pytest.raises(BadInput, match="The data of rulearena were not given"):
        published_folder("rulearena")
    monkeypatch.setenv("PLANWEAVE_PUBLISHED", str(data.parent))
    assert published_folder("rulearena") == data
    with pytest.raises(BadInput, match=r"There is no folder .*tatqa"):
        published_folder("tatqa")


@cases(
    (0, "140", 1),
    (0, "$140.00", 1),
    (0, "Total: $100 + $40 = $140", 1),
    (0, "USD 140 (ticket $100, bag $40)", 1),
    (0, "$141", 0),
    (0, "$140.02", 0),
    (0, "$100 or $140", 0),
    (0, "about a hundred and forty", 0),
    (0, None, 0),
    (2, "-387", 1),
    (2, "-$387.80", 1),
    (2, "$387 overpaid", 1),
    (2, "a refund of $387", 1),
    (2, "387", 0),
    (2, "703.40", 1),
    (2, "-389", 0),
    (3, "violation: operation A, Team A", 1),
    (3, "Violation: A, Team A", 1),
    (3, "violation: operation A is not allowed for Team A", 1),
    (3, "violation: operation B, Team A", 0),
    (3, "violation: operation A, Team B", 0),
    (3, "violation: operations A, B of Team A", 0),
    (3, "no violation", 0),
    (3, None, 0),
    (4, "no violation", 1),
    (4, "No operation is a violation.", 1),
    (4, "violation: A, Team A", 0),
)
def test_scores_of_answers(line: int, decision: str | None, value: float) -> None:
    problem = Problem.model_validate(LINES[line])
    assert score_answer(problem, answered(decision)).value == value


@cases(("$1.2 thousand", 1200), ("2 bags cost $80", 80), ("5%", None), ("$5 and $6", None))
def test_the_one_amount_of_an_answer(text: str, amount: float | None) -> None:
    assert read_amount(text) == amount


def test_domains_and_levels_are_chosen(data: Path) -> None:
    found = load(data, ["airline", "nba"], [1, 2])
    assert [problem.id for problem in found.problems] == ["air-2", "nba-1"]
    assert FEE in found.rules["nba"].text
    with pytest.raises(BadInput, match="no problem of these"):
        load(data, ["tax"], [2])
    (data / "rules_tax.txt").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="not UTF-8"):
        load(data, ["tax"])
    (data / "rules_tax.txt").unlink()
    with pytest.raises(BadInput, match="rules_tax"):
        load(data, ["tax"])


def analyst(prompt: Prompt) -> Reply:
    """Knows that a bag costs what the rules say."""
    ticket = 100 if "Ann" in prompt.text else 200
    bags = prompt.text.count("A box")
    match prompt.task:
        case "action" if "Fact [1]" not in prompt.text:
            return act("documents", "fee of a checked bag")
        case "action" if "Fact [2]" not in prompt.text:
            return act("calculator", f"total = ${ticket} + {bags} * f1")
        case "action":
            return act("finish")
        case "read":
            return finding(FEE, FEE, "$40")
        case "answer":
            total = 140 if ticket == 100 else 280
            return tell(f"In all it is ${total} [2].", f"${total}")
        case _:
            return {"working": f"{FEE} So it is $140.", "answer": "$140"}


def test_methods_and_the_whole_rules_in_one_prompt(
    data: Path, tmp_path: Path, word_search: None
) -> None:
    model = register(analyst)
    source = ("--data", data, "--domain", "airline", "--embeddings", "none", "--model", model)
    by_search = ("--setting", "whole_collection=off")
    words = (*source, *by_search, "--out", tmp_path / "out", "--json")
    first = bench(*words, "--method", "whole", "--limit", 1)
    assert "0 done before, 1 to do" in first.stderr
    tables = bench_command.printed(bench(*words, "--method", "whole,react"))
    found = [row[:2] for row in tables["Right answers, by domain and level"]]
    assert found == [["airline", 0], ["airline", 1]]
    overview = {row[0]: row[1] for row in tables["Accuracy"]}
    assert (overview["react"]["value"], overview["whole"]["value"]) == (1, 0.5)
    costs = {row[0]: row for row in tables["Cost of a question"]}
    assert [costs["react"][at]["mean"] for at in (2, 3)] == [5, 5]
    assert [costs["whole"][at]["mean"] for at in (2, 3)] == [1, 1]
    other = bench(*words, "--method", "whole,react", "--embeddings", "words:8")
    assert "2 done before, 2 to do" in other.stderr  # the whole rules are not searched
    [path] = (tmp_path / "out").glob("*.jsonl")
    records = read(path).records.values()
    (whole, *_) = [r for r in records if r.method == "whole" and r.question == "air-1"]
    assert FEE in whole.texts[0]
    assert whole.answer is not None
    assert "So it is $140" in str(whole.answer["why"])


def test_the_longest_chain_counts_tasks_of_one_step_once() -> None:
    calls = [
        CallRecord(role="planner", model="m", stage=2, task="planner:1"),
        CallRecord(role="reader", model="m", stage=4, task="reader:1"),
        CallRecord(role="reader", model="m", stage=4, task="reader:2"),
        CallRecord(role="reader", model="m", stage=4, task="reader:2"),
        CallRecord(role="answer", model="m", stage=6, task="answer:1"),
    ]
    assert longest_chain(calls) == 4
    assert longest_chain([]) == 0


def test_problems_with_known_flaws_are_shown_apart() -> None:
    records = []
    for number, problem in enumerate(map(Problem.model_validate, LINES)):
        about = problem.model_dump(mode="json", include={"domain", "level", "doubts"})
        about["parts"] = {"violation": True, "operation": False} if number == 3 else {}
        found = score(float(number != 2), gold="y", **about)
        records.append(record(problem.id, score=found))
    tables = {table.title: table for table in rules_tables(records)}
    [row] = tables["Problems with and without known flaws"].rows
    without, flawed = row[1:]
    assert isinstance(without, Estimate)
    assert isinstance(flawed, Estimate)
    assert (without.value, without.n, flawed.value, flawed.n) == (1, 4, 0, 1)
    [parts] = tables["Parts of the answers about the league"].rows
    assert isinstance(parts[2], Estimate)
    assert parts[2].value == 1
    assert parts[4] is None


@pytest.mark.published
def test_the_published_problems_are_read() -> None:
    found = load(published("rulearena"), DOMAINS)
    assert {problem.domain for problem in found.problems} == {*DOMAINS}
    for problem in found.problems:
        gold = problem.answer
        if isinstance(gold, LeagueVerdict):
            shown = f"violation: {gold.operation}, Team {gold.team}"
            shown = shown if gold.violation else "no violation"
        else:
            shown = f"{gold:.2f}"
        assert score_answer(problem, answered(shown)).value == 1, problem.id
