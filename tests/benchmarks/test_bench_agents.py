"""The document agents' benchmark as a person runs it: real graphs and search, scripted models."""

from collections import Counter
from pathlib import Path

import bench_command
import pytest
from bench_command import rows
from cases import cases
from json_lines import write_lines
from published import published
from pydantic import JsonValue
from records import answered, record, score
from scripted import Prompt, Reply, act, playing, tell
from snapshots import compare
from typer.testing import Result

from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.store import read
from planweave.benchmarks.suites.agents.judge import Human, Pair
from planweave.benchmarks.suites.agents.questions import SETS, choose, load
from planweave.benchmarks.suites.agents.suite import Trial, full_answer
from planweave.benchmarks.suites.agents.tables import agent_tables
from planweave.memory import Answer
from planweave.models import ModelRequest, register_provider
from planweave.nodes.support.judges import ANSWER_JUDGE
from planweave.testing import ScriptedModel
from planweave.tools.documents.store import collections

PAGES = [
    "Hydrogen from coal had a share of almost 60% of 28 Mt in 2023.",
    "Steel would raise the price of a car by around 1%.",
    "The tax credit is USD 85 per tonne. Allocation by energy gives 58.6 g.",
]
REPORTS = [
    ("h1", "lookup", "How much does steel raise the price of a car?", "around 1%", [2]),
    ("h2", "lookup", "What share of which total came from coal?", "almost 60% of 28 Mt", [1]),
    ("h3", "comparison", "Which allocation is highest, and how much?", "by energy: 58.6 g", [3]),
    ("h4", "calculation", "What is the credit for 9 kg?", "9 x 0.085 = USD 0.765 (USD 0.8)", [3]),
    ("h5", "unanswerable", "What discount rate was used for ships?", "not stated", []),
]
TABLES = [
    ("t1", ["$ 1,318.6"], "span", "", False, "million", "What were metered sales?"),
    ("t2", ["metered", "other"], "multi-span", "", False, "", "Which kinds of sale are there?"),
    ("t3", ["2019"], "span", "1>0", True, "", "In which year were sales the largest?"),
    ("t4", "2", "count", "a##b", False, "", "How many years had sales above 1?"),
    ("t5", -23.53, "arithmetic", "(52-68)/68", False, "percent", "What is the change in other?"),
    ("t6", 3, "arithmetic", "", False, "", "What has no derivation?"),
]
"""Replies of the scripted agent by question: short answer, text, and what is unknown."""
SAYS: dict[str, tuple[str | None, str, str]] = {
    "How much does steel": ("about 1 per cent", "A car costs 1% more [1].", ""),
    "What share of which": ("60%", "It was 60% [1].", ""),
    "Which allocation is": ("by energy, 58.6 g", "Allocation by energy [1].", ""),
    "What is the credit": ("9 x 0.085 = 0.7", "The credit is USD 0.7 [1].", ""),
    "What discount rate": (None, "", "No page tells the rate."),
    "What were metered": ("$1,318.6 million", "Sales were 1,318.6 [1].", ""),
    "Which kinds of sale": ("metered", "They are metered [1].", ""),
    "In which year": ("2019", "It was 2019 [1].", ""),
    "How many years": ("two", "Two years [1].", ""),
    "What is the change": (None, "It fell by 23.53% [1].", ""),
}


