"""Past successes as guidance for a question: proposed paths, and whole paths that are nearest."""

import pathlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from learning.experience import experience_of
from learning.paths import Path, read_paths
from learning.slots import Slots
from learning.vectors import Embed, Floats, SentenceVectors
from models import embeddings
from planweave import BadInput

_KEEP = 4
_NUMBERED = re.compile(r"\{\d+\}")


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
        self.slots = Slots.of(self.paths)
        self._embed = embed
        self._vectors: Floats = embed([path.question for path in self.paths])
        self._forms = [self.slots.path(path) for path in self.paths]
        self._form_vectors: Floats = embed(
            [self.slots.question(path.question) for path in self.paths]
        )

    def nearest(self, question: str, k: int) -> list[Path]:
        """The whole paths of the ``k`` questions nearest to ``question``, the nearest first (RAP).

        Raises:
            ModelUnavailable: The frozen model is not on this machine.
        """
        cosines = self._vectors @ self._embed([question])[0]
        return [self.paths[row] for row in np.argsort(-cosines, kind="stable")[:k]]

    def propose(self, question: str, k: int) -> list[Suggestion]:
        """At most ``k`` different paths for a question, the likeliest first (InstructRAG).

        Raises:
            ModelUnavailable: The frozen model is not on this machine.
        """
        cosines = self._form_vectors @ self._embed([self.slots.question(question)])[0]
        found: dict[tuple[str, ...], list[str]] = {}
        for row in np.argsort(-cosines, kind="stable"):
            instructions = self._forms[row].instructions
            if len(found) == k and instructions not in found:
                break
            found.setdefault(instructions, []).append(self.paths[row].question)
        names = self.slots.names(question)
        return [Suggestion(filled(path, names), tuple(asked)) for path, asked in found.items()]

    def adapted(self, path: Path, question: str) -> tuple[str, ...]:
        """The instructions of a path with the names of another question in place of its own."""
        return filled(self.slots.path(path).instructions, self.slots.names(question))

    def select(self, _question: str, _suggestions: Sequence[Suggestion]) -> int:
        """The place of the path that suits the question best."""
        return 0


def filled(instructions: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Instructions with the names of a question in their numbered slots, as far as it has some."""
    values = {f"{{{number}}}": name for number, name in enumerate(names, start=1)}
    return tuple(
        _NUMBERED.sub(lambda slot: values.get(slot[0], slot[0]), text) for text in instructions
    )


def open_guide(file: str | None, owner: str) -> Guide:
    """The guide of a file of paths, or of an owner's experience; made once for the same paths.

    Raises:
        BadInput: The paths cannot be read, or none of them succeeded.
        ModelUnavailable: The frozen model is not on this machine.
    """
    if file is not None:
        return guide_of(tuple(read_paths(pathlib.Path(file))))
    return guide_of(tuple(entry.path for entry in experience_of(owner).entries()))


@lru_cache(maxsize=_KEEP)
def guide_of(paths: tuple[Path, ...]) -> Guide:
    """The guide of these paths, with the embedding model of this machine; made once.

    Raises:
        BadInput: None of them succeeded.
        ModelUnavailable: The frozen model is not on this machine.
    """
    return Guide(paths, SentenceVectors(embeddings()))
