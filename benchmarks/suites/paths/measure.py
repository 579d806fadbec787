"""The paths that InstructRAG, its ablations and RAP retrieve for a question.

On unseen tasks and without a language model, this measures how much of the path that solved the
question is in the selected path and in the K candidates. Instructions are compared with their
slots, and handing in the answer does not count (:mod:`planweave.learning.overlap`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pydantic import BaseModel

from planweave.benchmarks.core.metrics import Estimate, bootstrap, group_by
from planweave.benchmarks.core.table import Cell, ReportTable
from planweave.benchmarks.suites.paths.instruction_graph import Clock
from planweave.benchmarks.suites.paths.tasks import PathTasks
from planweave.learning import Embed, Floats
from planweave.learning.agent_batches import Agents, AgentSettings, GraphMaterial, to_numpy
from planweave.learning.graph_states import PathSample, Survey, Walk, path_samples
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.meta_training import TrainingPoint, adapt, train
from planweave.learning.ml_agent import MLAgent
from planweave.learning.overlap import apply_forms, overlap, recall
from planweave.learning.paths import MetaTask, TaskPath
from planweave.learning.rl_agent import Policy, Traversal, choose_candidates, make_policy
from planweave.texts import digest

MOST = 5
NOISE = (0.25, 0.5)
"""Shares of failed paths in the graph."""

PUBLISHED_NOISE = (0.1, 0.2, 0.3, 0.4, 0.5)
"""Shares of the paper."""

SHARES = (0.2, 0.6)
"""Shares of the support paths of unseen tasks; other parts use all."""

PARTS = ("ablation", "noise", "few-shot", "tasks", "seen")
"""Measurements besides the method itself: ablations, failed paths in the graph, fewer support
paths, fewer unseen tasks, and the seen tasks."""

_TUNED_ON = 30
_DRAWS = 2000
_LEVELS = (0.3, 0.6, 0.8, 0.9, 0.97)

FULL, RULE = "InstructRAG", "threshold rule"
RAP, OUR_RAP = "RAP", "RAP (our vectors)"
NO_GRAPH, NO_POOL = "no graph (stored paths)", "no pool (search alone)"
NO_RL, NO_ML = "no RL-Agent (threshold in its place)", "no ML-Agent"
RL_CHANGES: Mapping[str, dict[str, Any]] = {
    "no warm start": {"warm_start": False},
    "no policy gradient": {"policy_gradient": False},
}
NO_CALIBRATION = "no calibration"
ML_CHANGES: Mapping[str, dict[str, Any]] = {
    "no pre-training": {"pre_training": False},
    "no fine-tuning": {"fine_tuning": False},
}
PRINTED = "as printed"
RIVALS = (RAP, OUR_RAP, RULE, NO_GRAPH, NO_RL)
"""The methods that every line is compared with."""


class PathScore(NamedTuple):
    """Scores on one question."""

    question: str
    f1: float
    recalls: tuple[float, ...]


class Adaptation(NamedTuple):
    """Times of adapting both agents to one unseen task."""

    task: str
    paths: int
    seconds: float
    cpu_seconds: float


class Measured(BaseModel, frozen=True):
    """One line of a table, for one seed of tasks, training and noise."""

    seed: int
    part: str
    name: str
    scores: list[PathScore]  # of the query questions of all unseen tasks
    about: str = ""
    adaptations: list[Adaptation] = []  # of the full method; the first includes compilation
    training_seconds: float = 0.0  # of the full method only
    testing_seconds: float = 0.0  # of the full method: adapting and asking; as published, of each K


_Setup: TypeAlias = tuple[Sequence[MetaTask], Sequence[TaskPath], bool]


class _Retrieved(NamedTuple):
    """One method's result for a question: the selected path and :data:`MOST` candidates."""

    selected: Sequence[str]
    candidates: Sequence[Sequence[str]]


def settings_digest(
    paths: Sequence[TaskPath], trained: int | str, parts: Sequence[str] = PARTS
) -> str:
    """Digest of the data and the settings of lines: twelve hexadecimal digits.

    ``trained`` is the number of training iterations, or the checksum of given agents.
    """
    fewer = [] if [*parts] == [*PARTS] else [[*parts]]
    basis = json.dumps([trained, [(path.key, path.reward) for path in paths], *fewer])
    return digest(basis, 12)


