"""Past successes as guidance for a question: proposed paths, and whole paths that are nearest."""

import pathlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from learning.paths import Path, read_paths
from learning.vectors import Embed, Floats, SentenceVectors
from models import embeddings
from planweave import BadInput

_KEEP_OPEN = 4


class Suggestion(NamedTuple):
    """A path for a question.

    Attributes:
        instructions: In order; words that only their own question had may be slots.
        origins: The questions of the paths that they come from.
    """

    instructions: tuple[str, ...]
    origins: tuple[str, ...]


class Guide:
    """What paths that succeeded say to a new question.

    Args:
        paths: All that are known; those that failed are left out.
        embed: The frozen model of sentence vectors.

    Raises:
        BadInput: None of them succeeded.
    """

    def __init__(self, paths: Sequence[Path], embed: Embed) -> None:
        self.paths = [path for path in paths if path.reward >= 1]
        if not self.paths:
            raise BadInput(
                "There is no path that succeeded.",
                mend="Name a file of paths in `paths`, or add some: planweave experience add FILE",
            )
        self._embed = embed
        self._vectors: Floats = embed([path.question for path in self.paths])

    def nearest(self, question: str, k: int) -> list[Path]:
        """The whole paths of the ``k`` questions nearest to ``question``, the nearest first (RAP).

        Raises:
            ModelUnavailable: The frozen model is not on this machine.
        """
        cosines = self._vectors @ self._embed([question])[0]
        return [self.paths[row] for row in np.argsort(-cosines, kind="stable")[:k]]

    def propose(self, question: str, k: int) -> list[Suggestion]:
        """At most ``k`` paths for a question (InstructRAG).

        Raises:
            ModelUnavailable: The frozen model is not on this machine.
        """
        return [Suggestion(p.instructions, (p.question,)) for p in self.nearest(question, k)]

    def select(self, _question: str, _suggestions: Sequence[Suggestion]) -> int:
        """The place of the path that suits the question best."""
        return 0


def open_guide(file: str | None) -> Guide:
    """The guide of a file of paths, opened once as long as the file stays the same.

    Raises:
        BadInput: The file cannot be read, or none of its paths succeeded.
        ModelUnavailable: The frozen model is not on this machine.
    """
    if file is None:
        return Guide([], SentenceVectors(embeddings()))
    path = pathlib.Path(file)
    return _opened(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=_KEEP_OPEN)
def _opened(file: pathlib.Path, _changed: int) -> Guide:
    return Guide(read_paths(file), SentenceVectors(embeddings()))
