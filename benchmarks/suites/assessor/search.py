"""What a search finds when one chooser drives all of its rounds.

The MRR of :mod:`planweave.benchmarks.suites.assessor.measure` compares choosers on the same rounds.
Here each meets the evidence that its own choices have brought, as in a run, and still no language
model takes part.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from planweave.benchmarks.core.metrics import Estimate, Means, bootstrap
from planweave.benchmarks.core.table import Rows, table_of_rows
from planweave.benchmarks.suites.assessor.measure import CHOOSERS, AssessedSet, by_assessor
from planweave.benchmarks.suites.assessor.rounds import ROUNDS, Round, by_truth, rounds
from planweave.learning import PlanAssessor

AFTER = (1, 2, 3, ROUNDS)
"""Rounds after which the recall is reported."""


@dataclass(frozen=True, kw_only=True)
class Driven:
    """What the searches of one chooser found in a data set."""

    dataset: str
    chooser: str
    recall: Mapping[int, Estimate]  # of the supporting paragraphs, after each of `AFTER` rounds
    whole: Estimate  # share of the questions of which all were found
    gained: Estimate  # what the assessor's searches found more, after the last round


def drive(
    part: AssessedSet, assessor: PlanAssessor, seed: int = 1, candidates: int = 5
) -> list[Driven]:
    """Have each chooser search for every question of a data set."""
    search = partial(rounds, part.unseen, part.corpus, seed=seed, candidates=candidates)
    searches = {
        "random": search(),
        "first": search(candidates=1),
        "assessor": search(choose=lambda one, _: by_assessor(one, assessor)),
        "best": search(choose=by_truth),
    }
    names = [question.id for question in part.unseen]
    recalls = {name: _recalls(searches[name], names) for name in CHOOSERS}
    found = []
    for name, own in recalls.items():
        after = [own[:, number - 1] for number in AFTER]
        rows = np.stack([*after, own[:, -1] == 1, recalls["assessor"][:, -1]], axis=1)
        *recall, whole, gained = bootstrap(rows.tolist(), _gained, seed=seed)
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


def _gained(*means: Means) -> list[Means]:
    """Recalls, the share with all, and what the assessor's last recall is more than the last."""
    *recalls, whole, assessor = means
    return [*recalls, whole, assessor - recalls[-1]]


def _recalls(made: Iterable[Round], questions: Sequence[str]) -> NDArray[np.float64]:
    """Recall [questions, rounds]; a search that has found everything is over, and keeps it."""
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
def table(found: Sequence[Driven]) -> Rows:
    """The figures as a table."""
    for one in found:
        shares = (f"{share.value:.3f}" for share in (*one.recall.values(), one.whole))
        gained = None if one.chooser == "assessor" else f"{one.gained:.3f}"
        yield one.dataset, one.chooser, *shares, gained
