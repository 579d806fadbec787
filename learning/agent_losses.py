"""The losses of the two agents, in JAX (arXiv 2504.13032, sections 4.3 and 4.4).

This module and :mod:`planweave.learning.meta_training` need the extra ``learning``.
"""

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]  # it ships no types

from planweave.learning.ml_agent import PATH, QUESTION, WORTH, Array, encode
from planweave.learning.rl_agent import log_chances

Parameters: TypeAlias = dict[str, jax.Array]

_MASKED = -1e9


class Labelled(NamedTuple):
    """States with labels, for the warm start."""

    states: Array
    labels: Array  # [n], 1 if the node is on the question's path


class Played(NamedTuple):
    """Decisions of finished searches, for the policy gradient."""

    states: Array
    actions: Array  # [n], 1 for included
    returns: Array  # [n], the return of each decision; 0 for padding
    searches: Array  # [], number of searches


class Sequences(NamedTuple):
    """Sequences of vectors: [..., size, d] and [..., size]; see :func:`ml_agent.sequence`."""

    vectors: Array
    ends: Array


class Pairs(NamedTuple):
    """Questions with the paths that solved them, for pre-training."""

    questions: Sequences
    paths: Sequences
    same: Array  # [n, n], 1 where two paths are the same, so that neither is a wrong one for it
    printed: Array  # [], 1 to leave the right path out of the denominators, as the paper does


class Pools(NamedTuple):
    """Questions with tried paths, for fine-tuning."""

    questions: Sequences
    paths: Sequences  # [n, pool], the tried paths of each, best first
    expected: Array  # [n, pool], the expected overlap; 0 if it does not count
    worse: Array  # [n, pool], 1 if a path was worse than the first
    same: Array  # [n, n], 1 if the best paths of two questions are the same
    real: Array  # [n], 0 if no path is better than another
    printed: Array  # as in `Pairs`


def warm_start(parameters: Parameters, batch: Labelled) -> jax.Array:
    """L_WS, equation 4: binary cross-entropy of including a node."""
    chances = log_chances(parameters, batch.states, jnp)
    each: jax.Array = -jnp.where(batch.labels > 0, chances[:, 1], chances[:, 0])
    return each.mean()


def policy_gradient(parameters: Parameters, batch: Played) -> jax.Array:
    """L_PG, equation 5: -R ln pi(a|s) over the decisions of a search, the mean over searches."""
    chances = log_chances(parameters, batch.states, jnp)
    taken = jnp.where(batch.actions > 0, chances[:, 1], chances[:, 0])
    mean: jax.Array = -jnp.sum(taken * batch.returns) / jnp.maximum(batch.searches, 1)
    return mean


def pre_training(parameters: Parameters, batch: Pairs) -> jax.Array:
    """L_PT = L_QPA + L_QPM, equations 6 to 8.

    QPA is InfoNCE in both directions: the paper's denominator omits the positive, ours includes it
    (see :func:`_contrast`). QPM pairs each question with its own path and with that of the next
    question.
    """
    cosines = _encode(parameters, QUESTION, batch.questions)
    paths = _encode(parameters, PATH, batch.paths)
    cosines = cosines @ paths.T
    n = len(cosines)
    is_wrong = (1 - batch.same) * (1 - jnp.eye(n))
    logits = cosines * jnp.exp(parameters["scale"])
    ways = (_contrast(jnp.diagonal(a), a, is_wrong, batch.printed) for a in (logits, logits.T))
    alignment = sum(way.mean() for way in ways) / 2
    ring = (jnp.arange(n), (jnp.arange(n) + 1) % n)
    slope, shift = parameters["match"]
    right = optax.sigmoid_binary_cross_entropy(slope * jnp.diagonal(cosines) + shift, jnp.ones(n))
    wrong = optax.sigmoid_binary_cross_entropy(slope * cosines[ring] + shift, jnp.zeros(n))
    differ = 1 - batch.same[ring]
    matching = (right.sum() + (wrong * differ).sum()) / (n + differ.sum())
    both: jax.Array = alignment + matching
    return both


def fine_tuning(parameters: Parameters, batch: Pools) -> jax.Array:
    """L_FT, equation 9: the best path of a pool against the worse ones, in both directions.

    From question to path over the question's own pool, from path to question over the batch.
    """
    questions = _encode(parameters, QUESTION, batch.questions)
    n, size = batch.worse.shape
    flat = Sequences(*(array.reshape(n * size, *array.shape[2:]) for array in batch.paths))
    paths = _encode(parameters, PATH, flat).reshape(n, size, -1)
    scale = jnp.exp(parameters["scale"])
    own = jnp.einsum("nd,npd->np", questions, paths) * scale
    own = own + WORTH * batch.expected
    forth = _contrast(own[:, 0], own, batch.worse.at[:, 0].set(0), batch.printed)
    across = paths[:, 0] @ questions.T * scale
    others = (1 - batch.same) * (1 - jnp.eye(n))
    back = _contrast(jnp.diagonal(across), across, others, batch.printed)
    mean: jax.Array = jnp.sum((forth + back) / 2 * batch.real) / jnp.maximum(batch.real.sum(), 1)
    return mean


def _encode(parameters: Parameters, kind: str, sequences: Sequences) -> jax.Array:
    encoded: jax.Array = encode(parameters, kind, sequences.vectors, sequences.ends, jnp)
    return encoded


def _contrast(right: jax.Array, logits: jax.Array, wrong: Array, printed: Array) -> jax.Array:
    """Cross-entropy [n] of the right one (logit [n]) among wrong ones (equations 7 and 9).

    ``wrong`` [n, m] is 1 where a logit belongs to a wrong one. ``printed`` is 1 to
    leave the right one out of the denominator; a row without a wrong one then counts nothing.
    """
    against = jax.nn.logsumexp(jnp.where(wrong > 0, logits, _MASKED), axis=1)
    ours: jax.Array = jnp.logaddexp(against, right) - right
    return jnp.where(printed > 0, jnp.where(wrong.any(axis=1), against - right, 0.0), ours)
