"""Training of the plan assessor's head, in JAX; only this module needs the extra ``learning``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]  # it ships no types

from planweave.learning.features import Group
from planweave.learning.vectors import Floats

Parameters: TypeAlias = dict[str, jax.Array]

_MASKED = -1e9  # score of a place that holds no candidate


class Batch(NamedTuple):
    """Groups padded to one size."""

    inputs: jax.Array  # [n, most, features], standardised
    gains: jax.Array
    real: jax.Array  # [n, most], 0 if a group has no such candidate
    weights: jax.Array


class Epoch(NamedTuple):
    """The result of an epoch: losses, and the MRR of the candidates chosen in the held-out part."""

    loss: float
    held_out_loss: float
    held_out_mrr: float


@dataclass(frozen=True, kw_only=True)
class HeadSettings:
    """How the head is trained."""

    seed: int = 1
    hidden: int = 64
    rate: float = 2e-3  # step size of AdamW
    decay: float = 1e-3
    dropout: float = 0.1  # share of the dropped inputs
    batch: int = 128
    epochs: int = 80
    patience: int = 15  # epochs without a better held-out MRR after which it stops
    held_out: float = 0.15  # share of the questions that decides when to stop
    sharpness: float = 6.0  # inverse temperature of the target ranking


class Trained(NamedTuple):
    """The best weights, all epochs, and the number (from 0) of the epoch of these weights."""

    weights: dict[str, Floats]
    epochs: list[Epoch]
    best: int


def logits(parameters: Parameters, inputs: jax.Array) -> jax.Array:
    """Scores before the sigmoid [...] for standardised inputs [..., features]."""
    hidden = jnp.tanh(inputs @ parameters["w1"] + parameters["b1"])
    return hidden @ parameters["w2"] + parameters["b2"]


def loss(scores: jax.Array, batch: Batch, sharpness: float) -> jax.Array:
    """The distance of scores [n, most] from the gains.

    The sum of two parts, the weighted mean over groups: cross-entropy of each score with its gain,
    which makes the sigmoid of the score an expected reciprocal rank, and ListNet (Cao et al. 2007,
    top one), which ranks the candidates of a group.
    """
    each = optax.sigmoid_binary_cross_entropy(scores, batch.gains) * batch.real
    regression = each.sum(axis=1) / batch.real.sum(axis=1)
    present = batch.real > 0
    aim = jax.nn.softmax(jnp.where(present, batch.gains * sharpness, _MASKED))
    ranking = -(aim * jax.nn.log_softmax(jnp.where(present, scores, _MASKED))).sum(axis=1)
    return jnp.mean((regression + ranking) * batch.weights)


def train(
    groups: Sequence[Group],
    settings: HeadSettings | None = None,
    *,
    progress: Callable[[Epoch], None] | None = None,
) -> Trained:
    """Train a head on the rounds of at least two questions; returns the weights of the best epoch.

    The split does not depend on the order of the groups.
    """
    settings = settings or HeadSettings()
    held = _draw_held_out([group.question for group in groups], settings)
    inside = [group for group in groups if group.question not in held]
    outside = [group for group in groups if group.question in held]
    rows = np.concatenate([group.inputs for group in inside])
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-3
    fitting, deciding = _to_batch(inside, mean, scale), _to_batch(outside, mean, scale)
    parameters, epochs, best = _fit(fitting, deciding, settings, progress or (lambda _: None))
    arrays = {name: np.asarray(value, np.float32) for name, value in parameters.items()}
    return Trained({"mean": mean, "scale": scale, **arrays}, epochs, best)


def _draw_held_out(questions: Sequence[str], settings: HeadSettings) -> frozenset[str]:
    names = sorted(set(questions))
    drawn = np.random.default_rng(settings.seed).permutation(len(names))
    return frozenset(names[row] for row in drawn[: max(1, round(len(names) * settings.held_out))])


def _to_batch(groups: Sequence[Group], mean: Floats, scale: Floats) -> Batch:
    most = max(len(group.gains) for group in groups)
    inputs = np.zeros((len(groups), most, len(mean)), np.float32)
    gains, real = np.zeros((2, len(groups), most), np.float32)
    for row, group in enumerate(groups):
        size = len(group.gains)
        inputs[row, :size] = (group.inputs - mean) / scale
        gains[row, :size], real[row, :size] = group.gains, 1
    datasets = [group.dataset for group in groups]
    weights = np.array([datasets.count(name) ** -0.5 for name in datasets], np.float32)
    return Batch(*map(jnp.asarray, (inputs, gains, real, weights / weights.mean())))


def _first_parameters(features: int, settings: HeadSettings) -> Parameters:
    one, two = jax.random.split(jax.random.PRNGKey(settings.seed))
    shape = (features, settings.hidden)
    return {
        "w1": jax.random.normal(one, shape) / jnp.sqrt(features),
        "b1": jnp.zeros(settings.hidden),
        "w2": jax.random.normal(two, (settings.hidden,)) / jnp.sqrt(settings.hidden),
        "b2": jnp.zeros(()),
    }


def _fit(
    fitting: Batch, deciding: Batch, settings: HeadSettings, progress: Callable[[Epoch], None]
) -> tuple[Parameters, list[Epoch], int]:
    """Train until the held-out MRR stops rising; the best parameters, all epochs, the best one."""
    optimiser = optax.adamw(settings.rate, weight_decay=settings.decay)
    parameters = _first_parameters(fitting.inputs.shape[-1], settings)
    state = optimiser.init(parameters)

    def loss_with_dropout(parameters: Parameters, batch: Batch, key: jax.Array) -> jax.Array:
        kept = jax.random.bernoulli(key, 1 - settings.dropout, batch.inputs.shape)
        inputs = batch.inputs * kept / (1 - settings.dropout)
        return loss(logits(parameters, inputs), batch, settings.sharpness)

    @jax.jit
    def step(
        parameters: Parameters, state: optax.OptState, batch: Batch, key: jax.Array
    ) -> tuple[Parameters, optax.OptState, jax.Array]:
        value, slope = jax.value_and_grad(loss_with_dropout)(parameters, batch, key)
        change, state = optimiser.update(slope, state, parameters)
        return optax.apply_updates(parameters, change), state, value

    order = np.random.default_rng(settings.seed)
    key = jax.random.PRNGKey(settings.seed + 1)
    epochs: list[Epoch] = []
    kept, best = parameters, 0
    while len(epochs) < settings.epochs and len(epochs) - best <= settings.patience:
        values = []
        for rows in _slices(order.permutation(len(fitting.gains)), settings.batch):
            key, own = jax.random.split(key)
            batch = Batch(*(array[rows] for array in fitting))
            parameters, state, value = step(parameters, state, batch, own)
            values.append(float(value))
        epochs.append(_evaluate(float(np.mean(values)), parameters, deciding, settings))
        progress(epochs[-1])
        if len(epochs) == 1 or epochs[-1].held_out_mrr > epochs[best].held_out_mrr:
            kept, best = parameters, len(epochs) - 1
    return kept, epochs, best


def _slices(rows: np.ndarray[tuple[int], np.dtype[np.int64]], size: int) -> list[jax.Array]:
    """Slices of one size, for one compilation; a shorter rest waits for the next epoch."""
    size = min(size, len(rows))
    edges = range(0, len(rows) + 1, size)
    return [jnp.asarray(rows[start:end]) for start, end in pairwise(edges)]


def _evaluate(value: float, parameters: Parameters, held: Batch, settings: HeadSettings) -> Epoch:
    scores = logits(parameters, held.inputs)
    chosen = jnp.argmax(jnp.where(held.real > 0, scores, _MASKED), axis=1)
    mrr = jnp.take_along_axis(held.gains, chosen[:, None], axis=1).mean()
    return Epoch(value, float(loss(scores, held, settings.sharpness)), float(mrr))
