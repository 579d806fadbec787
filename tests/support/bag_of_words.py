"""Sentence vectors without a model: texts that share words are near each other."""

import zlib
from collections.abc import Sequence

import numpy as np
from langchain_core.embeddings import Embeddings

from planweave.learning import Floats, words

SIZE = 64


def embed(texts: Sequence[str]) -> Floats:
    """Vectors [n, 64] of unit length."""
    rows = np.full((len(texts), SIZE), 1e-3, np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in words(text):
            row[zlib.crc32(word.encode()) % SIZE] += 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


class WordEmbeddings(Embeddings):
    """The same, whichever model is asked for; ``texts`` holds all of documents that it embedded."""

    def __init__(self, _: object = "") -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return self.vectors(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.vectors([text])[0]

    def vectors(self, texts: list[str]) -> list[list[float]]:
        made: list[list[float]] = embed(texts).tolist()
        return made
