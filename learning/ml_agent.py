"""The ML-Agent: selects one of the proposed paths (arXiv 2504.13032, section 4.4).

It has two text encoders like CLIP's (Radford et al. 2021), one for questions and one for paths,
with shared self-attention layers. A token is the frozen vector of a sentence: the question, or an
instruction. A few hundred paths are too few to learn from words.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from planweave.learning.rl_agent import Parameters, Proposal
from planweave.learning.slots import QuestionSlots, embed_questions
from planweave.learning.vectors import Embed, Floats

Array: TypeAlias = Any
"""Of NumPy or JAX."""

HEADS = 4
PLACES = 25
"""Tokens of a sequence, including the end token."""

WORTH = 100.0
"""Weight of the expected overlap beside the scaled cosine: 0.01 of it is a logit of 1."""

QUESTION, PATH = "question", "path"
_MASKED = -1e9


def sequence(vectors: Floats, size: int) -> tuple[Floats, Floats]:
    """Vectors [n, d] padded with zeros to [size, d], and [size] with a 1 at the end token.

    At most the first ``size - 1`` vectors are kept; the end token follows them.
    """
    kept = vectors[: size - 1]
    filled = np.zeros((size, vectors.shape[1]), np.float32)
    filled[: len(kept)] = kept
    end = np.zeros(size, np.float32)
    end[len(kept)] = 1
    return filled, end


def encode(
    parameters: Parameters, kind: str, vectors: Array, ends: Array, xp: ModuleType = np
) -> Array:
    """Sequences as vectors of unit length [n, width]: the top layer's output at the end token.

    ``kind`` is ``question`` or ``path``; ``vectors`` [n, size, d] and ``ends`` [n, size] are
    of :func:`sequence`; ``xp`` is ``numpy``, or ``jax.numpy`` for training.
    """
    own = {n.removeprefix(f"{kind}."): v for n, v in parameters.items() if n.startswith(f"{kind}.")}
    size = vectors.shape[1]
    tokens = vectors @ own["token"] + ends[..., None] * own["end"] + own["place"][:size]
    hidden_ahead = xp.triu(xp.full((size, size), _MASKED, vectors.dtype), 1)
    for layer in range(sum(name.endswith(".wide") for name in own)):
        at = f"{layer}."
        normal = _normalise(tokens, own[at + "norm1"], xp)
        tokens = tokens + _attention(parameters, layer, normal, hidden_ahead, xp)
        normal = _normalise(tokens, own[at + "norm2"], xp)
        wide = normal @ own[at + "wide"] + own[at + "wide_bias"]
        wide = wide / (1 + xp.exp(-1.702 * wide))  # CLIP's quick GELU
        tokens = tokens + wide @ own[at + "narrow"] + own[at + "narrow_bias"]
    encodings = (_normalise(tokens, own["norm"], xp) * ends[..., None]).sum(axis=1) @ own["out"]
    return encodings / xp.sqrt((encodings**2).sum(axis=-1, keepdims=True) + 1e-12)


def _normalise(tokens: Array, weights: Array, xp: ModuleType) -> Array:
    """Layer normalisation; ``weights`` [2, width] are scale and shift."""
    centred = tokens - tokens.mean(axis=-1, keepdims=True)
    spread = xp.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    return centred / spread * weights[0] + weights[1]


def _attention(
    parameters: Parameters, layer: int, tokens: Array, ahead: Array, xp: ModuleType
) -> Array:
    """Self-attention with several heads and a causal mask; both encoders use these weights."""
    n, size, width = tokens.shape
    projected = tokens @ parameters[f"shared.{layer}.qkv"] + parameters[f"shared.{layer}.qkv_bias"]
    parts = projected.reshape(n, size, 3, HEADS, width // HEADS).transpose(2, 0, 3, 1, 4)
    scores = parts[0] @ parts[1].swapaxes(-1, -2) / (width // HEADS) ** 0.5 + ahead
    scores = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = scores / scores.sum(axis=-1, keepdims=True) @ parts[2]
    joined = mixed.transpose(0, 2, 1, 3).reshape(n, size, width)
    return joined @ parameters[f"shared.{layer}.out"] + parameters[f"shared.{layer}.out_bias"]


def shapes(input_width: int, width: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The shape of each parameter."""
    shapes_by_name: dict[str, tuple[int, ...]] = {"scale": (), "match": (2,)}
    for layer in range(layers):
        at = f"shared.{layer}."
        shapes_by_name |= {at + "qkv": (width, 3 * width), at + "qkv_bias": (3 * width,)}
        shapes_by_name |= {at + "out": (width, width), at + "out_bias": (width,)}
    for kind in (QUESTION, PATH):
        shapes_by_name |= {f"{kind}.token": (input_width, width), f"{kind}.end": (width,)}
        shapes_by_name |= {f"{kind}.place": (PLACES, width), f"{kind}.norm": (2, width)}
        shapes_by_name |= {f"{kind}.out": (width, width)}
        for layer in range(layers):
            at = f"{kind}.{layer}."
            shapes_by_name |= {at + "norm1": (2, width), at + "norm2": (2, width)}
            shapes_by_name |= {at + "wide": (width, 4 * width), at + "wide_bias": (4 * width,)}
            shapes_by_name |= {at + "narrow": (4 * width, width), at + "narrow_bias": (width,)}
    return shapes_by_name


class MLAgent:
    """Selects the path that suits a question best."""

    def __init__(
        self, parameters: Parameters, embed: Embed, *, slots: QuestionSlots | None = None
    ) -> None:
        self._parameters, self._embed, self._slots = parameters, embed, slots

    def select(self, question: str, proposals: Sequence[Proposal]) -> int:
        """The index of the path with the highest score; there is at least one path."""
        paths = [each.instructions for each in proposals]
        expected = [each.expected for each in proposals]
        return int(np.argmax(self.scores(question, paths, expected)))

    def scores(
        self, question: str, paths: Sequence[Sequence[str]], expected: Sequence[float]
    ) -> Floats:
        """The score [n] of each of n > 0 paths for a question.

        The paper's score is the cosine of their encodings over a temperature; ours adds the
        expected overlap of the path times :data:`WORTH`.
        """
        cosines = self.cosines(question, paths) * np.exp(self._parameters["scale"])
        return np.asarray(cosines + WORTH * np.array(expected), np.float32)

    def cosines(self, question: str, paths: Sequence[Sequence[str]]) -> Floats:
        """The cosine [n] of a question with each of n > 0 paths."""
        texts = list(dict.fromkeys(text for path in paths for text in path))
        vectors = dict(zip(texts, self._embed(texts), strict=True))
        asked = _to_batch([embed_questions([question], self._embed, self._slots)])
        shown = _to_batch([np.stack([vectors[text] for text in path]) for path in paths])
        one = encode(self._parameters, QUESTION, *asked)
        return np.asarray(encode(self._parameters, PATH, *shown) @ one[0], np.float32)


def _to_batch(sequences: Sequence[Floats]) -> tuple[Floats, Floats]:
    size = min(PLACES, max(map(len, sequences)) + 1)
    pairs = [sequence(vectors, size) for vectors in sequences]
    return np.stack([filled for filled, _ in pairs]), np.stack([end for _, end in pairs])
