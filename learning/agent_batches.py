"""The inputs of the losses of the two agents: questions, searches, and their rewards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from planweave.learning.agent_losses import Labelled, Pairs, Parameters, Played, Pools, Sequences
from planweave.learning.agents_file import OTHERS, QUESTIONS
from planweave.learning.graph_states import (
    FEATURES,
    PRINTED,
    PathSample,
    Survey,
    Walk,
    path_samples,
)
from planweave.learning.guide import THRESHOLD
from planweave.learning.instruction_graph import THRESHOLD as PUBLISHED
from planweave.learning.ml_agent import PLACES, MLAgent, sequence
from planweave.learning.paths import MetaTask
from planweave.learning.rl_agent import (
    NodeDecision,
    PathRule,
    Policy,
    Reward,
    Traversal,
    choose_candidates,
    make_policy,
    search_first,
)
from planweave.learning.slots import embed_questions
from planweave.learning.vectors import Embed, Floats

_NODES = 24
"""Nodes drawn for a question in the warm start of the paper."""


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """How the agents are trained: first which steps, then how much."""

    seed: int = 1
    k: int = 3
    printed: bool = False  # as in the paper: states, starts, instructions, losses, no baseline
    threshold: float = THRESHOLD  # delta of the instruction graph
    warm_start: bool = True
    policy_gradient: bool = True
    pre_training: bool = True
    fine_tuning: bool = True
    by_overlap: bool = True  # expected overlap counts in the selection of training; not printed
    calibration: bool = True  # of the inclusion of nodes, on the support set; not printed
    rule: PathRule | None = search_first

    hidden: int = 20
    width: int = 64  # of the encoders of the ML-Agent
    layers: int = 2
    rate: float = 1e-3  # step size of Adam in the outer loop (beta)
    inner_rate: float = 0.1  # step size of the inner step of the RL-Agent (alpha)
    inner_rate_ml: float = 0.01  # the same of the ML-Agent
    adaptation_rate: float = 0.01  # step size of L_PG and L_FT in adaptation (beta, without Adam)
    discount: float = 0.99  # of the reward
    warm_steps: int = 1500  # of L_WS on all seen tasks before the loop
    pre_steps: int = 200  # of L_PT on all seen tasks before the loop
    iterations: int = 60
    tasks: int = 3
    questions: int = QUESTIONS  # of a task in an iteration
    searches: int = 4  # for each question
    others: int = OTHERS  # paths of other questions in a pool for fine-tuning
    adaptation: int = 3  # steps on the support set of an unseen task
    few: int = 24  # paths of a support set that adaptation looks at, at most

    @property
    def features(self) -> int:
        """The number of features that the policy sees."""
        return len(PRINTED if self.printed else FEATURES)


class Agents(NamedTuple):
    """Parameters of both agents."""

    rl: Parameters
    ml: Parameters


def published_settings(seed: int, iterations: int, threshold: float = PUBLISHED) -> AgentSettings:
    """The settings of the paper's agents; their instructions have no slots."""
    return AgentSettings(
        seed=seed,
        iterations=iterations,
        threshold=threshold,
        printed=True,
        by_overlap=False,
        calibration=False,
    )


def draw_nodes(sample: PathSample, random: np.random.Generator) -> list[NodeDecision]:
    """Draw random nodes, labelled by whether the question's own path has them."""
    survey = sample.view.survey
    walks = [survey.walks[row] for row, path in enumerate(survey.paths) if path == sample.path]
    own = {node for walk in walks for node in walk}
    nodes = random.choice([*survey.nodes], min(_NODES, len(survey.nodes)), replace=False).tolist()
    seen = (sample.view.at(node, random) for node in nodes)
    return [NodeDecision(choice.state, choice.node in own) for choice in seen if choice]


def label(sample: PathSample, rule: PathRule | None) -> list[NodeDecision]:
    """Label the states along the paths of a question and of the two most similar questions.

    A node is labelled as included if it gives an instruction of the question's own path.
    """
    view, survey = sample.view, sample.view.survey
    own = [survey.walks[row] for row, path in enumerate(survey.paths) if path == sample.path]
    wanted = {survey.text_row.get(text, -1) for text in sample.path.instructions}
    most_similar = view.most_similar(2)
    walks = own + [survey.walks[row] for row in most_similar]
    texts = [sample.path.instructions] * len(own)
    texts += [survey.paths[row].instructions for row in most_similar]
    made: dict[tuple[int, ...], list[NodeDecision]] = {}
    for walk, names in zip(walks, texts, strict=True):
        given = tuple(survey.text_row[name] for name in names)
        for length in range(len(walk) + 1):
            if walk[:length] in made:
                continue
            before = names[:length]
            made[walk[:length]] = [
                NodeDecision(c.state, c.text in wanted)
                for c in view.choices(walk[:length], given[:length])
                if rule is None or rule(before, survey.texts[c.text])
            ]
    return [decision for decisions in made.values() for decision in decisions]


