"""Sentence vectors of a frozen model; training uses them and never changes them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeAlias

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from planweave.texts import digest

Floats: TypeAlias = NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Floats]
"""Turns n texts into n vectors [n, d] of unit length."""

_BLOCK = 256


class SentenceVectors:
    """Turns texts into vectors, each text once; safe for threads.

    ``keep`` vectors stay in memory; the least recently used go first. Whole blocks of new texts are
    also stored in ``folder``, so that a stopped run can continue. ``progress`` is called with the
    number of finished new texts and their total.
    """

    def __init__(
        self,
        model: Embeddings,
        *,
        keep: int = 4096,
        folder: Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._model, self._keep, self._folder = model, keep, folder
        self._progress = progress or (lambda *_: None)
        self._known: dict[str, Floats] = {}
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> Floats:
        """The vectors [n, d] of n texts, n > 0."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            for start in range(0, len(new), _BLOCK):
                block = new[start : start + _BLOCK]
                self._known.update(zip(block, self._embed_block(block), strict=True))
                self._progress(start + len(block), len(new))
            asked = {text: self._known.pop(text) for text in dict.fromkeys(texts)}
            self._known.update(asked)  # now the most recently used
            for text in list(self._known)[: max(0, len(self._known) - self._keep)]:
                del self._known[text]
        return np.stack([asked[text] for text in texts])

    def _embed_block(self, texts: list[str]) -> Floats:
        if self._folder is None or len(texts) < _BLOCK:
            return self._embed(texts)
        path = self._folder / f"{digest(chr(0).join(texts), 64)}.npy"
        with suppress(OSError, ValueError):  # not there yet, or damaged
            return np.asarray(np.load(path, allow_pickle=False), np.float32)
        vectors = self._embed(texts)
        self._folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.save(file, vectors, allow_pickle=False)
        part.replace(path)
        return vectors

    def _embed(self, texts: list[str]) -> Floats:
        return np.asarray(self._model.embed_documents(texts), np.float32)