class Experiment:
    """One seed: agents train on the seen tasks and are tried on the unseen ones.

    Given ``agents`` are tried instead, without the ablations of training.
    """

    def __init__(
        self,
        world: PathTasks,
        embed: Embed,
        settings: AgentSettings,
        status: Callable[[str], None],
        agents: Agents | None = None,
    ) -> None:
        self._world, self._embed, self._settings, self._status = world, embed, settings, status
        self._agents, self._reward = agents, world.reward
        self._survey = self._build_survey(_support_paths(world.seen))
        self._materials: dict[bool, list[GraphMaterial]] = {}
        self._tested: tuple[_Setup, Survey, list[list[PathSample]]] | None = None
        self._adaptations: list[Adaptation] = []
        self._adapted: list[Agents] = []

    def lines(self, parts: Sequence[str] = PARTS) -> Iterator[Measured]:
        """The lines of these parts, and all lines that need no further training."""
        started = perf_counter()
        agents = self._agents or self._train(self._settings)
        trained = perf_counter()
        rule = self._best_rule()
        unseen = self._world.unseen
        every = _support_paths(unseen)
        begun = perf_counter()
        tried = self._try_agents(agents, self._settings, unseen, every, rule)
        took: dict[str, dict[str, Any]] = {
            FULL: {
                "adaptations": self._adaptations,
                "training_seconds": round(trained - started, 1),
                "testing_seconds": round(perf_counter() - begun, 1),
            }
        }
        if self._settings.printed:
            took |= self._candidate_times()
        for name, scores in tried.items():
            line = self._line("candidates" if name.startswith("K") else "ablation", name, scores)
            yield line.model_copy(update=took.get(name, {}))
        if "ablation" in parts:
            for name, settings, changed in self._ablations(agents):
                scores = self._try_agents(changed, settings, unseen, every, rule)[FULL]
                yield self._line("ablation", name, scores)
        for part, variation, tasks, stored in self._setups(parts):
            for name, scores in self._try_agents(
                agents, self._settings, tasks, stored, rule
            ).items():
                if name in (FULL, RAP, OUR_RAP):
                    yield self._line(part, f"{name}, {variation}", scores)

    def _setups(
        self, parts: Sequence[str]
    ) -> Iterator[tuple[str, str, Sequence[MetaTask], Sequence[TaskPath]]]:
        """Part, variation, tasks to ask, and stored paths, for each further measurement."""
        unseen = self._world.unseen
        every = _support_paths(unseen)
        if "noise" in parts:
            for level in PUBLISHED_NOISE if self._settings.printed else NOISE:
                count = round(level / (1 - level) * (len(every) + len(self._survey.paths)))
                yield "noise", f"{level:.0%}", unseen, every + self._world.failed[:count]
        if "few-shot" in parts:
            for share in SHARES:
                few = [p for t in unseen for p in t.support[: round(share * len(t.support))]]
                yield "few-shot", f"{share:.0%}", unseen, few
        if "tasks" in parts:
            for count in range(1, len(unseen)):
                some = unseen[:count]
                yield "tasks", f"{count} of {len(unseen)} unseen", some, _support_paths(some)
        if "seen" in parts:
            yield "seen", "seen tasks", self._world.seen, ()

    def _ablations(self, agents: Agents) -> Iterator[tuple[str, AgentSettings, Agents]]:
        """Name, settings and agents of each ablation; if one agent changes, the other stays."""
        if not self._settings.printed:
            yield NO_CALIBRATION, replace(self._settings, calibration=False), agents
        if self._agents:
            return
        for name, change in RL_CHANGES.items():
            settings = replace(self._settings, **change)
            alone = replace(settings, pre_training=False, fine_tuning=False)
            yield name, settings, Agents(self._train(alone).rl, agents.ml)
        for name, change in ML_CHANGES.items():
            settings = replace(self._settings, **change)
            alone = replace(settings, policy_gradient=False)
            yield name, settings, Agents(agents.rl, self._train(alone).ml)
        if self._settings.printed:
            return
        settings = replace(self._settings, printed=True)
        yield PRINTED, settings, self._train(settings)

    def _line(self, part: str, name: str, scores: list[PathScore]) -> Measured:
        return Measured(seed=self._settings.seed, part=part, name=name, scores=scores)

    def _build_survey(self, paths: Sequence[TaskPath]) -> Survey:
        graph = InstructionGraph.of(paths, self._embed, self._settings.threshold)
        return Survey(graph, self._embed, self._world.slots)

    def _seen_material(self, settings: AgentSettings) -> list[GraphMaterial]:
        if settings.printed not in self._materials:
            self._materials[settings.printed] = [
                GraphMaterial(self._survey, task, self._embed, settings)
                for task in self._world.seen
            ]
        return self._materials[settings.printed]

    def _train(self, settings: AgentSettings) -> Agents:
        def show(number: int, point: TrainingPoint) -> None:
            text = f"iteration {number} of {settings.iterations}, reward {point.reward:.3f}"
            self._status(f"seed {settings.seed}: {text}")

        seen = self._seen_material(settings)
        return train(self._survey, seen, self._embed, settings, self._reward, progress=show).agents

    def _best_rule(self) -> Policy:
        """The rule that is best on the seen tasks: include a node if a certain cosine is large."""
        random = np.random.default_rng(self._settings.seed)
        seen = self._seen_material(self._settings)
        asked = [sample for material in seen for sample in material.query]
        some = [asked[row] for row in random.permutation(len(asked))[:_TUNED_ON]]
        states = np.concatenate([material.states for material in seen])
        rules = [
            _cosine_rule(column, float(np.quantile(states[:, column], level)))
            for column in range(3)
            for level in _LEVELS
        ]

        def worth(rule: Policy) -> float:
            firsts = [self._search(sample, rule, 1) for sample in some]
            pairs = zip(some, firsts, strict=True)
            return sum(self._reward(sample.path, found[0]) for sample, found in pairs if found)

        return max(rules, key=worth)

    def _search(self, sample: PathSample, decide: Policy, k: int = MOST) -> list[tuple[str, ...]]:
        search = Traversal(sample.view, decide, k, rule=self._settings.rule)
        return _walk_texts(sample, search.formed)

    def _propose(self, sample: PathSample, decide: Policy) -> list[tuple[str, ...]]:
        walks = choose_candidates(sample.view, decide, MOST, rule=self._settings.rule)
        return _walk_texts(sample, walks)

    def _try_agents(
        self,
        agents: Agents,
        settings: AgentSettings,
        tasks: Sequence[MetaTask],
        stored: Sequence[TaskPath],
        rule: Policy,
    ) -> dict[str, list[PathScore]]:
        """Adapt to each of these tasks, as far as it is stored, and ask its query questions."""
        setup = tasks, stored, settings.printed
        if self._tested is None or self._tested[0] != setup:
            survey = self._build_survey([*self._survey.paths, *stored])
            asked = [
                path_samples(survey, task.query, self._embed, printed=settings.printed)
                for task in tasks
            ]
            self._tested = setup, survey, asked
        _, survey, asked = self._tested
        self._adaptations, self._adapted = [], []
        scores: dict[str, list[PathScore]] = {}
        for task, questions in zip(tasks, asked, strict=True):
            known = tuple(path for path in survey.paths if path.task == task.name)
            own = MetaTask(task.name, known, ())
            clock = Clock()
            adapted = adapt(agents, survey, own, self._embed, settings, self._reward)
            self._adaptations.append(Adaptation(task.name, len(known), *clock.read()))
            self._adapted.append(adapted)
            for sample in questions:
                found = self._retrieve(sample, adapted, settings, rule)
                forms = self._world.forms
                truth = apply_forms(sample.path.instructions, forms)
                for name, (selected, proposed) in found.items():
                    f1 = overlap(apply_forms(selected, forms), truth)
                    each = [apply_forms(path, forms) for path in proposed]
                    recalls = tuple(recall(each[:k], truth) for k in range(1, MOST + 1))
                    scores.setdefault(name, []).append(PathScore(sample.path.key, f1, recalls))
        self._status(f"seed {settings.seed}: tried")
        return scores

    def _candidate_times(self) -> dict[str, dict[str, Any]]:
        """Seconds in which the agents tried last search K paths for each question and select one.

        Each K has new views, which have not computed their choices yet.
        """
        took: dict[str, dict[str, Any]] = {}
        if not self._tested:
            return took
        (tasks, _, printed), survey, _ = self._tested
        for k in range(1, MOST + 1):
            asked = [path_samples(survey, t.query, self._embed, printed=printed) for t in tasks]
            clock = Clock()
            for agents, questions in zip(self._adapted, asked, strict=True):
                selector = MLAgent(to_numpy(agents.ml), self._embed, slots=survey.slots)
                decide = make_policy(to_numpy(agents.rl))
                for sample in questions:
                    selector.cosines(sample.path.question, self._search(sample, decide, k))
            took[f"K = {k}"] = {"testing_seconds": round(clock.read()[0], 4)}
        return took

    def _retrieve(
        self, sample: PathSample, agents: Agents, settings: AgentSettings, rule: Policy
    ) -> dict[str, _Retrieved]:
        """What each method that needs no further training retrieves."""
        survey = sample.view.survey
        selector = MLAgent(to_numpy(agents.ml), self._embed, slots=survey.slots)

        def selected(paths: Sequence[Sequence[str]], k: int = settings.k) -> _Retrieved:
            expected = [sample.view.expected(path) * (not settings.printed) for path in paths[:k]]
            scores = selector.scores(sample.path.question, paths[:k], expected)
            return _Retrieved(paths[int(np.argmax(scores))], paths)

        decide = make_policy(to_numpy(agents.rl))
        proposed = self._propose(sample, decide)
        stored = [survey.paths[row].instructions for row in sample.view.most_similar(MOST)]
        as_asked = self._nearest_by_words(sample)
        return {
            FULL: selected(proposed),
            NO_POOL: selected(self._search(sample, decide)),
            NO_GRAPH: selected(stored),
            NO_RL: selected(self._propose(sample, rule)),
            RULE: selected(self._search(sample, rule)),
            NO_ML: _Retrieved(proposed[0], proposed),
            RAP: _Retrieved(as_asked[0], as_asked),
            OUR_RAP: _Retrieved(stored[0], stored),
            **{f"K = {n}": selected(proposed, n) for n in range(1, MOST + 1)},
        }

    def _nearest_by_words(self, sample: PathSample) -> list[tuple[str, ...]]:
        """The paths of the questions nearest by their words, as published for RAP."""
        stored = sample.view.survey.paths
        vectors = self._embed([sample.path.question, *(path.question for path in stored)])
        cosines = np.where(sample.view.seen, vectors[1:] @ vectors[0], -np.inf)
        return [stored[row].instructions for row in np.argsort(-cosines, kind="stable")[:MOST]]


