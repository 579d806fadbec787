"""Queries proposed for multi-hop questions, rounds of a search, and the figures of a choice."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bag_of_words import embed
from bench_command import bench
from json_lines import write_lines

from planweave import BadInput
from planweave.benchmarks.suites.assessor import measure as suite
from planweave.benchmarks.suites.assessor import rounds
from planweave.benchmarks.suites.assessor.search import run_searches
from planweave.benchmarks.suites.mhqa.multihop import Corpus, MultiHop, Paragraph, SubQuestion
from planweave.learning import CandidateQuery, PlanAssessor, plan_assessor

STULL = Paragraph("Stull (film)", "Stull is a film. It was directed by Ann Lee.")
LEE = Paragraph("Ann Lee", "Ann Lee was born in Kansas.")
BOAT = Paragraph("Boat", "A boat swims.")
QUESTION = MultiHop(
    id="1",
    dataset="2wikimultihopqa",
    question="Where was the director of Stull born?",
    answers=("Kansas",),
    paragraphs=(BOAT, STULL, LEE),
    supporting=(STULL, LEE),
    hops=2,
    steps=(SubQuestion("Stull director", "Ann Lee"), SubQuestion("Ann Lee born in", "Kansas")),
)

WIKI = {
    "question": QUESTION.question,
    "answer": "Kansas",
    "supporting_facts": [[one.title, 0] for one in QUESTION.supporting],
    "context": [[one.title, [one.text]] for one in QUESTION.paragraphs],
}


def test_names_in_reading_order() -> None:
    text = 'In which film by Ann Lee of Kansas did "a small boat" and the U.S. Navy meet in 1992?'
    assert rounds.find_names(text) == ["a small boat", "Ann Lee of Kansas", "U.S. Navy", "1992"]


def test_a_proposer_names_only_what_is_given_and_references_wait() -> None:
    start = rounds.propose_queries(QUESTION, [])
    assert start[0] == QUESTION.question.rstrip("?")
    assert "Stull director" in start
    assert not any("Lee" in query for query in start)
    later = rounds.propose_queries(QUESTION, [STULL])
    assert {"Ann Lee", "Ann Lee born in", "Stull director born"} <= set(later)
    assert len(set(later)) == len(later)
    musique = replace(QUESTION, steps=(QUESTION.steps[0], SubQuestion("#1 born in", "Kansas")))
    assert not any("#" in query for query in rounds.propose_queries(musique, []))
    assert "Ann Lee born in" in rounds.propose_queries(musique, [STULL])


def test_gain_is_the_reciprocal_rank_of_what_is_missing() -> None:
    assert rounds.reciprocal_gain(QUESTION, [BOAT, LEE, STULL]) == 0.5
    assert rounds.reciprocal_gain(QUESTION, [BOAT]) == 0


def filler(count: int) -> tuple[Paragraph, ...]:
    return tuple(
        Paragraph(f"Thing {n}", f"Thing number {n} is about topic {n}.") for n in range(count)
    )


def world() -> list[MultiHop]:
    """Two questions in a corpus where no round finds everything at once."""
    other = replace(
        QUESTION,
        id="2",
        question="Which boat did Max Roe sail?",
        paragraphs=(Paragraph("Max Roe", "Max Roe sailed the Swan."), *filler(9)),
        supporting=(Paragraph("Max Roe", "Max Roe sailed the Swan."), filler(9)[7]),
        steps=(),
    )
    return [QUESTION, other]


def test_rounds_depend_on_the_seed_alone() -> None:
    questions = world()
    corpus = Corpus(questions, embed)

    def queries(seed: int, order: Callable[[list[MultiHop]], list[MultiHop]]) -> set[object]:
        made = rounds.play_rounds(order(questions), corpus, seed=seed, candidates=3)
        return {(r.question.id, r.number, *(c.query for c in r.candidates)) for r in made}

    assert queries(1, list) == queries(1, lambda some: some[::-1])
    assert queries(1, list) != queries(2, list)


def test_strangers_and_recorded_searches_join_the_candidates() -> None:
    questions = world()
    searches = {QUESTION.question: ["Stull cast", "Somebody Else"]}
    made = rounds.play_rounds(
        questions, Corpus(questions, embed), seed=1, candidates=50, strangers=6, searches=searches
    )
    first = {candidate.query for candidate in next(made).candidates}
    assert {"Stull cast", "Max Roe"} <= first
    assert "Somebody Else" not in first


def test_searches_of_recorded_training_runs(tmp_path: Path) -> None:
    steps = [
        {"action": a} for a in ("Search[Stull]", "retrieve[Ann Lee]", "Finish[Kansas]", "think")
    ]
    seen, unseen = (
        {"question": q, "split": s, "steps": steps} for q, s in (("a", "train"), ("b", "dev"))
    )
    path = write_lines(tmp_path / "some.jsonl", seen, unseen)
    assert rounds.recorded_searches(path) == {"a": ["Stull", "Ann Lee"]}


class Fake(PlanAssessor):
    """Chooses by a function; ``known`` is its training question, if any."""

    def __init__(self, value: Callable[[str], float], known: str = "") -> None:
        self._value, self._known = value, known

    def scores(self, question: str, evidence: object, candidates: object) -> list[float]:
        assert isinstance(candidates, list)
        return [self._value(candidate.query) for candidate in candidates]

    def knows(self, question: str) -> bool:
        return question == self._known


def test_a_choice_by_hand() -> None:
    some = [CandidateQuery(query, []) for query in ("a", "bbb", "cc")]
    one = rounds.Round(
        question=QUESTION, number=0, evidence=(), candidates=some, gains=[0.5, 0.25, 0.0]
    )
    assert suite.score_round(one, Fake(len)) == ("1", 0.25, 0.5, 0.25, 0.5)


def test_questions_of_the_training_are_left_out() -> None:
    (part,) = suite.assessed_sets(world(), Fake(len, QUESTION.question), embed)
    result = suite.measure(part, Fake(len))
    assert (result.questions, result.left_out, result.paragraphs) == (1, 1, 13)
    with pytest.raises(BadInput, match="trained on every question of 2wikimultihopqa"):
        suite.assessed_sets([QUESTION], Fake(len, QUESTION.question), embed)


def test_an_assessor_that_knows_the_truth_is_as_good_as_the_best() -> None:
    (part,) = suite.assessed_sets(world(), Fake(len), embed)
    gains = {
        (one.evidence, candidate.query): value
        for one in rounds.play_rounds(
            part.unseen, part.corpus, seed=1, candidates=6, choose=rounds.choose_best
        )
        for candidate, value in zip(one.candidates, one.gains, strict=True)
    }
    pages = {tuple(p.page for p in evidence): evidence for evidence, _ in gains}

    class Knowing(Fake):
        def scores(self, question: str, evidence: object, candidates: object) -> list[float]:
            assert isinstance(candidates, list)
            assert isinstance(evidence, list)
            return [gains[pages[tuple(evidence)], c.query] for c in candidates]

    found = {one.chooser: one for one in run_searches(part, Knowing(len), candidates=6)}
    assert found["assessor"].recall == found["best"].recall
    assert found["best"].gained.value == 0


@pytest.mark.usefixtures("word_vectors")
def test_command(tmp_path: Path) -> None:
    words = ("assessor", "--data", write_lines(tmp_path / "some.jsonl.gz", WIKI))
    assert "hotpotqa" in bench(*words).output
    made = json.loads(bench(*words, "--json").stdout)
    assert made["artefact"]["sha256"] == plan_assessor().card.sha256
    assert {"value", "low", "high", "n"} <= made["result"][0]["mrr"]["best"].keys()
    assert [one["chooser"] for one in made["search"]] == ["random", "first", "assessor", "best"]
    assert made["search"][0]["recall"]["5"]["value"] == 1
