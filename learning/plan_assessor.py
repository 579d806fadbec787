"""The plan assessor: scores which query to search next (FuRePA, arXiv 2309.12767; own head)."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from planweave.learning import trained
from planweave.learning.features import FEATURES, CandidateQuery, features
from planweave.learning.vectors import Embed, Floats, SentenceVectors
from planweave.models import embeddings

SHIPPED = Path(__file__).parent / "artefacts" / "plan-assessor.npz"
VERSION = 1


class AssessorCard(trained.WeightsCard, frozen=True):
    """The card beside the weights."""

    features: tuple[str, ...] = FEATURES
    data: dict[str, dict[str, int]]  # questions and rounds of each data set
    metrics: dict[str, JsonValue]  # on what was held out for early stopping


def expected_ranks(w: Mapping[str, Floats], inputs: Floats) -> Floats:
    """The expected reciprocal rank, between 0 and 1, of each row [n, features].

    The head is a perceptron with one hidden layer. Its weights: ``mean`` and ``scale`` [features]
    of the inputs, ``w1`` [features, hidden], ``b1`` [hidden], ``w2`` [hidden], ``b2`` [].
    """
    hidden = np.tanh((inputs - w["mean"]) / w["scale"] @ w["w1"] + w["b1"])
    return np.asarray(1 / (1 + np.exp(-(hidden @ w["w2"] + w["b2"]))), np.float32)


class PlanAssessor:
    """Scores candidate queries by the expected benefit of their search.

    ``trained_on`` holds the sorted fingerprints of its training questions, beside the weights of
    :func:`expected_ranks`.
    """

    def __init__(
        self, weights: Mapping[str, NDArray[Any]], card: AssessorCard, embed: Embed | None = None
    ) -> None:
        self.card = card
        self._weights, self._embed = weights, embed

    def scores(
        self, question: str, evidence: Sequence[str], candidates: Sequence[CandidateQuery]
    ) -> list[float]:
        """The expected reciprocal rank, 0 to 1, of the next needed page for each query.

        The score of a candidate does not depend on the others. ``evidence`` holds the passages
        found so far, oldest first, as ``title: text``.
        """
        if not candidates:
            return []
        if self._embed is None:
            self._embed = SentenceVectors(embeddings(self.card.embeddings))
        seen = features(question, evidence, candidates, self._embed)
        return [float(score) for score in expected_ranks(self._weights, seen)]

    def knows(self, question: str) -> bool:
        """Whether it was trained on this question."""
        return bool(np.isin(fingerprint(question), self._weights["trained_on"]))


def fingerprint(question: str) -> np.uint64:
    """A number that identifies a question, regardless of spaces, case and punctuation."""
    plain = "".join(filter(str.isalnum, question.lower()))
    return np.uint64(int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest()))


@cache
def plan_assessor(path: Path = SHIPPED) -> PlanAssessor:
    """The plan assessor, loaded once; by default the shipped one."""
    return load_assessor(path)


def save(
    folder: Path, weights: Mapping[str, Floats], card: AssessorCard, trained_on: NDArray[np.uint64]
) -> Path:
    """Write ``plan-assessor.npz`` and its card, with the checksum, into a folder."""
    path = folder / SHIPPED.name
    trained.write(path, {"trained_on": trained_on, **weights}, card)
    return path


def load_assessor(path: Path, embed: Embed | None = None) -> PlanAssessor:
    """Load a plan assessor."""

    def fits(card: AssessorCard) -> bool:
        return (card.version, card.features) == (VERSION, FEATURES)

    return PlanAssessor(
        *trained.read(path, AssessorCard, fits, by="planweave train plan-assessor"), embed
    )
