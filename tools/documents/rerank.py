"""Rerankers: few texts are compared with the question once more, and more closely."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from planweave import BadInput
from planweave.models import process_settings, tokenizer
from planweave.models.embeddings import MAX_TOKENS, Encoder, Vectors, minilm

Reranker: TypeAlias = Callable[[str, Sequence[str]], list[float]]
"""Question and texts to a score for each text; higher is better."""

_PAIR_TOKENS = 512
_PIECE = MAX_TOKENS - 2  # the model adds a sign at either end


def reranker(name: str) -> Reranker:
    """The reranker called ``name``.

    Args:
        name: ``maxsim`` (late interaction over the token vectors of the offline embedding model),
            or ``onnx:/folder`` with a cross-encoder's ``model.onnx`` and ``tokenizer.json``.

    Raises:
        BadInput: There is no such reranker, or its files cannot be read.
        ModelUnavailable: Weights or a package are missing.
    """
    if name == "maxsim":
        return maxsim
    kind, _, folder = name.partition(":")
    if kind == "onnx" and folder:
        return _cross_encoder(Path(folder).expanduser())
    raise BadInput(
        f"There is no reranker {name!r}.",
        fix="Choose maxsim, or onnx:/folder with a cross-encoder's model.onnx and tokenizer.json.",
    )


def maxsim(question: str, texts: Sequence[str]) -> list[float]:
    """Sum over the question's tokens of the best cosine among the text's tokens.

    The score of ColBERT (Khattab & Zaharia 2020, equation 3), here with a model that was not
    trained for it. Texts longer than the model reads are compared in pieces.
    """
    model = minilm(process_settings())
    pieces = [_pieces(text) for text in texts]
    flat = [piece for parts in pieces for piece in parts]
    asked, *vectors = (tokens[1:-1] for tokens in model.token_vectors([question, *flat]))
    scores = []
    for parts in pieces:
        own, vectors = vectors[: len(parts)], vectors[len(parts) :]
        scores.append(_best(asked, own))
    return scores


def _best(asked: Vectors, pieces: Sequence[Vectors]) -> float:
    tokens = np.concatenate([*pieces, np.zeros((1, asked.shape[1]), np.float32)])
    return float((asked @ tokens.T).max(axis=1).sum()) if len(asked) else 0.0


def _pieces(text: str) -> list[str]:
    spans = tokenizer().spans(text)
    firsts = range(0, len(spans), _PIECE)
    return [text[spans[i][0] : spans[min(i + _PIECE, len(spans)) - 1][1]] for i in firsts]


@lru_cache(maxsize=4)
def _cross_encoder(folder: Path) -> Reranker:
    encoder = Encoder(
        folder / "model.onnx",
        folder / "tokenizer.json",
        max_tokens=_PAIR_TOKENS,
        threads=process_settings().threads,
    )

    def scores(question: str, texts: Sequence[str]) -> list[float]:
        found = encoder.encode([(question, text) for text in texts], lambda labels: labels)
        if any(labels.shape not in ((1,), (2,)) for labels in found):
            raise BadInput(
                f"The model in {folder} does not give a score for a question and a text.",
                fix="Name a cross-encoder that was trained to rerank.",
            )
        # With two labels, the second says that the text answers the question.
        return [float(labels[-1] - (labels[0] if len(labels) == 2 else 0)) for labels in found]

    return scores
