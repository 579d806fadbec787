"""The plan assessor beside a random, the first and the best possible candidate.

Each round of a search offers a few candidate queries; the score of a choice is the reciprocal
rank at which the chosen query finds the next supporting paragraph, so that a mean over rounds is
an MRR. Rounds of one question are not independent: intervals come from a bootstrap of questions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planweave import BadInput
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.assessor.rounds import Choose, Round, by_lot, rounds
from planweave.benchmarks.suites.mhqa.multihop import Corpus, MultiHop
from planweave.learning import Embed, Group, PlanAssessor, features

_DRAWS = 10_000
_LEVEL = (0.025, 0.975)


class Choice(NamedTuple):
    """What the choosers got in one round; ``random`` is its expectation."""

    question: str
    random: float
    first: float
    assessor: float
    best: float


CHOOSERS = Choice._fields[1:]


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """As in a table."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class Rules(NamedTuple):
    """How is searched."""

    seed: int = 1
    candidates: int = 5

    def rounds(self, part: "Part", choose: Choose = by_lot) -> Iterator[Round]:
        """The rounds of a data set."""
        return rounds(
            part.unseen,
            part.corpus,
            seed=self.seed,
            candidates=self.candidates,
            choose=choose,
        )


class Part(NamedTuple):
    """A data set, as the assessor is measured on it.

    Attributes:
        unseen: Those that it was not trained on.
        left_out: How many questions it was trained on.
    """

    dataset: str
    questions: Sequence[MultiHop]
    unseen: Sequence[MultiHop]
    left_out: int
    corpus: Corpus


@dataclass(frozen=True, kw_only=True)
class DatasetFigures:
    """The figures of a data set.

    Attributes:
        left_out: Questions of the files that the assessor was trained on.
        gained: What the assessor gets more than a random and than the first candidate.
        closed: How much of the way from a random to the best possible candidate it goes.
    """

    dataset: str
    questions: int
    left_out: int
    paragraphs: int
    rounds: int
    mrr: Mapping[str, Estimate]
    gained: Mapping[str, Estimate]
    closed: Estimate


def parts(questions: Sequence[MultiHop], assessor: PlanAssessor, embed: Embed) -> list[Part]:
    """The data sets among ``questions``, without what the assessor was trained on."""
    found = []
    for dataset in dict.fromkeys(question.dataset for question in questions):
        own = [question for question in questions if question.dataset == dataset]
        unseen = [question for question in own if not assessor.knows(question.question)]
        if not unseen:
            raise BadInput(
                f"The plan assessor was trained on every question of {dataset} in these files.",
                fix="Name a file of questions that it has not seen, such as a dev split.",
            )
        found.append(Part(dataset, own, unseen, len(own) - len(unseen), Corpus(own, embed)))
    return found


def measure(part: Part, assessor: PlanAssessor, made: Iterable[Round], seed: int) -> DatasetFigures:
    """Have the assessor choose in every round of the questions of a data set."""
    choices = [choice(one, assessor) for one in made]
    found = means(choices, seed)
    more = {name: found["assessor"] - found[name] for name in ("random", "first")}
    room = np.maximum(found["best"] - found["random"], 1e-9)
    return DatasetFigures(
        dataset=part.dataset,
        questions=len({one.question for one in choices}),
        left_out=part.left_out,
        paragraphs=len(part.corpus.paragraphs),
        rounds=len(choices),
        mrr={name: estimate(values) for name, values in found.items()},
        gained={name: estimate(values) for name, values in more.items()},
        closed=estimate(more["random"] / room),
    )


def choice(one: Round, assessor: PlanAssessor) -> Choice:
    """What each chooser gets in a round."""
    chosen = one.gains[by_assessor(one, assessor)]
    return Choice(one.question.id, fmean(one.gains), one.gains[0], chosen, max(one.gains))


def by_assessor(one: Round, assessor: PlanAssessor) -> int:
    """Place of the candidate that the assessor chooses."""
    evidence = [paragraph.page for paragraph in one.evidence]
    return int(np.argmax(assessor.scores(one.question.question, evidence, one.candidates)))


def means(choices: Sequence[Choice], seed: int) -> dict[str, NDArray[np.float64]]:
    """The mean of each chooser [1 + draws]: as it is, then in each draw of questions."""
    rows = {name: row for row, name in enumerate(dict.fromkeys(one.question for one in choices))}
    sums, counts = np.zeros((len(rows), len(CHOOSERS))), np.zeros(len(rows))
    for one in choices:
        sums[rows[one.question]] += one[1:]
        counts[rows[one.question]] += 1
    drawn = np.random.default_rng(seed).integers(len(rows), size=(_DRAWS, len(rows)))
    totals = np.array([sums.sum(axis=0), *(sums[draw].sum(axis=0) for draw in drawn)])
    rounds_of = np.array([counts.sum(), *(counts[draw].sum() for draw in drawn)])
    return dict(zip(CHOOSERS, (totals / rounds_of[:, None]).T, strict=True))


def estimate(values: NDArray[np.float64]) -> Estimate:
    """The first value, with the interval of the others."""
    low, high = np.quantile(values[1:], _LEVEL)
    return Estimate(float(values[0]), float(low), float(high))


def table(results: Sequence[DatasetFigures]) -> Table:
    """The figures as a table."""
    return Table(
        title="Which query is searched next: MRR of the chosen candidate",
        columns=(
            *("data set", "questions", "rounds", *CHOOSERS),
            *("more than random", "more than first", "of the gap closed"),
        ),
        rows=[
            (
                result.dataset,
                result.questions,
                result.rounds,
                *(f"{result.mrr[name].value:.3f}" for name in CHOOSERS),
                *(str(result.gained[name]) for name in ("random", "first")),
                str(result.closed),
            )
            for result in results
        ],
        note="In brackets: 95 % bootstrap interval over questions. The gap is that between a "
        "random and the best possible candidate.",
    )


def groups(made: Iterable[Round], embed: Embed) -> Iterator[Group]:
    """Rounds as the head of the assessor is trained on them."""
    for one in made:
        evidence = [paragraph.page for paragraph in one.evidence]
        inputs = features(one.question.question, evidence, one.candidates, embed)
        gains = np.array(one.gains, np.float32)
        yield Group(one.question.question, one.question.dataset, inputs, gains)
