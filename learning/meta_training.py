"""Training and few-shot adaptation of the two agents (arXiv 2504.13032, section 4.5).

Algorithm 2 (MAML, Finn et al. 2017: the outer step is differentiated through the inner one) and
Algorithm 3. The reward is any function of question and path: that of
:mod:`planweave.learning.overlap` needs nothing else, that of
:mod:`planweave.benchmarks.suites.environment.reward` plays episodes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]  # it ships no types

from planweave.learning.agent_batches import (
    Agents,
    AgentSettings,
    Batches,
    GraphMaterial,
    draw,
    draw_labels,
    to_numpy,
)
from planweave.learning.agent_losses import (
    Labelled,
    Pairs,
    Parameters,
    Played,
    Pools,
    fine_tuning,
    policy_gradient,
    pre_training,
    warm_start,
)
from planweave.learning.graph_states import Survey
from planweave.learning.ml_agent import Array, shapes
from planweave.learning.paths import MetaTask
from planweave.learning.rl_agent import Reward, calibrate
from planweave.learning.vectors import Embed

_Batch = TypeVar("_Batch", Labelled, Pairs, Played, Pools)
_Loss: TypeAlias = Callable[..., jax.Array]


class TrainingPoint(NamedTuple):
    """How an iteration went."""

    reward: float  # mean of its random searches; 0 without a policy gradient
    policy_gradient: float  # L_PG after the inner step
    fine_tuning: float


class Trained(NamedTuple):
    """The agents, and how each iteration went."""

    agents: Agents
    points: list[TrainingPoint]


def new_agents(settings: AgentSettings, input_width: int) -> Agents:
    """Agents with initial parameters."""
    random = np.random.default_rng(settings.seed)
    features, hidden = settings.features, settings.hidden
    rl = {
        "w1": random.normal(0, features**-0.5, (features, hidden)),
        "b1": np.zeros(hidden),
        "w2": random.normal(0, hidden**-0.5, (hidden, 2)),
        "b2": np.zeros(2),
    }
    ml = {}
    for name, shape in shapes(input_width, settings.width, settings.layers).items():
        if name.rpartition(".")[2].startswith("norm"):
            ml[name] = np.stack([np.ones(shape[1]), np.zeros(shape[1])])
        elif name.endswith("bias"):
            ml[name] = np.zeros(shape)
        else:
            inner = shape[0] if len(shape) == 2 else 2500
            ml[name] = random.normal(0, inner**-0.5, shape)
    ml |= {"scale": np.array(np.log(1 / 0.07)), "match": np.array([5.0, -2.0])}  # 0.07 is CLIP's
    return as_agents(rl, ml)


def as_agents(rl: Mapping[str, Array], ml: Mapping[str, Array]) -> Agents:
    """Agents with these parameters, such as those of a file, for further training."""
    return Agents(
        *({n: jnp.asarray(value, jnp.float32) for n, value in own.items()} for own in (rl, ml))
    )


@jax.jit
def take_step(parameters: Parameters, slopes: Parameters, rate: float) -> Parameters:
    """Take a step against a gradient."""
    return {name: value - rate * slopes[name] for name, value in parameters.items()}


@partial(jax.jit, static_argnums=0)
def _inner_update(loss: _Loss, parameters: Parameters, batch: _Batch, rate: float) -> Parameters:
    """An inner step: theta' = theta - alpha grad L."""
    inner: Parameters = take_step(parameters, jax.grad(loss)(parameters, batch), rate)
    return inner


def _outer_loss(before: _Loss, after: _Loss) -> _Loss:
    """A loss over tasks [tasks, ...], each after an inner step by another loss, summed."""

    def loss(parameters: Parameters, support: Any, query: Any, rate: float) -> jax.Array:
        def of_task(support: Any, query: Any) -> jax.Array:
            return after(_inner_update(before, parameters, support, rate), query)

        return jax.vmap(of_task)(support, query).sum()

    return loss