class GraphMaterial:
    """The training data of a task."""

    def __init__(
        self, survey: Survey, task: MetaTask, embed: Embed, settings: AgentSettings
    ) -> None:
        self.task = task
        self.support = path_samples(survey, task.support, embed, printed=settings.printed)
        self.query = path_samples(survey, task.query, embed, printed=settings.printed)
        random = np.random.default_rng(settings.seed)
        decisions = [
            decision
            for sample in self.support
            for decision in (
                draw_nodes(sample, random) if settings.printed else label(sample, settings.rule)
            )
        ]
        self.even = settings.printed
        width = settings.features
        self.states = np.array([decision.state[:width] for decision in decisions], np.float32)
        self.labels = np.array([decision.included for decision in decisions], np.float32)


def draw_labels(
    materials: Sequence[GraphMaterial], random: np.random.Generator, count: int
) -> Labelled:
    """Draw random states of one of the support sets, two on the path for each one off the path.

    A node is included if its probability is over 1/2. For the best F1 it should be included if its
    true probability is over half of the attainable F1 (Lipton et al. 2014, arXiv 1402.1892). This
    ratio makes 1/2 correspond to about half of the share of nodes on a path. In the paper all
    states are equally likely.
    """
    material = materials[int(random.integers(len(materials)))]
    if material.even:
        rows = random.integers(len(material.labels), size=count)
        return Labelled(material.states[rows], material.labels[rows])
    wanted = random.random(count) < 2 / 3
    sides = [np.flatnonzero(material.labels == label) for label in (0, 1)]
    off, on = (random.choice(side if len(side) else np.arange(1), count) for side in sides)
    rows = np.where(wanted, on, off)
    return Labelled(material.states[rows], material.labels[rows])


def draw(
    samples: Sequence[PathSample], count: int, random: np.random.Generator
) -> list[PathSample]:
    """Draw random samples, with replacement."""
    return [samples[row] for row in random.integers(len(samples), size=count)]


