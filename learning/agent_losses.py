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

_FAR = -1e9


class Labelled(NamedTuple):
    """States with labels, for the warm start.

    Attributes:
        states: [n, features].
        labels: [n], 1 where the node is on the question's path.
    """

    states: Array
    labels: Array


class Played(NamedTuple):
    """Decisions of finished searches, for the policy gradient.

    Attributes:
        states: [n, features].
        actions: [n], 1 for included.
        returns: [n], what each decision came to; 0 where a place was only filled up.
        searches: [], how many searches they are of.
    """

    states: Array
    actions: Array
    returns: Array
    searches: Array


class Sequences(NamedTuple):
    """Sequences of vectors: [..., size, d] and [..., size]; see :func:`ml_agent.sequence`."""

    vectors: Array
    ends: Array


class Pairs(NamedTuple):
    """Questions with the paths that solved them, for pre-training.

    Attributes:
        questions: Of n questions.
        paths: The path of each.
        same: [n, n], 1 where two paths are the same, so that neither is a wrong one.
    """

    questions: Sequences
    paths: Sequences
    same: Array


class Pools(NamedTuple):
    """Questions with paths that were tried, for fine-tuning.

    Attributes:
        questions: Of n questions.
        paths: [n, pool], what was tried for each; the best one first.
        expected: [n, pool], the overlap that each was expected to have; 0 if it does not
            count.
        worse: [n, pool], 1 where a path did worse than the first.
        same: [n, n], 1 where the best paths of two questions are the same.
        real: [n], 0 where no path is better than another.
    """

    questions: Sequences
    paths: Sequences
    expected: Array
    worse: Array
    same: Array
    real: Array


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

    QPA is InfoNCE in both directions: the printed denominator leaves the positive out, ours keeps
    it in. For QPM each question has its own path and that of the next question.
    """
    cosines = _encoded(parameters, QUESTION, batch.questions)
    paths = _encoded(parameters, PATH, batch.paths)
    cosines = cosines @ paths.T
    n = len(cosines)
    alignment = _info_nce(parameters, cosines, batch.same * (1 - jnp.eye(n)))
    ring = (jnp.arange(n), (jnp.arange(n) + 1) % n)
    slope, shift = parameters["match"]
    right = optax.sigmoid_binary_cross_entropy(slope * jnp.diagonal(cosines) + shift, jnp.ones(n))
    wrong = optax.sigmoid_binary_cross_entropy(slope * cosines[ring] + shift, jnp.zeros(n))
    differ = 1 - batch.same[ring]
    matching = (right.sum() + (wrong * differ).sum()) / (n + differ.sum())
    both: jax.Array = alignment + matching
    return both


def fine_tuning(parameters: Parameters, batch: Pools) -> jax.Array:
    """L_FT, equation 9: the best path of a pool against those that did worse, in both directions.

    From question to path over the question's own pool, from path to question over the batch.
    """
    questions = _encoded(parameters, QUESTION, batch.questions)
    n, size = batch.worse.shape
    flat = Sequences(*(array.reshape(n * size, *array.shape[2:]) for array in batch.paths))
    paths = _encoded(parameters, PATH, flat).reshape(n, size, -1)
    scale = jnp.exp(parameters["scale"])
    own = jnp.einsum("nd,npd->np", questions, paths) * scale
    own = own + WORTH * batch.expected
    counted = batch.worse.at[:, 0].set(1)
    forth = -jax.nn.log_softmax(jnp.where(counted > 0, own, _FAR), axis=1)[:, 0]
    across = paths[:, 0] @ questions.T * scale
    masked = jnp.where(batch.same * (1 - jnp.eye(n)) > 0, _FAR, across)
    back = -jnp.diagonal(jax.nn.log_softmax(masked, axis=1))
    mean: jax.Array = jnp.sum((forth + back) / 2 * batch.real) / jnp.maximum(batch.real.sum(), 1)
    return mean


def _encoded(parameters: Parameters, kind: str, sequences: Sequences) -> jax.Array:
    encoded: jax.Array = encode(parameters, kind, sequences.vectors, sequences.ends, jnp)
    return encoded


def _info_nce(parameters: Parameters, cosines: jax.Array, masked: jax.Array) -> jax.Array:
    """Symmetric cross-entropy of the diagonal (equation 7); ``masked`` places do not count."""
    logits = jnp.where(masked > 0, _FAR, cosines * jnp.exp(parameters["scale"]))
    forth = -jnp.diagonal(jax.nn.log_softmax(logits, axis=1))
    back = -jnp.diagonal(jax.nn.log_softmax(logits, axis=0))
    mean: jax.Array = (forth.mean() + back.mean()) / 2
    return mean
