"""Which path is retrieved for a question: InstructRAG, its ablations, and RAP.

On unseen tasks, without any language model: how much of the path that solved the question do the
selected path and the K candidates hold? Instructions are compared with their slots, and handing in
the answer does not count (:mod:`learning.overlap`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.paths_tasks import World
from learning import Embed, Floats
from learning.agent_batches import Agents, Material, MetaTask, Sample, Settings, plain, samples
from learning.graph_states import Survey
from learning.instruction_graph import InstructionGraph
from learning.meta_training import Point, adapt, train
from learning.ml_agent import MLAgent
from learning.overlap import overlap, recall
from learning.paths import Path
from learning.rl_agent import Policy, Traversal, policy

THRESHOLD = 0.9
"""Delta of the graph: instructions with slots are short and near each other."""

MOST = 5
NOISE = (0.1, 0.3, 0.5)
"""Shares of failed paths in the graph."""

SHARES = (0.2, 0.6)
"""Of the support paths of unseen tasks; all of them otherwise."""

_TUNED_ON = 60
_LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.97)

FULL, RAP, RULE = "InstructRAG", "RAP", "no RL-Agent (threshold)"
NO_GRAPH, NO_ML = "no graph (stored paths)", "no ML-Agent"
RETRAINED: Mapping[str, dict[str, Any]] = {
    "no warm start": {"warm_start": False},
    "no policy gradient": {"policy_gradient": False},
    "no pre-training": {"pre_training": False},
    "no fine-tuning": {"fine_tuning": False},
    "as printed": {"printed": True},
}


class Score(NamedTuple):
    """Of one question.

    Attributes:
        question: A key that stands for it.
        f1: Of the instructions of the selected path.
        recall: Of the successful path's instructions, in all candidates together.
    """

    question: str
    f1: float
    recall: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One line of a table, for one seed.

    Attributes:
        seed: Of tasks, training and noise.
        part: Which table.
        name: Which line of it.
        scores: Of the query questions of all unseen tasks.
    """

    seed: int
    part: str
    name: str
    scores: list[Score]


def reward(path: Path, instructions: Sequence[str]) -> float:
    """What a path comes to: its overlap with the one that solved the question."""
    return overlap(instructions, path.instructions)


class _Retrieved(NamedTuple):
    """What one way found for a question: the selected path, and all candidates."""

    selected: Sequence[str]
    candidates: Sequence[Sequence[str]]