class Batches:
    """Makes the inputs of the losses, and keeps the vectors of the paths."""

    def __init__(
        self, survey: Survey, embed: Embed, settings: AgentSettings, reward: Reward
    ) -> None:
        self._survey, self._embed = survey, embed
        self._settings, self._reward = settings, reward
        longest = max(len(path.instructions) for path in survey.paths)
        self._size = min(PLACES, -(-(longest + 1) // 8) * 8)  # few sizes, for few compilations
        self._path_sequences: dict[tuple[str, ...], tuple[Floats, Floats]] = {}

    def pairs(self, samples: Sequence[PathSample]) -> Pairs:
        """Questions with their own paths."""
        paths = [sample.path.instructions for sample in samples]
        return Pairs(self._questions(samples), self._sequences(paths), _same(paths), self._printed)

    def played(
        self, samples: Sequence[PathSample], agents: Agents, random: np.random.Generator
    ) -> tuple[Played, float]:
        """Search at random and let the ML-Agent select; returns the decisions and the mean reward.

        If neither of its losses is used, the first path is selected. In the paper a decision's
        return is its discounted reward; otherwise the mean reward of the question's searches is
        subtracted first.
        """
        settings = self._settings
        decide, selector = self._decide(agents), self._selector(agents)
        searches = [
            [self._search(sample, decide, random) for _ in range(settings.searches)]
            for sample in samples
        ]
        rewards = np.array(
            [
                [self._reward_for(sample, search, selector) for search in tried]
                for sample, tried in zip(samples, searches, strict=True)
            ]
        )
        baseline = 0.0 if settings.printed else rewards.mean(axis=1, keepdims=True)
        taken: list[tuple[NodeDecision, float]] = []
        for tried, gains in zip(searches, (rewards - baseline), strict=True):
            for search, gain in zip(tried, gains, strict=True):
                last = len(search.decisions) - 1
                discounts = settings.discount ** (last - np.arange(last + 1))
                taken += zip(search.decisions, (discounts * gain).tolist(), strict=True)
        return self._to_batch(taken, rewards.size), float(rewards.mean())

    def pools(
        self, samples: Sequence[PathSample], agents: Agents, random: np.random.Generator
    ) -> Pools:
        """Paths that the RL-Agent proposes and paths of other questions, ordered by reward."""
        settings, decide = self._settings, self._decide(agents)
        size = settings.k + settings.others
        pools = []
        worse, expected = np.zeros((2, len(samples), size), np.float32)
        for row, sample in enumerate(samples):
            proposed = choose_candidates(sample.view, decide, settings.k, rule=settings.rule)
            pool = self._paths(proposed)
            drawn = random.choice(np.flatnonzero(sample.view.seen), size - len(pool))
            pool += [self._survey.paths[place].instructions for place in drawn]
            rewards = np.array([self._reward(sample.path, path) for path in pool])
            order = np.argsort(-rewards, kind="stable")
            pools.append([pool[place] for place in order])
            worse[row] = rewards[order] < rewards[order[0]] - 1e-6
            expected[row] = self._expected(sample, pools[-1])
        flat = self._sequences([path for pool in pools for path in pool])
        shown = Sequences(*(each.reshape(len(samples), size, *each.shape[1:]) for each in flat))
        real = worse.any(axis=1).astype(np.float32)
        same = _same([pool[0] for pool in pools])
        return Pools(self._questions(samples), shown, expected, worse, same, real, self._printed)

    @property
    def _printed(self) -> np.float32:
        return np.float32(self._settings.printed)

    def _decide(self, agents: Agents) -> Policy:
        return make_policy(to_numpy(agents.rl))

    def _selector(self, agents: Agents) -> MLAgent:
        return MLAgent(to_numpy(agents.ml), self._embed, slots=self._survey.slots)

    def _search(self, sample: PathSample, decide: Policy, random: np.random.Generator) -> Traversal:
        k, rule = self._settings.k, self._settings.rule
        return Traversal(sample.view, decide, k, rule=rule, draw=random)

    def _paths(self, walks: Sequence[Walk]) -> list[tuple[str, ...]]:
        return [tuple(self._survey.texts[text] for text in texts) for _, texts in walks]

    def _reward_for(self, sample: PathSample, search: Traversal, selector: MLAgent) -> float:
        paths = self._paths(search.formed)
        if not paths:
            return 0.0
        trained = self._settings.pre_training or self._settings.fine_tuning
        if not trained:
            return self._reward(sample.path, paths[0])
        scores = selector.scores(sample.path.question, paths, self._expected(sample, paths))
        return self._reward(sample.path, paths[int(np.argmax(scores))])

    def _expected(self, sample: PathSample, paths: Sequence[tuple[str, ...]]) -> list[float]:
        counts = self._settings.by_overlap and not self._settings.printed
        return [sample.view.expected(path) if counts else 0.0 for path in paths]

    def _to_batch(self, taken: Sequence[tuple[NodeDecision, float]], searches: int) -> Played:
        width = self._settings.features
        size = 1 << max(9, (len(taken) - 1).bit_length())
        states, (actions, returns) = np.zeros((size, width), np.float32), np.zeros((2, size))
        for row, (decision, gain) in enumerate(taken):
            states[row], actions[row], returns[row] = (
                decision.state[:width],
                decision.included,
                gain,
            )
        return Played(
            states, actions.astype(np.float32), returns.astype(np.float32), np.float32(searches)
        )

    def _questions(self, samples: Sequence[PathSample]) -> Sequences:
        questions = [sample.path.question for sample in samples]
        vectors = embed_questions(questions, self._embed, self._survey.slots)
        pairs = [sequence(vector[None], 2) for vector in vectors]
        return _stack(pairs)

    def _sequences(self, paths: Sequence[tuple[str, ...]]) -> Sequences:
        for path in paths:
            if path not in self._path_sequences:
                self._path_sequences[path] = sequence(self._embed(path), self._size)
        return _stack([self._path_sequences[path] for path in paths])


def _stack(pairs: Sequence[tuple[Floats, Floats]]) -> Sequences:
    vectors, ends = zip(*pairs, strict=True)
    return Sequences(np.stack(vectors), np.stack(ends))


def _same(paths: Sequence[tuple[str, ...]]) -> Floats:
    return np.array([[one == other for other in paths] for one in paths], np.float32)


def to_numpy(parameters: Parameters) -> dict[str, Floats]:
    """Convert parameters to NumPy arrays."""
    return {name: np.asarray(value, np.float32) for name, value in parameters.items()}