outer_rl = _outer_loss(warm_start, policy_gradient)
"""L_PG(theta') as a function of theta."""
outer_ml = _outer_loss(pre_training, fine_tuning)
"""L_FT(eta') as a function of eta."""


class _Adam(NamedTuple):
    """Parameters with the state of their optimiser."""

    parameters: Parameters
    state: optax.OptState


@partial(jax.jit, static_argnums=0)
def _adam_step(loss: _Loss, at: _Adam, step: float, *batch: object) -> tuple[jax.Array, _Adam]:
    """One step of Adam on a loss."""
    value, slopes = jax.value_and_grad(loss)(at.parameters, *batch)
    change, state = optax.scale_by_adam().update(slopes, at.state)
    return value, _Adam(take_step(at.parameters, change, step), state)


@jax.jit
def _start_adam(parameters: Parameters) -> _Adam:
    return _Adam(parameters, optax.scale_by_adam().init(parameters))


class _State(NamedTuple):
    """The state of the training."""

    rl: _Adam
    ml: _Adam
    points: list[TrainingPoint]

    @property
    def agents(self) -> Agents:
        return Agents(self.rl.parameters, self.ml.parameters)


def train(
    survey: Survey,
    materials: Sequence[GraphMaterial],
    embed: Embed,
    settings: AgentSettings,
    reward: Reward,
    *,
    progress: Callable[[int, TrainingPoint], None] | None = None,
) -> Trained:
    """Algorithm 2 on the seen tasks.

    Before the loop, L_WS and L_PT are minimised on all support sets (the paper does not say with
    which parameters its loop begins). Each iteration draws some tasks, and takes an inner step on
    the support set and an outer step on the query set of each.

    There must be at least one task with support and query questions. ``progress`` is called with
    the number of each iteration, from 1.
    """
    batches = Batches(survey, embed, settings, reward)
    rl, ml = _prepare(
        new_agents(settings, survey.question_vectors.shape[1]), materials, batches, settings
    )
    state = _State(_start_adam(rl), _start_adam(ml), [])
    for number in range(1, settings.iterations + 1):
        state = _iteration(state, materials, batches, settings)
        if progress is not None:
            progress(number, state.points[-1])
    return Trained(state.agents, state.points)


def adapt(
    agents: Agents,
    survey: Survey,
    task: MetaTask,
    embed: Embed,
    settings: AgentSettings,
    reward: Reward,
) -> Agents:
    """Algorithm 3 on one unseen task: the losses of both agents on its support set.

    ``survey`` holds the support paths of the task; its query set is not used.
    """
    if not task.support:
        return agents
    few = MetaTask(task.name, task.support[: settings.few], ())
    material = GraphMaterial(survey, few, embed, settings)
    batches = Batches(survey, embed, settings, reward)
    for step in range(settings.adaptation):
        random = np.random.default_rng([settings.seed, step, len(task.support)])
        samples = draw(material.support, settings.questions, random)
        after_inner = _take_inner_step(agents, material, batches, settings, random)
        rl, ml = after_inner.agents
        if settings.policy_gradient:
            played, _ = batches.played(samples, agents, random)
            rl = take_step(rl, _pg_slopes(agents.rl, played), settings.adaptation_rate)
        if settings.fine_tuning:
            pools = batches.pools(samples, agents, random)
            ml = take_step(ml, _ft_slopes(agents.ml, pools), settings.adaptation_rate)
        agents = Agents(rl, ml)
    if not settings.calibration or settings.printed:
        return agents
    tuned = calibrate(to_numpy(agents.rl), material.support, settings.rule, reward)
    return Agents({name: jnp.asarray(value) for name, value in tuned.items()}, agents.ml)


_pg_slopes = jax.jit(jax.grad(policy_gradient))
_ft_slopes = jax.jit(jax.grad(fine_tuning))


class _AfterInnerStep(NamedTuple):
    """The agents after an inner step, and its data."""

    agents: Agents
    labels: Labelled
    pairs: Pairs


