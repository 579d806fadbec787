"""The recall of a search in which one chooser makes all choices.

The MRR of :mod:`planweave.benchmarks.suites.assessor.measure` compares choosers on the same rounds.
Here, each chooser works with the evidence of its own choices, as in a run, but without a language
model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from planweave.benchmarks.core.metrics import Estimate, Means, bootstrap
from planweave.benchmarks.core.table import Rows, table_of_rows
from planweave.benchmarks.suites.assessor.measure import CHOOSERS, AssessedSet, choose_by_assessor
from planweave.benchmarks.suites.assessor.rounds import ROUNDS, Round, choose_best, play_rounds
from planweave.learning import PlanAssessor

AFTER = (1, 2, 3, ROUNDS)
"""Rounds after which the recall is reported."""


@dataclass(frozen=True, kw_only=True)
class Driven:
    """The results of one chooser's searches in a data set."""

    dataset: str
    chooser: str
    recall: Mapping[int, Estimate]  # of the supporting paragraphs, by round
    whole: Estimate  # share of the questions with all paragraphs found
    gained: Estimate  # the assessor's recall minus this one, after the last round


def run_searches(
    part: AssessedSet, assessor: PlanAssessor, seed: int = 1, candidates: int = 5
) -> list[Driven]:
    """Have each chooser search for every question of a data set."""
    search = partial(play_rounds, part.unseen, part.corpus, seed=seed, candidates=candidates)
    searches = {
        "random": search(),
        "first": search(candidates=1),
        "assessor": search(choose=lambda one, _: choose_by_assessor(one, assessor)),
        "best": search(choose=choose_best),
    }
    names = [question.id for question in part.unseen]
    recalls = {name: _recalls(searches[name], names) for name in CHOOSERS}
    found = []
    for name, own in recalls.items():
        after = [own[:, number - 1] for number in AFTER]
        rows = np.stack([*after, own[:, -1] == 1, recalls["assessor"][:, -1]], axis=1)
        *recall, whole, gained = bootstrap(rows.tolist(), _with_gain, seed=seed)
        found.append(
            Driven(
                dataset=part.dataset,
                chooser=name,
                recall=dict(zip(AFTER, recall, strict=True)),
                whole=whole,
                gained=gained,
            )
        )
    return found


def _with_gain(*means: Means) -> list[Means]:
    """Recalls, the share with all found, and the assessor's gain over the last recall."""
    *recalls, whole, assessor = means
    return [*recalls, whole, assessor - recalls[-1]]


def _recalls(made: Iterable[Round], questions: Sequence[str]) -> NDArray[np.float64]:
    """Recall [questions, rounds]; a search ends once it has found everything, with recall 1."""
    rows = {name: row for row, name in enumerate(questions)}
    found = np.ones((len(rows), ROUNDS))
    for one in made:
        supporting = set(one.question.supporting)
        hit = supporting & set(one.found)
        found[rows[one.question.id], one.number] = len(hit) / len(supporting)
    return found


@table_of_rows(
    "What a chooser's own search finds: recall of the supporting paragraphs",
    f"data set | chooser | {' | '.join(f'round {number}' for number in AFTER)} | all of them | "
    "assessor finds more",
    note="After so many rounds of two new paragraphs. All of them: share of the questions of "
    "which every supporting paragraph was found. In brackets: 95 % bootstrap interval over "
    "questions. Best looks at the truth in each round.",
)
def recall_table(found: Sequence[Driven]) -> Rows:
    """The figures as a table."""
    for one in found:
        shares = (f"{share.value:.3f}" for share in (*one.recall.values(), one.whole))
        gained = None if one.chooser == "assessor" else f"{one.gained:.3f}"
        yield one.dataset, one.chooser, *shares, gained
