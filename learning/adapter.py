"""Training of the adapter for the embedded model's judgement of questions and rows.

Low-rank adaptation (Hu et al. 2021, arXiv 2106.09685) of the upper layers. All items of one
database form one sequence: the schema once, then the questions, which do not see each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]  # it ships no types

from planweave.learning.language_model import Adapter, LanguageModel, hidden_states, new_adapter

_ROUND = 256
"""Lengths are padded to a multiple of this, so that few programs are compiled."""


class Item(NamedTuple):
    """The tokens of a question and of the target reply, and the weight of the item."""

    asked: Sequence[int]
    reply: Sequence[int]
    weight: float


class Ground(NamedTuple):
    """The tokens before all items of a database, and the items."""

    tokens: Sequence[int]
    items: Sequence[Item]


class Batch(NamedTuple):
    """One sequence; ``aims`` is the target next token where ``weights`` is not 0."""

    tokens: jax.Array
    places: jax.Array
    parts: jax.Array  # 0 for the ground, n for the n-th item, -1 for nothing
    aims: jax.Array
    at: jax.Array
    weights: jax.Array


class Step(NamedTuple):
    """The number of grounds that are read, their total, and the last loss."""

    done: int
    whole: int
    loss: float


@dataclass(frozen=True, kw_only=True)
class AdapterSettings:
    """How the adapter is trained."""

    seed: int = 1
    layers: int = 16
    rank: int = 8
    scale: float = 2.0
    rate: float = 2e-4  # of the wide parts
    ratio: float = 4.0  # the narrow parts learn faster (Hayou et al. 2024, arXiv 2402.12354)
    warm_up: int = 6  # steps
    seconds: float = 4800.0


def pack(ground: Ground) -> Batch:
    """Pack all items of a ground into one sequence."""
    tokens, places = list(ground.tokens), list(range(len(ground.tokens)))
    parts = [0] * len(tokens)
    at: list[int] = []
    aims: list[int] = []
    weights: list[float] = []
    for number, item in enumerate(ground.items, start=1):
        first, size = len(tokens) + len(item.asked) - 1, len(item.asked) + len(item.reply)
        places += range(len(ground.tokens), len(ground.tokens) + size)
        tokens += [*item.asked, *item.reply]
        parts += [number] * size
        at += range(first, first + len(item.reply))
        aims += item.reply
        weights += [item.weight / len(item.reply)] * len(item.reply)
    whole = sum(item.weight for item in ground.items)
    return Batch(
        _pad(tokens, 0),
        _pad(places, 0),
        _pad(parts, -1),
        _pad(aims, 0),
        _pad(at, 0),
        _pad([weight / whole for weight in weights], 0),
    )


def _pad(values: Sequence[float], filler: int) -> jax.Array:
    missing = -len(values) % _ROUND
    return jnp.pad(jnp.asarray(values), (0, missing), constant_values=filler)


def loss(adapter: Adapter, model: LanguageModel, batch: Batch, scale: float) -> jax.Array:
    """Cross-entropy of the replies, weighted by item, independent of their length."""
    order = jnp.arange(len(batch.parts))
    same = batch.parts[:, None] == batch.parts
    seen = (same | (batch.parts == 0)) & (order[:, None] >= order)
    states = hidden_states(model, adapter, scale, batch.tokens, batch.places, seen)
    logits = (states[batch.at] @ model.output.T).astype(jnp.float32)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch.aims)
    return jnp.sum(losses * batch.weights)


def train(
    model: LanguageModel,
    grounds: Sequence[Ground],
    settings: AdapterSettings,
    *,
    progress: Callable[[Step], None] | None = None,
) -> Adapter:
    """Train one step on each ground; the rate falls with the share of the work or the time."""
    adapter = new_adapter(model, settings.layers, settings.rank, settings.seed)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(b2=0.95))
    state = optimiser.init(adapter)
    slope_of = jax.jit(jax.value_and_grad(partial(loss, scale=settings.scale)))
    order = np.random.default_rng(settings.seed).permutation(len(grounds))
    start = monotonic()
    for number, place in enumerate(order):
        share = max(number / len(order), (monotonic() - start) / max(settings.seconds, 1e-9))
        if share >= 1:
            break
        value, slope = slope_of(adapter, model, pack(grounds[place]))
        change, state = optimiser.update(slope, state)
        rate = settings.rate * min(1.0, (number + 1) / settings.warm_up) * max(0.03, 1 - share)
        adapter = {
            name: (down - rate * change[name][0], up - rate * settings.ratio * change[name][1])
            for name, (down, up) in adapter.items()
        }
        if progress:
            progress(Step(number + 1, len(order), float(value)))
    return adapter
