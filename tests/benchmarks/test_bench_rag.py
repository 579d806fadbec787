"""Judges of RAG answers beside people: statistics by hand, and the command as a person runs it."""

from collections.abc import Sequence
from math import tanh
from pathlib import Path

import pytest
from bench_command import Page, bench
from langchain_core.embeddings import Embeddings
from published import published
from scripted import Prompt, Reply, register

from planweave.benchmarks.core.store import read
from planweave.benchmarks.core.table import Cell, text
from planweave.benchmarks.suites.rag.suite import (
    Difference,
    RagJudges,
    load,
    samples,
    scored,
)
from planweave.benchmarks.suites.rag.tables import agreement, interval
from planweave.benchmarks.suites.rag.ways import Human, Pair, Rated, Worth, f1, length, token_f1
from planweave.memory import Context


def pair(number: int = 1, *overall: int, a: str = "Red.", b: str = "Red and blue.") -> Pair:
    """A pair with the reference "Red and blue." and these judgements."""
    return Pair(
        instance_id=number,
        dataset="set/part",
        query=f"Which colours, {number}?",
        gt_answer="Red and blue.",
        response_a=a,
        response_b=b,
        human=[Human(correctness=0, completeness=1, overall=given) for given in overall or (1,)],
    )


def write(folder: Path, *pairs: Pair) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("\n".join(one.model_dump_json() for one in pairs), encoding="utf-8")
    return path


def test_agreement_by_hand() -> None:
    found = agreement([1.0, -0.5, 0.0, 2.0, 0.3], [1.0, -2.0, 0.5, -1.5, 0.0])
    assert found.sign is not None
    assert found.sign.value == (1 + 1 + 0.5 + 0) / 4
    assert (found.sign.n, found.ties, found.n) == (4, 1, 5)


def test_correlations_by_hand() -> None:
    found = agreement([0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 4.0, 3.0])
    assert found.spearman == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert found.kendall == pytest.approx((5 - 1) / 6)
    assert agreement([1.0, 2.0, 3.0, 4.0], [8.0, 6.0, 4.0, 2.0]).spearman == pytest.approx(-1)


@pytest.mark.parametrize(
    ("measured", "people"),
    [([], []), ([1.0, 2.0], [1.0, 2.0]), ([1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0])],
    ids=["none", "two", "all the same"],
)
def test_a_correlation_without_meaning_is_none(
    measured: Sequence[float], people: Sequence[float]
) -> None:
    found = agreement(measured, people)
    assert found.spearman is None
    assert found.kendall is None


def test_the_interval_of_a_correlation() -> None:
    assert interval(0.0, 28) == pytest.approx((-tanh(1.96 / 5), tanh(1.96 / 5)), abs=1e-4)
    assert interval(1.0, 10) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(0.5, 1.0, 2 / 3), (None, 0.0, 0.0), (0.0, 0.0, 0.0), (None, 0.5, None), (0.5, None, None)],
)
def test_f1(precision: float | None, recall: float | None, expected: float | None) -> None:
    assert f1(precision, recall) == pytest.approx(expected)


def test_words_shared_with_the_reference_and_words_written() -> None:
    rated = token_f1(pair(a="red, red green!", b=""))
    assert rated.a == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert rated.b == (None, 0.0, 0.0)
    assert length(pair()).b == (3.0, 3.0, 3.0)


def test_a_difference_needs_both() -> None:
    found = Difference.of(Rated(Worth(0.25, None, 0.5), Worth(1.0, 0.5, 0.5), statements=3))
    assert (found.correctness, found.completeness, found.overall) == (0.75, None, 0.0)
    assert found.statements == 3


@pytest.mark.parametrize(
    ("overall", "people", "value", "answer"),
    [
        (0.2, (1, 2), 1.0, "b"),
        (-0.2, (1, 2), 0.0, "a"),
        (-0.2, (-1, 0), 1.0, "a"),
        (0.0, (1, 1), 0.5, "neither"),
        (0.2, (1, -1), 0.5, "b"),
        (None, (1, 1), 0.0, None),
    ],
)
def test_score(
    overall: float | None, people: tuple[int, int], value: float, answer: str | None
) -> None:
    difference = Difference(
        correctness=None, completeness=None, overall=overall, statements=0, unjudged=0
    )
    score = scored(pair(1, *people), difference)
    assert (score.value, score.answer) == (value, answer)
    assert score.details["people"] == {
        "correctness": [0, 0],
        "completeness": [1, 1],
        "overall": [*people],
    }


def test_a_crashed_pair_scores_nothing() -> None:
    score = scored(pair(), None)
    assert (score.value, score.answer, score.details["difference"]) == (0.0, None, None)


