"""The plan assessor against a random, the first and the best possible candidate.

Each round of a search offers a few candidate queries; the score of a choice is the reciprocal
rank at which the chosen query finds the next supporting paragraph, so that a mean over rounds is
an MRR. Rounds of one question are not independent, so intervals come from a bootstrap of questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np

from planweave import BadInput
from planweave.benchmarks.core.metrics import Estimate, Means, bootstrap, group_by
from planweave.benchmarks.core.table import Rows, table_of_rows
from planweave.benchmarks.suites.assessor.rounds import Round, play_rounds
from planweave.benchmarks.suites.mhqa.multihop import Corpus, MultiHop
from planweave.learning import Embed, PlanAssessor


class RoundScores(NamedTuple):
    """The scores of the choosers in one round; ``random`` is an expectation."""

    question: str
    random: float
    first: float
    assessor: float
    best: float


CHOOSERS = RoundScores._fields[1:]


class AssessedSet(NamedTuple):
    """A data set on which the assessor is measured."""

    dataset: str
    questions: Sequence[MultiHop]
    unseen: Sequence[MultiHop]  # questions that it was not trained on
    left_out: int  # number of questions that it was trained on
    corpus: Corpus


@dataclass(frozen=True, kw_only=True)
class DatasetFigures:
    """The figures of a data set."""

    dataset: str
    questions: int
    left_out: int  # number of questions that the assessor was trained on
    paragraphs: int
    rounds: int
    mrr: Mapping[str, Estimate]
    gained: Mapping[str, Estimate]  # by the assessor over the random and the first candidate
    closed: Estimate  # share closed of the gap between a random and the best candidate


def assessed_sets(
    questions: Sequence[MultiHop], assessor: PlanAssessor, embed: Embed
) -> list[AssessedSet]:
    """The data sets among ``questions``, without the assessor's training questions."""
    found = []
    for dataset, own in group_by(questions, lambda question: question.dataset).items():
        unseen = [question for question in own if not assessor.knows(question.question)]
        if not unseen:
            raise BadInput(
                f"The plan assessor was trained on every question of {dataset} in these files.",
                fix="Name a file of questions that it has not seen, such as a dev split.",
            )
        found.append(AssessedSet(dataset, own, unseen, len(own) - len(unseen), Corpus(own, embed)))
    return found


def measure(
    part: AssessedSet, assessor: PlanAssessor, seed: int = 1, candidates: int = 5
) -> DatasetFigures:
    """Have the assessor choose in every round of the questions of a data set."""
    made = play_rounds(part.unseen, part.corpus, seed=seed, candidates=candidates)
    choices = [score_round(one, assessor) for one in made]
    questions = [one.question for one in choices]
    found = bootstrap([one[1:] for one in choices], _comparison, clusters=questions, seed=seed)
    return DatasetFigures(
        dataset=part.dataset,
        questions=len({*questions}),
        left_out=part.left_out,
        paragraphs=len(part.corpus.paragraphs),
        rounds=len(choices),
        mrr=dict(zip(CHOOSERS, found[:4], strict=True)),
        gained={"random": found[4], "first": found[5]},
        closed=found[6],
    )


def score_round(one: Round, assessor: PlanAssessor) -> RoundScores:
    """The score of each chooser in a round."""
    chosen = one.gains[choose_by_assessor(one, assessor)]
    return RoundScores(one.question.id, fmean(one.gains), one.gains[0], chosen, max(one.gains))


def choose_by_assessor(one: Round, assessor: PlanAssessor) -> int:
    """Index of the candidate that the assessor chooses."""
    evidence = [paragraph.page for paragraph in one.evidence]
    return int(np.argmax(assessor.scores(one.question.question, evidence, one.candidates)))


def _comparison(random: Means, first: Means, assessor: Means, best: Means) -> list[Means]:
    """Means of the choosers, the assessor's gains, and the share of the gap that it closes."""
    gained = assessor - random
    closed = gained / np.maximum(best - random, 1e-9)
    return [random, first, assessor, best, gained, assessor - first, closed]


@table_of_rows(
    "Which query is searched next: MRR of the chosen candidate",
    f"data set | questions | rounds | {' | '.join(CHOOSERS)} | more than random | "
    "more than first | of the gap closed",
    note="In brackets: 95 % bootstrap interval over questions. The gap is that between a "
    "random and the best possible candidate.",
)
def mrr_table(results: Sequence[DatasetFigures]) -> Rows:
    """The figures as a table."""
    for one in results:
        mrr = (f"{one.mrr[name].value:.3f}" for name in CHOOSERS)
        more = (f"{gained:.3f}" for gained in (*one.gained.values(), one.closed))
        yield one.dataset, one.questions, one.rounds, *mrr, *more
