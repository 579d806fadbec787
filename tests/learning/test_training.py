"""The head of the plan assessor: its loss by hand, and that it learns."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from planweave.learning import Floats, Group
from planweave.learning.plan_assessor import expected_ranks
from planweave.learning.training import Epoch, HeadSettings, Trained, logits, train

pytestmark = pytest.mark.slow

SHORT = HeadSettings(epochs=30, hidden=8, batch=32)
SMALL = HeadSettings(epochs=3, hidden=4, seed=7)


def toy(seed: int, count: int = 240) -> list[Group]:
    """The gain lies in one of three inputs, against the second; the third is noise."""
    random = np.random.default_rng(seed)
    groups = []
    for number in range(count):
        inputs = random.normal(5, 3, (int(random.integers(2, 6)), 3)).astype(np.float32)
        gains = 1 / (1 + np.exp(-(inputs[:, 0] - inputs[:, 1])))
        groups.append(Group(f"q{number // 2}", "ab"[number % 2], inputs, gains.astype(np.float32)))
    return groups


def chosen(weights: dict[str, Floats], groups: list[Group]) -> float:
    return float(np.mean([g.gains[np.argmax(expected_ranks(weights, g.inputs))] for g in groups]))


def test_a_toy_ranking_is_learned() -> None:
    told: list[Epoch] = []
    trained = train(toy(1), SHORT, progress=told.append)
    unseen = toy(2)
    best = np.mean([group.gains.max() for group in unseen])
    random = np.mean([group.gains.mean() for group in unseen])
    closed = (chosen(trained.weights, unseen) - random) / (best - random)
    assert closed > 0.9
    assert told == trained.epochs
    assert told[-1].loss < told[0].loss
    assert trained.best == max(range(len(told)), key=lambda n: told[n].held_out_mrr)


@pytest.fixture(scope="module")
def small() -> Trained:
    return train(toy(1, 60), SMALL)


def test_numpy_and_jax_agree(small: Trained) -> None:
    w = small.weights
    rows = toy(3, 5)[0].inputs
    parameters = {name: jnp.asarray(w[name]) for name in ("w1", "b1", "w2", "b2")}
    expected = jax.nn.sigmoid(logits(parameters, jnp.asarray((rows - w["mean"]) / w["scale"])))
    np.testing.assert_allclose(expected_ranks(w, rows), expected, rtol=1e-4)


def flat(weights: dict[str, Floats]) -> Floats:
    return np.concatenate([weights[name].ravel() for name in sorted(weights)])


def test_the_seed_decides(small: Trained) -> None:
    again, other = (train(toy(1, 60), replace(SMALL, seed=seed)) for seed in (7, 8))
    np.testing.assert_array_equal(flat(small.weights), flat(again.weights))
    assert small.epochs == again.epochs
    assert not np.array_equal(flat(small.weights), flat(other.weights))


def test_it_stops_when_nothing_gets_better() -> None:
    flat_gains = [group._replace(gains=np.ones_like(group.gains)) for group in toy(0, 40)]
    trained = train(flat_gains, HeadSettings(epochs=50, patience=4))
    assert (len(trained.epochs), trained.best) == (5, 0)


def test_rounds_of_a_question_stay_together() -> None:
    groups = [group._replace(question=f"q{n % 2}") for n, group in enumerate(toy(1, 60))]
    mean = train(groups, HeadSettings(epochs=1, held_out=0.5)).weights["mean"]
    sides = [np.concatenate([group.inputs for group in groups[n::2]]).mean(axis=0) for n in (0, 1)]
    assert any(np.allclose(mean, side, rtol=1e-4) for side in sides)  # the other is held out