def test_another_answer_is_another_sample() -> None:
    made = samples([pair(), pair(a="Blue.")], methods=["length"], settings=Context())
    assert made[0].question == "set-part-1"
    assert made[0].key != made[1].key


class Letters(Embeddings):
    """How often a and e occur in a text."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[text.count("a") + 1.0, text.count("e") + 1.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def colours(prompt: Prompt) -> Reply:
    """States the colours of a text, and supports those that a text names; one pair it garbles."""
    shown = prompt.messages[0].text
    if "Garbled" in shown:
        return "so sorry"
    named = [colour for colour in ("Red", "blue") if colour in shown]
    match prompt.task:
        case "state":
            return {"statements": named}
        case "ask":
            return {"questions": [f"Which colours, {name}?" for name in named]}
    asked = [colour for colour in ("Red", "blue") if f". {colour}\n" in prompt.text]
    verdicts = [
        {"statement": n, "reason": "", "supported": colour in named}
        for n, colour in enumerate(asked, start=1)
    ]
    return {"verdicts": verdicts}


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planweave.models.embeddings", lambda name: Letters())
    data = write(
        tmp_path,
        pair(1, 1, 2),
        pair(2, -1, -1, a="Red and blue.", b="Red."),
        pair(3, 1, 1, a="Garbled."),
        pair(4, 0, 0),
    )
    words = ("--data", data, "--model", register(colours), "--out", tmp_path / "out")
    first = bench("rag", *words, "--json")
    again = bench("rag", *words)
    assert "24 done before, 0 to do" in again.output
    page = Page.of(first)
    rows = page.records("Agreement with people")
    overall = {row["method"]: row for row in rows if row["criterion"] == "overall"}
    judged = overall["statement_f1"]
    sign = judged["same sign as people"]
    assert isinstance(sign, dict)
    assert (sign["value"], sign["n"]) == (1.0, 2)
    assert (judged["pairs"], judged["unmeasured"]) == (3, 1)
    assert (overall["ragchecker"]["pairs"], overall["ragchecker"]["unmeasured"]) == (0, 4)
    assert overall["length"]["unmeasured"] == 0
    unmeasured = {row["method"]: row for row in page.records("What was not measured")}
    assert unmeasured.keys() == {"answer_relevance", "ragchecker", "statement_f1"}
    own = unmeasured["statement_f1"]
    assert (own["unmeasured pairs"], own["unreadable replies"]) == (1, 2)
    written = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "## Agreement of sign" in written
    assert "nan" not in written.casefold()


def test_what_the_judge_measures(tmp_path: Path) -> None:
    data = write(tmp_path, pair(1, 1, 2))
    bench(
        *("rag", "--data", data, "--model", register(colours), "--out", tmp_path / "out"),
        *("--method", "statement_f1"),
    )
    (results,) = (tmp_path / "out").glob("*.jsonl")
    (record,) = read(results).records.values()
    assert record.answer is not None
    assert record.answer["why"] == (
        "a: correctness 1.000, completeness 0.500, overall 0.667; "
        "b: correctness 1.000, completeness 1.000, overall 1.000"
    )
    assert record.score.details["difference"] == {
        "correctness": 0.0,
        "completeness": 0.5,
        "overall": pytest.approx(1 / 3),
        "statements": 7,
        "unjudged": 0,
    }
    assert len(record.calls) == 7


@pytest.mark.parametrize(
    ("lines", "fails"),
    [
        ("", "holds no pair"),
        (pair().model_dump_json().replace('"overall":1', '"overall":3'), "human.0.overall"),
    ],
    ids=["empty", "out of range"],
)
def test_bad_data(tmp_path: Path, lines: str, fails: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines, encoding="utf-8")
    bench("rag", "--data", path, "--out", tmp_path / "out", fails=fails)


def test_a_way_that_there_is_not(tmp_path: Path) -> None:
    good = write(tmp_path, pair())
    bench("rag", "--data", good, "--method", "guess", fails="no way of rating 'guess'")


@pytest.mark.published
async def test_the_published_pairs() -> None:
    pairs = load(published("rag_eval/ragchecker_human_pairs.jsonl.gz"))
    assert len({(one.dataset, one.instance_id) for one in pairs}) == len(pairs) == 252
    signs = []
    for sample in samples(pairs, methods=["ragchecker"], settings=Context()):
        memory = await RagJudges().play(sample, lambda call: None)
        score = scored(sample.target, memory["difference"])
        if score.value != 0.5:
            signs.append(score.value)
    assert (sum(signs), len(signs)) == (151, 189)


def test_cells_never_say_nan() -> None:
    cells: list[Cell] = [*agreement([], [])]
    assert [text(cell) for cell in cells] == ["-", "0", "-", "-", "0"]
