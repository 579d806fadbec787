from pathlib import Path

import numpy as np
import pytest
from bench_world import SIZE, write_data
from cases import cases
from records import answered, record, score

from planweave import BadInput
from planweave.benchmarks.core.record import MemoryEntry
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.dqa import analysis
from planweave.benchmarks.suites.dqa.suite import (
    DecisionScorer,
    choose,
    improves,
    lost_share,
    samples,
)
from planweave.learning.experience import experience_of
from planweave.learning.paths import TaskPath, write_paths
from planweave.learning.queries.memory import OWN, load_learned
from planweave.memory import Context
from planweave.simulators.outcome import Outcome
from planweave.simulators.published import load_dataset
from planweave.simulators.registry import scenario
from planweave.simulators.scenario import Question


def asked(name: str, seed: int = 1) -> Question:
    return scenario(name).ask(scenario(name).generate(seed, SIZE), seed)


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Question, ...]:
    return load_dataset(write_data(tmp_path_factory.mktemp("data"), 5)).questions


def test_a_sample_is_fixed_balanced_and_grows(questions: tuple[Question, ...]) -> None:
    both = ("locating", "building")
    six = choose(questions, both, 6, seed=1)
    assert [q.scenario.name for q in six] == [*both] * 3
    assert choose(questions[::-1], both, 6, seed=1) == six
    assert choose(questions, both, 4, seed=1) == six[:4]
    assert choose(questions, both, None, seed=1)[:6] == six
    assert any(choose(questions, both, 6, seed=seed) != six for seed in range(2, 6))
    assert len(choose(questions, both, 100, seed=1)) == 10
    assert {q.scenario.name for q in choose(questions, ["building"], None, 1)} == {"building"}
    with pytest.raises(BadInput, match="no question of the scenario 'distribution'"):
        choose(questions, ["distribution"], 1, seed=1)


@cases("file", OWN)
def test_a_question_in_the_experience_is_refused(
    source: str, questions: tuple[Question, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path))
    file = tmp_path / "kept.jsonl"

    def asked_with(*kept: Question) -> list[Sample]:
        paths = [TaskPath("", f"{q.prompt}\n", ("finish[decision]",)) for q in kept]
        experience_of("alice").add(paths)
        write_paths(file, paths)
        load_learned.cache_clear()
        name = OWN if source == OWN else str(file)
        own = Context(experience=name, owner="alice")
        return samples(
            questions[:2], methods=["path_policy"], databases=["relational"], settings=own
        )

    assert len(asked_with(questions[2])) == 2
    with pytest.raises(BadInput, match=f"contains 1 of the questions, such as {questions[1].id}"):
        asked_with(questions[1], questions[2])