def _walk_texts(sample: PathSample, walks: Sequence[Walk]) -> list[tuple[str, ...]]:
    texts = sample.view.survey.texts
    return [tuple(texts[row] for row in rows) for _, rows in walks]


def _support_paths(tasks: Sequence[MetaTask]) -> list[TaskPath]:
    return [path for task in tasks for path in task.support]


def _cosine_rule(column: int, least: float) -> Policy:
    """Include nodes whose feature is at least ``least``; the larger, the likelier."""

    def decide(states: Floats) -> Floats:
        return np.asarray(0.5 + np.tanh(states[:, column] - least) / 2 + 1e-6, np.float32)

    return decide


@dataclass(frozen=True)
class Row:
    """A row of a table over all seeds."""

    part: str
    name: str
    questions: int  # counted once per seed in which their task is unseen
    f1: Estimate
    recalls: list[Estimate]
    by_seed: list[float]  # mean F1, in order
    over: dict[str, Estimate]  # F1 minus that of rivals on the same questions
    seconds: float | None  # mean seconds of testing by seed, where measured


def table_rows(lines: Sequence[Measured]) -> list[Row]:
    """The rows of all tables, in the order of the measurements."""
    return [_row(own, lines) for own in group_by(lines, lambda one: (one.part, one.name)).values()]


