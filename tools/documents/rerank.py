"""Rerankers: few texts are compared with the question once more, and more closely."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from planweave import BadInput
from planweave.models import process_settings
from planweave.models.embeddings import Encoder

Reranker: TypeAlias = Callable[[str, Sequence[str]], list[float]]
"""Question and texts to a score for each text; higher is better."""

_PAIR_TOKENS = 512


def reranker(name: str) -> Reranker:
    """The reranker called ``name``.

    Args:
        name: ``onnx:/folder`` with a cross-encoder's ``model.onnx`` and ``tokenizer.json``.

    Raises:
        BadInput: There is no such reranker, or its files cannot be read.
        ModelUnavailable: Weights or a package are missing.
    """
    kind, _, folder = name.partition(":")
    if kind == "onnx" and folder:
        return _cross_encoder(Path(folder).expanduser())
    raise BadInput(
        f"There is no reranker {name!r}.",
        fix="Name onnx:/folder with a cross-encoder's model.onnx and tokenizer.json.",
    )


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
