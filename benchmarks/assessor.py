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

from benchmarks.assessor_rounds import Order, Round, rounds
from benchmarks.multihop import Corpus, MultiHop
from benchmarks.table import Table
from learning import Embed, Group, PlanAssessor, features
from planweave import BadInput

_DRAWS = 10_000
_LEVEL = (0.025, 0.975)


class Choice(NamedTuple):
    """What the choosers got in one round; ``random`` is its expectation."""

    question: str
    random: float
    first: float
    assessor: float
    best: float


_CHOOSERS = Choice._fields[1:]


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """The figures of a data set.

    Attributes:
        dataset: Its name.
        questions: How many were searched for.
        left_out: Questions of the files that the assessor was trained on.
        paragraphs: Size of the corpus.
        rounds: Choices made.
        mrr: Of each chooser.
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


def measure(
    questions: Sequence[MultiHop],
    assessor: PlanAssessor,
    embed: Embed,
    *,
    seed: int = 1,
    candidates: int = 5,
    order: Order = "question",
) -> list[Result]:
    """Have the assessor choose in every round of the questions that it was not trained on.

    Args:
        questions: Those of one data set share a corpus, in which those left out stay.
        assessor: What is measured.
        embed: The model of the corpus' vectors.
        seed: Of the candidates that are drawn, and of the bootstrap.
        candidates: Most candidates of a round.
        order: Of the proposer, which says what the first candidate is.

    Raises:
        BadInput: It was trained on all of them.
    """
    results = []
    for dataset in dict.fromkeys(question.dataset for question in questions):
        own = [question for question in questions if question.dataset == dataset]
        unseen = [question for question in own if not assessor.knows(question.question)]
        if not unseen:
            raise BadInput(
                f"The plan assessor was trained on every question of {dataset} in these files.",
                mend="Name a file of questions that it has not seen, such as a dev split.",
            )
        corpus = Corpus(own, embed)
        made = rounds(unseen, corpus, seed=seed, candidates=candidates, order=order)
        choices = [choice(one, assessor) for one in made]
        sizes = (len(unseen), len(own) - len(unseen), len(corpus.paragraphs))
        results.append(_result(dataset, sizes, choices, seed))
    return results


def choice(one: Round, assessor: PlanAssessor) -> Choice:
    """What each chooser gets in a round."""
    evidence = [paragraph.page for paragraph in one.evidence]
    scores = assessor.scores(one.question.question, evidence, one.candidates)
    chosen = one.gains[int(np.argmax(scores))]
    return Choice(one.question.id, fmean(one.gains), one.gains[0], chosen, max(one.gains))


def _result(
    dataset: str, sizes: tuple[int, int, int], choices: Sequence[Choice], seed: int
) -> Result:
    means = _means(choices, seed)
    more = {name: means["assessor"] - means[name] for name in ("random", "first")}
    room = np.maximum(means["best"] - means["random"], 1e-9)
    return Result(
        dataset=dataset,
        questions=sizes[0],
        left_out=sizes[1],
        paragraphs=sizes[2],
        rounds=len(choices),
        mrr={name: _estimate(values) for name, values in means.items()},
        gained={name: _estimate(values) for name, values in more.items()},
        closed=_estimate(more["random"] / room),
    )


def _means(choices: Sequence[Choice], seed: int) -> dict[str, NDArray[np.float64]]:
    """The mean of each chooser [1 + draws]: as it is, then in each draw of questions."""
    rows = {name: row for row, name in enumerate(dict.fromkeys(one.question for one in choices))}
    sums, counts = np.zeros((len(rows), len(_CHOOSERS))), np.zeros(len(rows))
    for one in choices:
        sums[rows[one.question]] += one[1:]
        counts[rows[one.question]] += 1
    drawn = np.random.default_rng(seed).integers(len(rows), size=(_DRAWS, len(rows)))
    totals = np.array([sums.sum(axis=0), *(sums[draw].sum(axis=0) for draw in drawn)])
    rounds_of = np.array([counts.sum(), *(counts[draw].sum() for draw in drawn)])
    return dict(zip(_CHOOSERS, (totals / rounds_of[:, None]).T, strict=True))


def _estimate(values: NDArray[np.float64]) -> Estimate:
    low, high = np.quantile(values[1:], _LEVEL)
    return Estimate(float(values[0]), float(low), float(high))


def table(results: Sequence[Result]) -> Table:
    """The figures as a table."""
    return Table(
        title="Which query is searched next: MRR of the chosen candidate",
        columns=(
            *("data set", "questions", "rounds", *_CHOOSERS),
            *("more than random", "more than first", "of the gap closed"),
        ),
        rows=[
            (
                result.dataset,
                result.questions,
                result.rounds,
                *(f"{result.mrr[name].value:.3f}" for name in _CHOOSERS),
                *(_interval(result.gained[name]) for name in ("random", "first")),
                _interval(result.closed),
            )
            for result in results
        ],
        note="In brackets: 95 % bootstrap interval over questions. The gap is that between a "
        "random and the best possible candidate.",
    )


def _interval(figure: Estimate) -> str:
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"


def groups(made: Iterable[Round], embed: Embed) -> Iterator[Group]:
    """Rounds as the head of the assessor is trained on them."""
    for one in made:
        evidence = [paragraph.page for paragraph in one.evidence]
        inputs = features(one.question.question, evidence, one.candidates, embed)
        gains = np.array(one.gains, np.float32)
        yield Group(one.question.question, one.question.dataset, inputs, gains)
