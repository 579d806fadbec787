"""The losses and the meta-training of the two agents, against finite differences and by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp, log

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bag_of_words import embed

from planweave.learning.agent_batches import (
    Agents,
    AgentSettings,
    Batches,
    GraphMaterial,
    draw_labels,
    draw_nodes,
    label,
    published_settings,
    to_numpy,
)
from planweave.learning.agent_losses import Labelled, Played, _contrast, policy_gradient
from planweave.learning.graph_states import FEATURES, PRINTED, Survey, path_samples
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.meta_training import adapt, new_agents, outer_rl, train
from planweave.learning.ml_agent import PATH, MLAgent, encode, sequence
from planweave.learning.overlap import overlap
from planweave.learning.paths import MetaTask, TaskPath
from planweave.learning.rl_agent import Proposal, Traversal, calibrate, make_policy

pytestmark = pytest.mark.slow

GIVEN = 5  # length of the frozen vectors in tests of losses
SMALL = AgentSettings(width=8, layers=1, hidden=4)


@pytest.fixture
def double() -> Iterator[None]:
    """Compute with 64 bits, for finite differences."""
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    yield
    jax.config.update("jax_enable_x64", False)  # type: ignore[no-untyped-call]


@pytest.mark.usefixtures("double")
def test_outer_gradients_are_of_second_order() -> None:
    """Along a drawn direction the gradient is the finite difference, also of the inner step."""
    random = np.random.default_rng(4)
    states = jnp.asarray(random.normal(size=(2, 6, len(FEATURES))))  # of two tasks
    support = Labelled(states, jnp.tile(jnp.array([0.0, 1, 1, 0, 1, 0]), (2, 1)))
    returns = jnp.asarray(random.normal(size=(2, 6)))
    query = Played(states + 0.1, support.labels, returns, jnp.full(2, 2.0))
    first = new_agents(SMALL, GIVEN).rl.items()  # drawn anew, so that none is at a saddle
    at = {name: jnp.asarray(random.normal(0.1, 0.4, value.shape)) for name, value in first}
    along = {name: jnp.asarray(random.normal(size=value.shape)) for name, value in at.items()}
    both = jax.jit(jax.value_and_grad(outer_rl))
    value, slopes = both(at, support, query, 0.7)
    ahead, behind = (
        both({name: at[name] + step * along[name] for name in at}, support, query, 0.7)[0]
        for step in (1e-5, -1e-5)
    )
    by_gradient = sum(float((slopes[name] * along[name]).sum()) for name in at)
    assert by_gradient == pytest.approx(float(ahead - behind) / 2e-5, rel=1e-5)
    alone = sum(policy_gradient(at, Played(*(part[n] for part in query))) for n in (0, 1))
    assert both(at, support, query, 0.0)[0] == pytest.approx(float(alone))  # no inner step
    assert value != pytest.approx(float(alone))


def test_the_printed_contrast_leaves_the_right_one_out_of_its_denominator() -> None:
    logits, wrong = jnp.array([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0]]), jnp.array([[0, 1, 1], [0, 0, 0]])
    right = logits[:, 0]
    ours, printed = (_contrast(right, logits, wrong, flag) for flag in (0.0, 1.0))
    assert np.asarray(ours) == pytest.approx([log(1 + exp(-1) + exp(-2)), 0], abs=1e-6)
    assert np.asarray(printed) == pytest.approx([log(exp(-1) + exp(-2)), 0], abs=1e-6)


def test_what_fills_a_sequence_up_plays_no_part() -> None:
    ml = to_numpy(new_agents(SMALL, GIVEN).ml)
    vectors = np.random.default_rng(7).normal(size=(2, GIVEN)).astype(np.float32)
    (short, end), (long, far) = (sequence(vectors, size) for size in (3, 9))
    alone = encode(ml, PATH, short[None], end[None])
    np.testing.assert_allclose(alone, encode(ml, PATH, long[None], far[None]), atol=1e-6)


# A world in which the words of a question tell its path: "stone" is fetched with "dig".

WORDS = {"stone": "dig", "fruit": "pick", "fish": "catch", "wood": "chop", "milk": "fetch"}


def told(kind: str, number: int) -> TaskPath:
    verb = WORDS[kind]
    return TaskPath(kind, f"get {kind} for person{number}", (f"{verb} {kind}", "walk home"))


def tasks(*kinds: str, support: int = 6, query: int = 4) -> list[MetaTask]:
    return [
        MetaTask(
            kind,
            tuple(told(kind, n) for n in range(support)),
            tuple(told(kind, n) for n in range(support, support + query)),
        )
        for kind in kinds
    ]


def reward(path: TaskPath, instructions: Sequence[str]) -> float:
    return overlap(instructions, path.instructions)


def surveyed(given: Sequence[MetaTask]) -> Survey:
    support = (path for task in given for path in task.support)
    return Survey(InstructionGraph.of(support, embed, 0.95), embed)


QUICK = replace(SMALL, warm_steps=200, pre_steps=60, iterations=3, questions=3)
QUICK = replace(QUICK, tasks=2, searches=2, others=2, k=2)


@pytest.fixture(scope="module")
def seen() -> tuple[Survey, list[GraphMaterial]]:
    given = tasks("stone", "fruit", "fish")
    survey = surveyed(given)
    return survey, [GraphMaterial(survey, task, embed, QUICK) for task in given]


@pytest.fixture(scope="module")
def trained(seen: tuple[Survey, list[GraphMaterial]]) -> Agents:
    survey, materials = seen
    return train(survey, materials, embed, QUICK, reward).agents


def test_labels_leave_the_question_itself_out(seen: tuple[Survey, list[GraphMaterial]]) -> None:
    survey, materials = seen
    sample = materials[0].support[0]
    assert [survey.paths[row] for row in np.flatnonzero(~sample.view.seen)] == [sample.path]
    for decision in label(sample, None):
        assert decision.state[FEATURES.index("question~path")] < 0.999
    assert {decision.included for decision in label(sample, None)} == {True, False}


def test_printed_agents_see_three_features_of_drawn_nodes(
    seen: tuple[Survey, list[GraphMaterial]],
) -> None:
    survey, _ = seen
    printed, random = replace(QUICK, printed=True), np.random.default_rng(1)
    agents = new_agents(printed, 64)
    assert agents.rl["w1"].shape == (len(PRINTED), 4)
    material = GraphMaterial(survey, tasks("stone")[0], embed, printed)
    assert material.states.shape[1] == len(PRINTED)
    played, _ = Batches(survey, embed, printed, reward).played(material.query, agents, random)
    assert (np.asarray(played.returns) >= 0).all()  # the reward itself, without a baseline
    material = GraphMaterial(survey, tasks("stone")[0], embed, published_settings(1, 2))
    for sample in material.support:
        drawn = draw_nodes(sample, random)
        assert 1 < len(drawn) <= len(survey.nodes)
        walks = zip(survey.paths, survey.walks, strict=False)
        on_path = {node for path, walk in walks for node in walk if path == sample.path}
        assert sum(decision.included for decision in drawn) <= len(on_path)
    share = draw_labels([material], random, 4000).labels.mean()
    assert share == pytest.approx(material.labels.mean(), abs=0.03)  # none is drawn more often


def test_returns_are_discounted_less_the_usual(seen: tuple[Survey, list[GraphMaterial]]) -> None:
    survey, materials = seen
    asked = materials[0].query
    played, mean = Batches(survey, embed, QUICK, reward).played(
        asked, new_agents(QUICK, 64), np.random.default_rng(1)
    )
    assert 0 < mean < 1
    assert float(played.searches) == len(asked) * QUICK.searches
    steps = np.asarray(played.returns)
    both = (steps[:-1] != 0) & (steps[1:] != 0)
    assert np.isclose(steps[:-1][both] / steps[1:][both], QUICK.discount).any()


def test_unseen_tasks_are_served(seen: tuple[Survey, list[GraphMaterial]], trained: Agents) -> None:
    survey, materials = seen
    agents, unseen = trained, tasks("wood")[0]
    assert adapt(agents, survey, MetaTask("t", (), ()), embed, QUICK, reward) is agents
    grown = surveyed([material.task for material in materials] + [unseen])
    adapted = adapt(agents, grown, unseen, embed, QUICK, reward)
    assert any(not np.array_equal(agents.rl[name], adapted.rl[name]) for name in agents.rl)

    def came_to(those: Agents) -> float:
        selector = MLAgent(to_numpy(those.ml), embed)
        total = 0.0
        for sample in path_samples(grown, unseen.query, embed, printed=False):
            formed = Traversal(sample.view, make_policy(to_numpy(those.rl)), 2).formed
            paths = [tuple(grown.texts[text] for text in texts) for _, texts in formed]
            proposals = [Proposal(path) for path in paths]
            total += reward(sample.path, paths[selector.select(sample.path.question, proposals)])
        return total / len(unseen.query)

    assert came_to(adapted) > 0.9
    assert came_to(adapted) >= came_to(new_agents(QUICK, 64))


def test_calibration_makes_a_shy_policy_ready(seen: tuple[Survey, list[GraphMaterial]]) -> None:
    _, materials = seen
    known = materials[0].support
    agents = new_agents(QUICK, 64)
    trained = to_numpy(agents.rl) | {"w1": np.zeros_like(to_numpy(agents.rl)["w1"])}
    shy = trained | {"b2": np.array([0, -2.5], np.float32)}  # it would take a single instruction
    ready = calibrate(shy, known, None, reward)
    assert ready["b2"].tolist() == [0, pytest.approx(0.5)]  # the first shift that includes
    assert calibrate(shy, [], None, reward) is shy
    eager = trained | {"b2": np.array([0, 1], np.float32)}
    np.testing.assert_array_equal(calibrate(eager, known, None, reward)["b2"], eager["b2"])


def test_what_is_expected_of_a_path_counts_in_the_selection() -> None:
    ml = to_numpy(new_agents(SMALL, 64).ml)
    selector = MLAgent(ml, embed)
    paths = [("dig stone", "walk home"), ("pick fruit",)]
    even = selector.scores("get stone", paths, [0.0, 0.0])
    np.testing.assert_allclose(even, selector.cosines("get stone", paths) / 0.07, rtol=1e-4)
    for better in (0, 1):
        proposals = [Proposal(path, (), float(row == better)) for row, path in enumerate(paths)]
        assert selector.select("get stone", proposals) == better
