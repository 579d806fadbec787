"""The shop suite: perfect and wrong queries, verdicts, the command."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import bench_command
import pytest
from cases import cases
from langchain_core.messages import BaseMessage
from records import answered, record, score
from scripted import Prompt, Reply, act, decide, keep, plan, register
from speaking import speaks

from planweave.benchmarks.core.metrics import Estimate
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.store import read
from planweave.benchmarks.suites.shop.suite import choose, is_same, samples, score_decision
from planweave.benchmarks.suites.shop.tables import grade_run, is_vouched_for, shop_tables
from planweave.memory import Context
from planweave.simulators.shops import DOMAINS, ShopDecision
from planweave.tools.connect import open_database

bench = partial(bench_command.bench, "shop")

SEED = 4


def perfect(decision: ShopDecision) -> str:
    return decision.query


def turned_round(decision: ShopDecision) -> str:
    head, last = decision.query.rsplit(" LIMIT 1", 1)
    return f"{head.removesuffix(' DESC')}{'' if head.endswith(' DESC') else ' DESC'} LIMIT 1{last}"


def analyst(query: Callable[[ShopDecision], str], only: tuple[str, ...] = DOMAINS) -> str:
    """A model that asks this query and decides for what it returns."""
    decisions = [asked.decision for asked in choose(only, SEED, None)]

    def reply(prompt: Prompt) -> Reply:
        asked = next(d for d in decisions if d.text in prompt.messages[0].text)
        if prompt.task == "plan":
            return plan("Ask the database.")
        if prompt.task == "judge":
            return keep()
        if prompt.task == "decide":
            [found, *_] = re.findall(r"^Fact \[1\]: .*\n(.+)$", prompt.text, re.MULTILINE)
            return decide(found, 1)
        if "Fact [1]" in prompt.messages[1].text and "- finish" in prompt.messages[1].text:
            return act("finish")
        return act("sql", query(asked))

    return register(reply)


@cases((perfect, 1.0, DOMAINS), (turned_round, 0.0, DOMAINS[:2]))
def test_queries_and_what_they_are_worth(
    query: Callable[[ShopDecision], str], share: float, shops: tuple[str, ...], tmp_path: Path
) -> None:
    words = ("--method", "single_rag", "--seed", SEED, "--out", tmp_path / "out", "--json")
    model = analyst(query, shops)
    done = bench("--model", model, "--shop", ",".join(shops), *words)
    tables = bench_command.printed(done)
    [row] = tables["Decisions and what the check says of them"]
    assert row[1]["value"] == share
    assert row[1]["n"] == 6 * len(shops)
    assert row[2]["value"] + row[3]["value"] == 1 - share
    assert row[4]["value"] == 0
    assert [shop[1]["value"] for shop in tables["Right, by shop"]] == [share] * len(shops)


def test_one_query_can_decide(tmp_path: Path) -> None:
    """The baseline: no plan, no answer in words, the first value of the first row."""
    asked = choose(("energy",), SEED, None)
    prompts: list[str] = []

    def write(messages: Sequence[BaseMessage]) -> str:
        prompts.append(messages[0].text)
        one = next(a for a in asked if a.decision.text in messages[0].text)
        if one.decision.name == "best saver":
            return "SELECT nothing"
        return f"```sql\n{one.decision.query}\n```"

    words = ("--shop", "energy", "--method", "plain", "--model", speaks(write), "--seed", SEED)
    bench(*words, "--out", tmp_path / "out")
    [path] = (tmp_path / "out").glob("*.jsonl")
    results = {r.question: grade_run(r) for r in read(path).records.values()}
    assert len(results) == 6
    assert {n for n, r in results.items() if r != "right"} == {f"energy-{SEED}-best-saver"}
    assert results[f"energy-{SEED}-best-saver"] == "undecided"
    assert all("CREATE TABLE readings" in t and "A reading without kwh" in t for t in prompts)


def test_samples_hold_the_rules_and_candidates(tmp_path: Path) -> None:
    asked = choose(DOMAINS, SEED, None)
    made = samples(asked, methods=["single_rag", "planrag"], settings=Context())
    by_id = {one.id: one for one in asked}
    assert len({sample.key for sample in made}) == len(made) == 2 * len(asked)
    for sample in made:
        one = by_id[sample.question]
        assert sample.context.rules == one.shop.rules
        assert bool(sample.context.candidates) == bool(one.decision.candidates)
        best = one.decision.best
        assert not sample.context.candidates or best in sample.context.candidates
        assert open_database(str(sample.context.database)).schema().entities
    others = samples(choose(DOMAINS, 5, None), methods=["single_rag"], settings=Context())
    assert not {s.key for s in others} & {s.key for s in made}
    assert len([*tmp_path.rglob("*.sql")]) == 2 * len(DOMAINS)
    assert choose(DOMAINS, SEED, 7) == choose(DOMAINS, SEED, 20)[:7]


DECISION = ShopDecision(name="d", text="?", values={"Ann": 3, "Bob": 2, "Cy": 1}, query="")


@cases(
    ("Ann", "right"),
    (" ann.", "right"),
    ("Bob", "wrong"),
    ("Ann or Bob", "wrong"),
    ("", "undecided"),
    (None, "undecided"),
)
def test_a_decision_is_judged(said: str | None, result: str) -> None:
    found = score_decision(DECISION, answered(said))
    assert found.details["result"] == result
    assert found.value == float(result == "right")
    assert score_decision(DECISION, None).details["result"] == "undecided"


def test_an_id_may_have_words_around_it() -> None:
    assert is_same("delivery 17", "17")
    assert not is_same("17 or 18", "17")
    assert not is_same("117", "17")
    several = replace(DECISION, values={"17": 2, "1": 1, "3": 0})
    assert score_decision(several, answered("Delivery no. 17")).value


def run_of(result: str, *supported: bool, error: str = "") -> Record:
    claims = [{"text": "t", "facts": [1], "supported": s, "reason": ""} for s in supported]
    found = score(float(result == "right"), result=result, best="Ann", decision="d")
    name = f"{result}-{supported}-{error}"
    return record(name, "single_rag", suite="shop", score=found, claims=claims, error=error)


RUNS = [
    (run_of("right", True), "right"),
    (run_of("right", False), "right"),
    (run_of("wrong", True, True), "vouched"),
    (run_of("wrong", True, False), "flagged"),
    (run_of("wrong"), "flagged"),
    (run_of("undecided", True), "undecided"),
    (run_of("wrong", True, error="ValueError: x"), "undecided"),
]


@pytest.mark.parametrize(("run", "expected"), RUNS)
def test_the_verdict_on_a_run(run: Record, expected: str) -> None:
    assert grade_run(run) == expected


@cases(("supported", True), ("not_in_facts", False))
def test_a_typed_verdict_counts_before_claims(kind: str, vouched: bool) -> None:
    answer = {"decision": "Bob", "verdict": {"kind": kind, "text": "t"}}
    run = run_of("wrong", not vouched).model_copy(update={"answer": answer})
    assert is_vouched_for(run) is vouched
    assert grade_run(run) == ("vouched" if vouched else "flagged")


def test_the_table_of_verdicts() -> None:
    [table, *_] = shop_tables([run for run, _ in RUNS])
    [row] = table.rows
    counts = [round(cell.value * 7) for cell in row if isinstance(cell, Estimate)]
    assert counts == [2, 1, 2, 2]
    assert row[-1] == 1
    assert not is_vouched_for(RUNS[4][0])