def _row(own: Sequence[Measured], lines: Sequence[Measured]) -> Row:
    part, name = own[0].part, own[0].name
    scores = [(line.seed, score) for line in own for score in line.scores]
    questions = [score.question for _, score in scores]
    estimated = partial(bootstrap, clusters=questions, draws=_DRAWS)

    def over(other: str) -> Estimate | None:
        _, comma, level = name.partition(", ")
        rival_line = ("ablation" if part == "candidates" else part, other + comma + level)
        theirs = {
            (line.seed, score.question): score.f1
            for line in lines
            if (line.part, line.name) == rival_line
            for score in line.scores
        }
        pairs = [(score.f1, theirs.get((seed, score.question))) for seed, score in scores]
        less = [(mine - value,) for mine, value in pairs if value is not None]
        alone = name == rival_line[1] or len(less) < len(pairs)
        return None if alone else estimated(less)[0]

    f1, *recalls = estimated([(score.f1, *score.recalls) for _, score in scores])
    return Row(
        part,
        name,
        len(scores),
        f1,
        recalls,
        [float(np.mean([score.f1 for score in line.scores])) for line in own],
        {rival: less for rival in RIVALS if (less := over(rival)) is not None},
        float(np.mean([line.testing_seconds for line in own])) or None,
    )