def test_the_same_questions_for_every_method_and_database(
    questions: tuple[Question, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(**settings: object) -> list[Sample]:
        return samples(
            questions[:2],
            methods=("planrag", "single_rag"),
            databases=("relational", "graph"),
            settings=Context.model_validate(settings),
        )

    made = make()
    assert len({sample.key for sample in made}) == len(made) == 8
    assert [s.context.database is None for s in made] == [False, False, True, True] * 2
    for sample in made:
        question = next(q for q in questions if q.id == sample.question)
        assert sample.context.candidates == tuple(map(str, question.candidates))
        assert sample.context.rules == question.rules
        assert str(tmp_path) not in str(sample.settings)
    keys = [sample.key for sample in made]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert [sample.key for sample in make()] == keys
    changes: list[dict[str, object]] = [
        {"max_iterations": 3},
        {"replan": "every_observation"},
        {"models": {"planner": "x"}},
    ]
    for settings in changes:
        assert not {sample.key for sample in make(**settings)} & set(keys)


@cases("locating", "building", "distribution")
def test_answers_are_judged_by_the_simulator(name: str) -> None:
    question = asked(name)
    outcome, judge = question.simulate(), DecisionScorer(question)
    best = judge.score(answered(str(question.answer)))
    assert best.value == 1.0
    assert best.details["lost_share"] == pytest.approx(0.0)
    assert best.details["clean"] is True
    assert best.details["improves"] is True
    worst = outcome.candidates[int(np.argmax([outcome.regret(c) for c in outcome.candidates]))]
    wrong = judge.score(answered(str(worst)))
    assert wrong.value == 0.0
    assert wrong.details["lost_share"] == pytest.approx(1.0)
    for said in (None, answered(None), answered("nowhere")):
        nothing = judge.score(said)
        assert (nothing.value, nothing.details["lost_share"]) == (0.0, 1.0)
    found = best.details["baselines"]
    assert isinstance(found, dict)
    assert all(isinstance(value, float) and 0 <= value <= 1 for value in found.values())
    assert bool(found) is (name != "distribution")


def test_lost_share_by_hand() -> None:
    outcome = Outcome(("a", "b", "c", "d"), np.array([10.0, 7.0, 4.0, 1.0]), "maximise", 4.0)
    assert [lost_share(outcome, name) for name in "abcd"] == [0.0, 0.5, 1.0, 1.0]
    assert [improves(outcome, name) for name in "abcd"] == [True, True, False, False]
    assert lost_share(outcome, None) == 1.0
    prices = Outcome((1, 2, 3), np.array([8.0, 6.0, np.inf]), "minimise", 10.0)
    assert [lost_share(prices, place) for place in (1, 2, 3)] == [0.5, 0.0, 1.0]
    unknown = Outcome((1, 2, 3), np.array([8.0, 6.0, 7.0]), "minimise")
    assert [lost_share(unknown, place) for place in (1, 2, 3)] == [1.0, 0.0, 0.5]
    vain = Outcome(("a", "b"), np.array([1.0, 1.0]), "maximise", 1.0)
    assert lost_share(vain, "a") is None
    assert not improves(vain, "a")


LOC, BLD = "locating", "building"


@cases(
    ("sql", "SELECT t.Ingoing FROM trade_node t", LOC, {"ingoing"}, set()),
    ("sql", "SELECT * FROM flow", LOC, {"source", "dest", "flow"}, set()),
    ("sql", "SELECT COUNT(*) FROM flow", LOC, set(), set()),
    ("sql", "SELECT SUM(flow * 1.05) FROM flow WHERE dest='x'", LOC, {"flow"}, {"flow"}),
    (
        "sql",
        "WITH s AS (SELECT * FROM supply) SELECT g.pop_demand FROM goods g, s",
        BLD,
        {"current_output", "pop_demand", "max_supply"},
        set(),
    ),
    ("sql", "SELECT 'current_output' AS a -- pop_demand", BLD, set(), set()),
    ("cypher", "MATCH (n:Trade_node) RETURN n.ingoing", LOC, {"ingoing"}, set()),
    ("cypher", "MATCH (n:Trade_node) RETURN n", LOC, {"ingoing", "total_power"}, set()),
    ("cypher", "MATCH (n:Trade_node) RETURN count(n)", LOC, set(), set()),
    ("cypher", "MATCH (n:Trade_node) RETURN 'n.ingoing' // n.flow", LOC, set(), set()),
    ("cypher", "MATCH ()-[f:source]->() RETURN sum((f.flow))", LOC, {"flow"}, {"flow"}),
    ("cypher", "MATCH (:Building)-[s:Supply]->(g) RETURN s", BLD, {"current_output"}, set()),
    ("cypher", "MATCH (g:Goods) RETURN g.`pop_demand`", BLD, {"pop_demand"}, set()),
)
def test_what_a_query_reads(
    tool: str, query: str, where: str, columns: set[str], summed: set[str]
) -> None:
    found = analysis.read_columns(tool, query, where)
    assert columns <= found.columns
    assert found.summed == summed
    if not columns:
        assert not found.columns


def turns(*queries: str) -> list[MemoryEntry]:
    """One turn a query; ``!`` before it means that it failed."""
    return [
        {"tool": "sql", "input": query.lstrip("!"), "facts": [] if query[0] == "!" else [1]}
        for query in queries
    ]


READS_POWER = "SELECT total_power FROM trade_node"
READS_IV = "SELECT ingoing FROM trade_node"


def test_missed_data() -> None:
    none = record(turns=turns("SELECT dest FROM flow", f"!{READS_IV}"))
    assert analysis.unread_values(none) == ["IV", "TP_total"]
    assert analysis.has_missed_all(none)
    some = record(turns=turns(READS_IV))
    assert analysis.unread_values(some) == ["TP_total"]
    assert not analysis.has_missed_all(some)
    every = record(turns=turns(READS_IV, READS_POWER))
    assert analysis.unread_values(every) == []
    summed = record(
        turns=turns("SELECT SUM(base_trading_power), SUM(flow) FROM node_country, flow")
    )
    assert analysis.unread_values(summed) == []
    plain = record(turns=turns("SELECT base_trading_power, flow FROM node_country, flow"))
    assert analysis.unread_values(plain) == ["IV", "TP_total"]
    assert analysis.unread_values(record(scenario="distribution")) is None
    assert not analysis.has_missed_all(record(scenario="distribution"))
    assert analysis.retrievals(none) == 2


SILENT = score(0, None, improves=True)
REFUSED = [{"role": "answering_machine", "kind": "not_admitted", "detail": "y"}]


@cases(
    (None, {"score": score(1, improves=True)}),
    ("OTH", {"error": "ValueError: x"}),
    ("QUR", {"turns": turns(f"!{READS_IV}"), "score": SILENT}),
    ("CAN", {"turns": turns(READS_IV), "score": SILENT, "failures": REFUSED}),
    ("CAN", {"turns": turns(READS_IV), "score": score(0, improves=False)}),
    ("OTH", {"turns": turns(READS_IV), "score": SILENT}),
    ("OTH", {"score": SILENT}),
    ("MIS", {"turns": turns("SELECT dest FROM flow")}),
    ("DEEP", {"turns": turns(READS_IV)}),
)
def test_failure_classes(expected: str | None, changed: dict[str, object]) -> None:
    assert analysis.failure_class(record().model_copy(update=changed)) == expected


ROW = "Retrieve the buildings that supply steel"
DEMAND = "Retrieve the demand for steel"
GAIN = "Calculate the new price of steel for each building"
BEST = "Compare the prices and take the lowest"


@cases(
    ([ROW, DEMAND, BEST], [DEMAND, ROW, BEST], "re-order"),
    ([ROW, GAIN], [ROW, "Assume that coal matters most"], "replace"),
    ([ROW, GAIN], [ROW, "Calculate the new price of coal for each building"], "change target"),
    ([ROW, BEST], [ROW, DEMAND, BEST], "add look-up"),
    ([ROW, BEST], [ROW, GAIN, BEST], "add calculation"),
    ([ROW], [ROW, DEMAND, GAIN], "add both actions"),
    (
        ["Retrieve the demand and the supply of steel"],
        ["Retrieve the demand of steel", "Retrieve the supply of steel"],
        "divide to sub-steps",
    ),
    ([ROW], [ROW, "Assume that levels are linear"], "others"),
    ([ROW, DEMAND, GAIN], [ROW, GAIN], "delete"),
    (
        ["Retrieve the demand of steel", "Retrieve the supply of steel", BEST],
        ["Retrieve the demand and the supply of steel", BEST],
        "merge",
    ),
)
def test_kinds_of_re_planning(
    before: list[str], after: list[str], expected: analysis.Category
) -> None:
    assert analysis.replan_category(before, after) == expected


@cases(True, False)
def test_no_decision_is_right_if_nothing_improves(
    improving: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = asked("locating")
    monkeypatch.setattr(Outcome, "improving", improving)
    assert DecisionScorer(question).score(answered("none")).value == float(not improving)