def _take_inner_step(
    agents: Agents,
    material: GraphMaterial,
    batches: Batches,
    settings: AgentSettings,
    random: np.random.Generator,
) -> _AfterInnerStep:
    labels = draw_labels([material], random, 256)
    pairs = batches.pairs(draw(material.support, 32, random))
    rl = _inner_update(warm_start, agents.rl, labels, _rl_rate(settings))
    ml = agents.ml
    if settings.pre_training:
        ml = _inner_update(pre_training, ml, pairs, settings.inner_rate_ml)
    return _AfterInnerStep(Agents(rl, ml), labels, pairs)


def _prepare(
    agents: Agents, materials: Sequence[GraphMaterial], batches: Batches, settings: AgentSettings
) -> Agents:
    """Minimise L_WS and L_PT on all support sets."""
    random = np.random.default_rng(settings.seed)
    rl, ml = _start_adam(agents.rl), _start_adam(agents.ml)
    if settings.warm_start:
        for _ in range(settings.warm_steps):
            _, rl = _adam_step(warm_start, rl, settings.rate, draw_labels(materials, random, 256))
    if settings.pre_training:
        support = [sample for material in materials for sample in material.support]
        for _ in range(settings.pre_steps):
            pairs = batches.pairs(draw(support, 64, random))
            _, ml = _adam_step(pre_training, ml, settings.rate, pairs)
    return Agents(rl.parameters, ml.parameters)


def _iteration(
    state: _State, materials: Sequence[GraphMaterial], batches: Batches, settings: AgentSettings
) -> _State:
    """One pass of the loop of Algorithm 2."""
    random = np.random.default_rng([settings.seed, 1 + len(state.points)])
    several = len(materials) < settings.tasks
    tasks = random.choice(len(materials), settings.tasks, replace=several)
    after_inner, played, pools, rewards = [], [], [], []
    for material in (materials[row] for row in tasks):
        after_inner.append(_take_inner_step(state.agents, material, batches, settings, random))
        samples = draw(material.query, settings.questions, random)
        if settings.policy_gradient:
            decisions, reward = batches.played(samples, after_inner[-1].agents, random)
            played.append(decisions)
            rewards.append(reward)
        if settings.fine_tuning:
            pools.append(batches.pools(samples, after_inner[-1].agents, random))
    (rl, ml, points), losses = state, [jnp.zeros(()), jnp.zeros(())]
    if settings.policy_gradient:
        labels, rate = _stack_tasks([each.labels for each in after_inner]), _rl_rate(settings)
        losses[0], rl = _adam_step(
            outer_rl, rl, settings.rate, labels, _stack_tasks(_pad(played)), rate
        )
    if settings.fine_tuning:
        pairs, rate = _stack_tasks([each.pairs for each in after_inner]), _ml_rate(settings)
        losses[1], ml = _adam_step(outer_ml, ml, settings.rate, pairs, _stack_tasks(pools), rate)
    point = TrainingPoint(float(np.mean(rewards or [0.0])), float(losses[0]), float(losses[1]))
    return _State(rl, ml, [*points, point])


def _rl_rate(settings: AgentSettings) -> float:
    return settings.inner_rate * settings.warm_start


def _ml_rate(settings: AgentSettings) -> float:
    return settings.inner_rate_ml * settings.pre_training


def _stack_tasks(batches: Sequence[_Batch]) -> _Batch:
    """Stack the batches of several tasks into one, [tasks, ...]."""
    stacked: _Batch = jax.tree.map(lambda *arrays: np.stack(arrays), *batches)
    return stacked


def _pad(played: Sequence[Played]) -> list[Played]:
    """Pad batches to one size with decisions that do not count."""
    size = max(len(each.actions) for each in played)

    def filled(array: Array) -> Array:
        missing = size - len(array) if array.ndim else 0
        return np.pad(array, [(0, missing), *[(0, 0)] * (array.ndim - 1)]) if missing else array

    return [Played(*map(filled, each)) for each in played]
