"""The plan assessor: what it sees, its artefact, and that it never saw a dev question."""

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bag_of_words import embed
from cases import cases
from published import published

from planweave import BadInput
from planweave.benchmarks.suites.mhqa.multihop import load as questions_of
from planweave.learning import (
    FEATURES,
    AssessorCard,
    CandidateQuery,
    Floats,
    RetrievedPage,
    features,
    plan_assessor,
)
from planweave.learning.plan_assessor import (
    SHIPPED,
    VERSION,
    expected_ranks,
    fingerprint,
    load_assessor,
    save,
)

ROOT = Path(__file__).parents[2]
CARD = AssessorCard(
    version=VERSION, sha256="", seed=1, date="2026-01-01", command="train", data={}, metrics={}
)
SEEN = np.array([fingerprint("Who is it?")], np.uint64)
ASKED: tuple[str, list[str], list[CandidateQuery]] = (
    "Who is it?",
    [],
    [CandidateQuery("it", [RetrievedPage("It", "is it")])],
)


def weights() -> dict[str, Floats]:
    """A head that looks at the words that query and question share, and at nothing else."""
    first = np.zeros((len(FEATURES), 1), np.float32)
    first[FEATURES.index("query_in_question")] = 1
    return {
        "mean": np.zeros(len(FEATURES), np.float32),
        "scale": np.ones(len(FEATURES), np.float32),
        "w1": first,
        "b1": np.zeros(1, np.float32),
        "w2": np.full(1, 2, np.float32),
        "b2": np.array(-1, np.float32),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return save(tmp_path, weights(), CARD, SEEN)


def test_round_trip(path: Path) -> None:
    loaded = load_assessor(path, embed)
    assert loaded.card == CARD.model_copy(update={"sha256": loaded.card.sha256})
    rows = features(*ASKED, embed)
    assert loaded.scores(*ASKED) == [float(expected_ranks(weights(), rows)[0])]
    assert loaded.knows("who is IT")
    assert not loaded.knows("Who was it?")
    with pytest.raises(BadInput, match="cannot be written"):
        save(path, weights(), CARD, SEEN)


@cases(
    lambda weights, _: weights.write_bytes(weights.read_bytes()[:100]),
    lambda weights, _: weights.write_bytes(weights.read_bytes() + b"\0"),
    lambda weights, _: weights.unlink(),
    lambda _, card: card.write_text("{"),
    lambda _, card: card.unlink(),
    lambda _, card: card.write_text(card.read_text().replace(FEATURES[0], "another")),
    ids=["cut", "changed", "gone", "card", "no card", "version"],
)
def test_what_is_damaged_is_told(damage: Callable[[Path, Path], object], path: Path) -> None:
    damage(path, path.with_suffix(".json"))
    with pytest.raises(BadInput) as told:
        load_assessor(path)
    assert "Reinstall planweave, or train it again" in str(told.value)
    assert "\n" not in str(told.value)


def test_no_code_hides_in_the_weights(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, ...]:
            return (exec, ("raise SystemExit",))

    path = tmp_path / "plan-assessor.npz"
    with path.open("wb") as file:
        np.savez(file, w1=np.array([Hostile()], object), allow_pickle=True)
    saved = save(tmp_path / "good", weights(), CARD, SEEN)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    card = load_assessor(saved).card.model_copy(update={"sha256": digest})
    path.with_suffix(".json").write_text(card.model_dump_json())
    with pytest.raises(BadInput, match="is damaged"):
        load_assessor(path)


def test_it_runs_without_what_trained_it() -> None:
    code = (
        "import sys; from planweave.learning import plan_assessor; made = plan_assessor(); "
        "print(made is plan_assessor(), *{'jax', 'optax', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True"]


def test_the_shipped_one_is_whole() -> None:
    loaded = load_assessor(SHIPPED, embed)
    assert loaded.card.features == FEATURES
    assert sum(part["questions"] for part in loaded.card.data.values()) > 1000
    (score,) = loaded.scores(*ASKED)
    assert 0 < score < 1


@pytest.mark.published
@cases(
    "hotpotqa/{}_distractor_subset.jsonl.gz",
    "2wikimultihopqa/{}_subset.jsonl.gz",
    "musique/{}_subset.jsonl.gz",
)
def test_no_dev_question_was_trained_on(file: str) -> None:
    dev = [one.question for one in questions_of(published(file.format("dev")))]
    train = [one.question for one in questions_of(published(file.format("train")))]
    assert not any(map(plan_assessor().knows, dev))
    assert all(map(plan_assessor().knows, train))


QUESTION = "Where was the director of Stull born?"
STULL = RetrievedPage("Stull (film)", "Stull is a film directed by Ann Lee.")
LEE = RetrievedPage("Ann Lee", "Ann Lee was born in Kansas.")
EVIDENCE = ["Stull (film): Stull is a film directed by Ann Lee."]


def row(query: str, hits: list[RetrievedPage], evidence: list[str]) -> dict[str, float]:
    (values,) = features(QUESTION, evidence, [CandidateQuery(query, hits)], embed)
    return dict(zip(FEATURES, values.tolist(), strict=True))


def test_shares_of_words_by_hand() -> None:
    seen = row("Ann Lee born", [STULL, LEE], EVIDENCE)
    expected = {
        "query_in_question": 1 / 3,  # of ann, lee, born
        "question_in_query": 1 / 3,  # of director, stull, born
        "query_in_evidence": 2 / 3,
        "new_in_evidence": 1.0,  # ann, lee
        "open_words": 0.2,  # director, born
        "open_in_query": 0.5,
        "query_in_hit1": 1.0,
        "open_in_hit1": 0.5,
        "query_of_nowhere": 0.0,
        "passages": 0.1,
    }
    assert {name: seen[name] for name in expected} == pytest.approx(expected)


def test_pages_that_are_evidence_are_passed_over() -> None:
    seen = row("Ann Lee", [STULL, LEE], EVIDENCE)
    assert seen["hits_seen"] == 0.5
    assert seen["first_hit_seen"] == 1
    assert seen["title1_in_evidence"] == 1  # Ann Lee, named by what was found
    assert seen["title1_in_question"] == 0
    assert row("Ann Lee", [STULL, LEE], [])["title1_in_question"] == 1  # Stull, brackets off
    assert row("Ann Lee", [LEE], EVIDENCE)["query~hit1"] == pytest.approx(seen["query~hit1"])


@pytest.mark.parametrize("evidence", [[], EVIDENCE, ["", ": "]])
@pytest.mark.parametrize("hits", [[], [STULL], [RetrievedPage("", "")], [STULL, LEE] * 9])
@pytest.mark.parametrize("query", ["", "?!", "Ann Lee", "日本"])
def test_inputs_give_numbers(query: str, hits: list[RetrievedPage], evidence: list[str]) -> None:
    seen = row(query, hits, evidence)
    assert np.isfinite(list(seen.values())).all()
    assert len(set(FEATURES)) == len(FEATURES)