class Experiment:
    """One seed: agents trained on the seen tasks, tried on the unseen ones.

    Args:
        world: The tasks.
        embed: The frozen model of sentence vectors.
        settings: Of the training.
        tell: Told what is being done.
    """

    def __init__(
        self, world: World, embed: Embed, settings: Settings, tell: Callable[[str], None]
    ) -> None:
        self._world, self._embed, self._settings, self._tell = world, embed, settings, tell
        self._survey = self._surveyed(_support(world.seen))
        self._materials: dict[bool, list[Material]] = {}

    def lines(self) -> Iterator[Measured]:
        """The lines of all tables."""
        agents = self._trained(self._settings)
        rule = self._threshold()
        every = _support(self._world.unseen)
        for name, scores in self._tried(agents, self._settings, every, rule).items():
            yield self._line("candidates" if name.startswith("K") else "ablation", name, scores)
        for level in NOISE:
            count = round(level / (1 - level) * (len(every) + len(self._survey.paths)))
            noisy = every + self._world.failed[:count]
            for name, scores in self._tried(agents, self._settings, noisy, rule).items():
                if name in (FULL, RAP):
                    yield self._line("noise", f"{name}, {level:.0%}", scores)
        for share in SHARES:
            few = [
                p for t in self._world.unseen for p in t.support[: round(share * len(t.support))]
            ]
            for name, scores in self._tried(agents, self._settings, few, rule).items():
                if name in (FULL, RAP):
                    yield self._line("few-shot", f"{name}, {share:.0%}", scores)
        for name, change in RETRAINED.items():
            settings = replace(self._settings, **change)
            scores = self._tried(self._trained(settings), settings, every, rule)[FULL]
            yield self._line("ablation", name, scores)

    def _line(self, part: str, name: str, scores: list[Score]) -> Measured:
        return Measured(seed=self._settings.seed, part=part, name=name, scores=scores)

    def _surveyed(self, paths: Sequence[Path]) -> Survey:
        graph = InstructionGraph(self._embed, THRESHOLD)
        graph.insert_all(paths)
        return Survey(graph, self._embed, self._world.slots)

    def _trained(self, settings: Settings) -> Agents:
        if settings.printed not in self._materials:
            self._materials[settings.printed] = [
                Material(self._survey, task, self._embed, settings) for task in self._world.seen
            ]
        materials = self._materials[settings.printed]

        def show(number: int, point: Point) -> None:
            said = f"iteration {number} of {settings.iterations}, reward {point.reward:.3f}"
            self._tell(f"seed {settings.seed}: {said}")

        trained = train(self._survey, materials, self._embed, settings, reward, progress=show)
        return trained.agents

    def _threshold(self) -> Policy:
        """Include a node if one of the cosines is large enough; the best rule on the seen tasks."""
        random = np.random.default_rng(self._settings.seed)
        asked = [s for m in self._materials[self._settings.printed] for s in m.query]
        some = [asked[row] for row in random.permutation(len(asked))[:_TUNED_ON]]
        states = np.concatenate([m.states for m in self._materials[self._settings.printed]])
        rules = [
            _over(column, float(np.quantile(states[:, column], level)))
            for column in range(3)
            for level in _LEVELS
        ]

        def worth(rule: Policy) -> float:
            firsts = [self._searched(sample, rule, 1) for sample in some]
            pairs = zip(some, firsts, strict=True)
            return sum(reward(sample.path, found[0]) for sample, found in pairs if found)

        return max(rules, key=worth)

    def _searched(self, sample: Sample, decide: Policy, k: int) -> list[tuple[str, ...]]:
        formed = Traversal(sample.view, decide, k, rule=self._settings.rule).formed
        texts = sample.view.survey.texts
        return [tuple(texts[row] for row in rows) for _, rows in formed]

    def _tried(
        self, agents: Agents, settings: Settings, stored: Sequence[Path], rule: Policy
    ) -> dict[str, list[Score]]:
        """Adapt to each unseen task, as far as it is stored, and ask its query questions."""
        survey = self._surveyed([*self._survey.paths, *stored])
        scores: dict[str, list[Score]] = {}
        for task in self._world.unseen:
            known = tuple(path for path in survey.paths if path.task == task.name)
            own = MetaTask(task.name, known, ())
            adapted = adapt(agents, survey, own, self._embed, settings, reward)
            asked = samples(survey, task.query, self._embed, printed=settings.printed)
            for sample in asked:
                found = self._found(sample, adapted, settings, rule)
                for name, (selected, candidates) in found.items():
                    truth = sample.path.instructions
                    score = (overlap(selected, truth), recall(candidates, truth))
                    scores.setdefault(name, []).append(Score(sample.path.key, *score))
        self._tell(f"seed {settings.seed}: tried")
        return scores

    def _found(
        self, sample: Sample, agents: Agents, settings: Settings, rule: Policy
    ) -> dict[str, _Retrieved]:
        """What each way that needs no other training finds."""
        survey, k = sample.view.survey, settings.k
        selector = MLAgent(plain(agents.ml), self._embed)
        form = survey.form(sample.path.question)

        def selected(paths: Sequence[Sequence[str]]) -> _Retrieved:
            cosines = selector.cosines(form, paths)
            return _Retrieved(paths[int(np.argmax(cosines))], paths)

        proposed = self._searched(sample, policy(plain(agents.rl)), MOST)
        likest = np.argsort(
            np.where(sample.view.seen, -sample.view.to_paths, np.inf), kind="stable"
        )
        nearest = [survey.paths[row].instructions for row in likest[:k]]
        return {
            FULL: selected(proposed[:k]),
            NO_GRAPH: selected(nearest),
            RULE: selected(self._searched(sample, rule, k)),
            NO_ML: _Retrieved(proposed[0], proposed[:k]),
            RAP: _Retrieved(nearest[0], nearest[:1]),
            **{f"K = {n}": selected(proposed[:n]) for n in range(1, MOST + 1)},
        }


def _support(tasks: Sequence[MetaTask]) -> list[Path]:
    return [path for task in tasks for path in task.support]


def _over(column: int, least: float) -> Policy:
    """Include what has a feature of at least ``least``; the larger, the likelier."""

    def decide(states: Floats) -> Floats:
        return np.asarray(0.5 + np.tanh(states[:, column] - least) / 2 + 1e-6, np.float32)

    return decide