def path_tables(found: Sequence[Row]) -> list[ReportTable]:
    """Three tables for each part, each narrow enough for 80 columns."""
    parts = group_by(found, lambda row: row.part).items()
    return [table for part, own in parts for table in _part_tables(part, own)]


def _part_tables(part: str, found: Sequence[Row]) -> Iterator[ReportTable]:
    rivals = [rival for rival in RIVALS if any(rival in row.over for row in found)]
    timed = any(row.seconds for row in found)
    yield ReportTable(
        title=f"Retrieved paths: {part}",
        columns=("", "questions", "F1", *(("seconds of testing",) if timed else ())),
        rows=[
            (row.name, row.questions, _cell(row.f1), *((row.seconds,) if timed else ()))
            for row in found
        ],
        note="F1 of the selected path; in brackets: 95 % bootstrap interval over questions.",
    )
    yield ReportTable(
        title=f"Recall of the first K candidates: {part}",
        columns=("", *(f"K = {k}" for k in range(1, MOST + 1))),
        rows=[(row.name, *(f"{one.value:.3f}" for one in row.recalls)) for row in found],
        note="Without intervals, which --json gives.",
    )
    if rivals:
        yield ReportTable(
            title=f"F1 less that of others on the same questions: {part}",
            columns=("", *rivals),
            rows=[(row.name, *(_cell(row.over.get(rival)) for rival in rivals)) for row in found],
        )


def _cell(one: Estimate | None) -> Cell:
    return f"{one:.3f}" if one else None


def adaptation_times(lines: Sequence[Measured]) -> dict[str, float] | None:
    """Seconds of adapting to a task; None if no line has them."""
    every = [each for line in lines for each in line.adaptations]
    if not every:
        return None
    return {
        "tasks": len(every),
        "support_paths": float(np.mean([each.paths for each in every])),
        "median_seconds": float(np.median([each.seconds for each in every])),
        "median_cpu_seconds": float(np.median([each.cpu_seconds for each in every])),
        "longest_seconds": max(each.seconds for each in every),
        "longest_cpu_seconds": max(each.cpu_seconds for each in every),
    }


def mean_seconds(lines: Sequence[Measured]) -> dict[str, float] | None:
    """Mean seconds of training and testing over the seeds; None if no line has them."""
    timed = [line for line in lines if line.name == FULL and line.testing_seconds]
    if not timed:
        return None
    return {
        "training": float(np.mean([line.training_seconds for line in timed])),
        "testing": float(np.mean([line.testing_seconds for line in timed])),
    }