def pair(number: int, *correctness: int) -> Pair:
    humans = [Human(correctness=given) for given in correctness]
    return Pair(
        instance_id=number,
        dataset="d",
        query="Which colour?",
        gt_answer="blue",
        response_a="It is red.",
        response_b="It is blue.",
        human=humans,
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    for name in ("docs", "tatqa", "rag_eval"):
        (folder / name).mkdir(parents=True)
    names = ("id", "kind", "question", "answer", "pages")
    asked = [dict(zip(names, one, strict=True)) | {"doc": "report"} for one in REPORTS]
    write_lines(folder / "docs" / "questions.jsonl", *asked)
    pages = [{"page": n, "text": page} for n, page in enumerate(PAGES, start=1)]
    write_lines(folder / "docs" / "report_pages.jsonl", *pages)
    fields = ("uid", "answer", "answer_type", "derivation", "req_comparison", "scale", "question")
    sales = [["", "2019", "2018"], ["Metered", "$ 1,318.6", "$ 1,207"], ["Other", "52", "68"]]
    contexts = [
        {
            "table": {"uid": f"table-{n}", "table": sales},
            "paragraphs": [{"order": 2, "text": "In millions."}, {"order": 1, "text": "Sales:"}],
            "questions": [dict(zip(fields, one, strict=True)) for one in questions],
        }
        for n, questions in enumerate((TABLES, []))
    ]
    write_lines(folder / "tatqa" / "dev.jsonl.gz", *contexts)
    pairs = [pair(1, 2, 1), pair(2, 0, 2), pair(3, 1, 1), pair(4, -1, -2), pair(5, 2, -2)]
    lines = [one.model_dump(mode="json") for one in pairs]
    write_lines(folder / "rag_eval" / "ragchecker_human_pairs.jsonl.gz", *lines)
    return folder


class Agent:
    """Searches, reads, answers with :data:`SAYS`; as a judge it accepts what is blue."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.seeds: list[int | None] = []
        self.verdict = "Correct"

    def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        ground = prompt.messages[0].text
        asked = next((name for name in SAYS if name in ground), "")
        match prompt.task:
            case "action":
                return act("documents", f"{asked} report sales")
            case "read":
                quote = "Metered | $ 1,318.6" if "1,318.6" in prompt.text else PAGES[0][:30]
                finding = {"page": 1, "quote": quote, "statement": "So it is.", "values": []}
                return {"findings": [finding]}
            case "answer":
                short, words, unknown = SAYS[asked]
                return tell(words, short, unknown)
            case "state":
                return {"statements": ["It is so.", "It is not."]}
            case "verify":
                pairs = enumerate((True, False), start=1)
                told = [{"statement": n, "reason": "So.", "supported": yes} for n, yes in pairs]
                return {"verdicts": told}
            case "ask":
                return {"questions": ["What is it?"]}
            case "copy":
                return {"sentences": [prompt.text.splitlines()[-1]]}
        if "blue" in ground:
            correct = "blue" in prompt.messages[1].text
            return {"reason": "So.", "verdict": "Correct" if correct else "Incorrect"}
        return {"reason": "Close.", "verdict": self.verdict} if self.verdict else "I cannot say."


@pytest.fixture(autouse=True)
def agent(word_search: None) -> Agent:
    made = Agent()

    def model(request: ModelRequest) -> ScriptedModel:
        made.seeds.append(request.seed)
        return playing(made)

    register_provider("agent", model)
    return made


def bench(data: Path, out: Path, *words: object, fails: str = "") -> Result:
    given = ("agents", "--data", data, "--model", "agent:x", "--out", out)
    fixed = ("--embeddings", "words:64", "--method", "agent_v1")
    return bench_command.bench(*given, *fixed, *words, fails=fails)


def results(out: Path) -> dict[tuple[str, int], Record]:
    found = read(out / "agent-x.jsonl").records.values()
    return {(r.question, int(str(r.score.details.get("trial", 0)))): r for r in found}


def test_the_five_sets_of_both_formats(data: Path) -> None:
    found = load(data, contexts=2, seed=1)
    assert {q.id: q.part for q in found.questions} == {
        "h1": "simple 1",
        "h2": "complex 1",
        "h3": "complex 1",
        "h4": "calculation",
        "h5": "simple 1",
        "tatqa-t1": "simple 2",
        "tatqa-t2": "simple 2",
        "tatqa-t3": "complex 2",
        "tatqa-t4": "complex 2",
        "tatqa-t5": "calculation",
    }
    by_id = {q.id: q for q in found.questions}
    assert by_id["h2"].evidence == {("report_pages.jsonl", 1)}
    assert by_id["h5"].gold is None
    assert by_id["tatqa-t1"].evidence == {("tatqa-table-0.jsonl", 1)}
    table = next(d for d in found.documents if d.name == "tatqa-table-0.jsonl")
    shown = " | 2019 | 2018\nMetered | $ 1,318.6 | $ 1,207\nOther | 52 | 68"
    assert "\n".join(table.text.splitlines()[2:]) == f"In millions.\n\n{shown}"


def test_a_smaller_limit_chooses_a_part_in_turn(data: Path) -> None:
    questions = load(data, contexts=2, seed=1).questions
    every = choose(questions, None, 3)
    assert sorted(q.id for q in every) == sorted(q.id for q in questions)
    assert len({q.part for q in every[:5]}) == 5
    assert choose(questions, 4, 3) == every[:4]
    assert choose(questions, None, 4) != every


def test_missing_data_is_an_error(data: Path, tmp_path: Path) -> None:
    (data / "docs/report_pages.jsonl").unlink()
    bench(data, tmp_path / "out", fails="lacks the document")
    bench(tmp_path / "nowhere", tmp_path / "out", fails="contains no questions")


def test_answers_are_scored_by_rule_where_that_can_be(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    bench(data, out, "--trials", 1)
    scored = {
        q: (r.score.value, r.score.details.get("scored")) for (q, _), r in results(out).items()
    }
    assert scored == {
        "h1": (1.0, "rule"),
        "h2": (0.0, "rule"),
        "h3": (1.0, "judge"),
        "h4": (0.0, "rule"),
        "h5": (1.0, "rule"),
        "tatqa-t1": (1.0, "rule"),
        "tatqa-t2": (1.0, "judge"),
        "tatqa-t3": (1.0, "rule"),
        "tatqa-t4": (1.0, "rule"),
        "tatqa-t5": (1.0, "judge"),
        "d-1": (1.0, None),
        "d-4": (0.0, None),
    }
    record = results(out)["tatqa-t1", 1]
    assert record.error == ""
    assert [c["supported"] for c in record.claims] == [True]
    assert record.facts[0]["quote"]["document"] == "tatqa-table-0.jsonl"  # type: ignore[index,call-overload]  # plain JSON
    assert record.score.details["found"] is True


@cases(
    ("h1", None, 0.0, "no answer"),
    ("h1", answered(None, unknown="All."), 0.0, "no answer"),
    ("h1", answered("1%"), 1.0, "rule"),
    ("h5", None, 0.0, "rule"),
    ("h5", answered(None, unknown="The rate."), 1.0, "rule"),
    ("h5", answered(None), 0.0, "rule"),
    ("h5", answered("5%", unknown="The rate."), 0.0, "rule"),
)
def test_no_answer_is_right_only_if_the_documents_have_none(
    question: str, answer: Answer | None, value: float, way: str, data: Path
) -> None:
    (asked,) = [q for q in load(data, contexts=2, seed=1).questions if q.id == question]
    score = Trial(asked, 1, lambda _: frozenset()).score(answer)
    assert (score.value, score.details["scored"]) == (value, way)


def test_the_judge_gets_an_answer_without_its_marks() -> None:
    marked = answered("red", why="It is red [1][2]. It is dear. (no source)")
    assert full_answer(marked) == "red\nIt is red. It is dear."


@pytest.mark.published
def test_the_published_questions_by_set() -> None:
    found = load(published("docs/questions.jsonl").parents[1], contexts=50, seed=1)
    reports = Counter(q.part for q in found.questions if not q.id.startswith("tatqa-"))
    assert reports == {"simple 1": 7, "complex 1": 4, "calculation": 6}
    assert {q.part for q in found.questions} == set(SETS)
    assert sum(document.path is None for document in found.documents) == 50


@cases("Incorrect", "Unsure", "")
def test_an_unsure_judge_makes_no_answer_right(
    verdict: str, data: Path, tmp_path: Path, agent: Agent
) -> None:
    agent.verdict = verdict
    bench(data, tmp_path, "--trials", 1, "--judge-pairs", 0, "--set", "complex 1")
    record = results(tmp_path)["h3", 1]
    assert record.score.value == 0.0
    judged = record.score.details["judged"]
    assert isinstance(judged, dict)
    assert judged["verdict"] == (verdict or None)


def test_another_judge_sees_question_and_answers(data: Path, tmp_path: Path, agent: Agent) -> None:
    words = ("--trials", 1, "--judge-pairs", 0, "--set", "complex 1", "--judge", "agent:other")
    bench(data, tmp_path, *words)
    (prompt,) = [prompt for prompt in agent.prompts if prompt.task == "mark"]
    compare("agents_bench", {"mark": prompt.messages})
    calls = [call.record for record in results(tmp_path).values() for call in record.calls]
    models = {(call.role == ANSWER_JUDGE, call.model) for call in calls}
    assert models == {(True, "agent:other"), (False, "agent:x")}


def test_trials_differ_by_seed_and_are_resumed(data: Path, tmp_path: Path, agent: Agent) -> None:
    words = ("--limit", 2, "--judge-pairs", 1, "--setting", "seed=7")
    first = bench(data, tmp_path, *words, "--trials", 1)
    assert "0 done before, 3 to do" in first.output
    assert set(agent.seeds) == {7}
    more = bench(data, tmp_path, *words, "--trials", 3)
    assert "3 done before, 4 to do" in more.output
    assert {7, 8, 9} == set(agent.seeds)
    kept = agent.prompts.copy()
    again = bench(data, tmp_path, *words, "--trials", 3)
    assert "7 done before, 0 to do" in again.output
    assert agent.prompts == kept
    assert len(collections("bench")) == 1


@pytest.mark.usefixtures("word_vectors")
def test_each_document_is_measured_by_itself(data: Path, tmp_path: Path, agent: Agent) -> None:
    words = ("--trials", 1, "--judge-pairs", 0, "--set", "simple 1,simple 2")
    done = bench(data, tmp_path, *words, "--rag", "--one-document")
    told = [record.score.details["rag"] for record in results(tmp_path).values()]
    assert len(told) == 4
    given = [one for one in told if isinstance(one, dict)]
    assert len(given) == 4  # so that the table is there if no run has an answer
    measured = [one for one in given if one["faithfulness"] is not None]
    assert measured  # where there is an answer
    for one in measured:
        assert (one["faithfulness"], one["context_relevance"]) == (0.5, 0.0)
        assert one["answer_relevance"] is not None
    assert "The RAG pipeline" in done.output
    assert "0.500 ± 0.000" in done.output
    assert len(collections("bench")) > 1


def scored(question: str, trial: int, value: float, **changed: JsonValue) -> Record:
    details: dict[str, object] = {"trial": trial, "asked": f"{question}?", "gold": "1"}
    details |= {"evidence": [["a.pdf", 1]], "found": True, "scored": "rule", "judged": None}
    found = score(value, "1", **details | changed)
    part = {"a": "simple 1", "b": "simple 1", "c": "calculation"}[question]
    key = f"{question}/{trial}"
    return record(question, "agent_v1", key=key, suite="agents", scenario=part, score=found)


def test_sets_and_questions_over_trials_by_hand() -> None:
    values = {"a": (1, 1, 0), "b": (1, 0, 0), "c": (0, 0, 1)}
    made = [scored(q, n, float(v)) for q, own in values.items() for n, v in enumerate(own, 1)]
    tables = agent_tables(made)
    # simple 1 by trial: 100, 50, 0; all: 66.7, 33.3, 33.3
    assert rows(tables, "Right answers by set") == [
        ["agent_v1", "3", "50.0 ± 50.0", "33.3 ± 57.7", "44.4 ± 19.2"]
    ]
    assert rows(tables, "Each question") == [
        ["simple 1", "a", "a?", "1", "66.7 ± 57.7"],
        ["simple 1", "b", "b?", "1", "33.3 ± 57.7"],
        ["calculation", "c", "c?", "1", "33.3 ± 57.7"],
    ]


def test_how_answers_were_scored_by_hand() -> None:
    verdicts: list[JsonValue] = ["Correct", "Unsure", None]
    judged = [{"verdict": verdict, "reason": "So."} for verdict in verdicts]
    made = [
        scored("a", n, float(one["verdict"] == "Correct"), scored="judge", judged=one)
        for n, one in enumerate(judged, start=1)
    ]
    made += [scored("b", 1, 1.0), scored("b", 2, 0.0, scored="no answer")]
    assert rows(agent_tables(made), "How answers were scored") == [
        ["agent_v1", "5", "1", "1", "3", "60.0%", "1", "1", "1"]
    ]


def _fact(number: int, document: str, page: int) -> dict[str, JsonValue]:
    return {"number": number, "quote": {"document": document, "page": page, "text": ""}}


def test_citations_by_hand() -> None:
    facts = [_fact(1, "a.pdf", 1), _fact(2, "a.pdf", 9)]
    right, wrong = {"supported": True}, {"supported": False}
    made = [
        scored("a", 1, 1.0).model_copy(
            update={"facts": facts, "answer": {"facts": [1, 2]}, "claims": [right, wrong]}
        ),
        scored("b", 1, 1.0).model_copy(
            update={"facts": facts, "answer": {"facts": [2]}, "claims": [right]}
        ),
        scored("c", 1, 0.0).model_copy(update={"facts": facts[1:], "answer": {"facts": []}}),
        scored("c", 2, 0.0, evidence=[], gold=None),
    ]
    (row,) = rows(agent_tables(made), "Citations")
    read, citing, to_gold, shares, claims = row[1:]
    assert read.startswith("66.7%")
    assert citing == "2"
    assert to_gold.startswith("50.0%")
    assert shares.startswith("25.0%")
    assert claims.startswith("66.7%")
    assert rows(agent_tables(made), "What the documents do not answer") == [["agent_v1", "1", "0"]]


def test_the_judge_beside_people_by_hand() -> None:
    better = ("Correct", "Correct", "Unsure", "Incorrect", None)
    other = ("Incorrect", "Correct", "Incorrect", "Correct", "Incorrect")
    made = [
        record(f"d-{n}", ANSWER_JUDGE, suite="agents", score=score(1, better=one, other=two))
        for n, (one, two) in enumerate(zip(better, other, strict=True))
    ]
    (row,) = rows(agent_tables(made), "The judge beside people")
    assert row[1] == "5"
    assert row[2].startswith("60.0%")
    assert row[3].startswith("40.0%")
    assert row[4:] == ["1", "3", "1", "1"]
