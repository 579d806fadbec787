"""The RL-Agent: walks the instruction graph and proposes paths (arXiv 2504.13032, section 4.3)."""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from planweave.learning.graph_states import (
    NodeChoice,
    PathSample,
    QuestionView,
    Survey,
    Walk,
    path_samples,
)
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.paths import TaskPath
from planweave.learning.slots import QuestionSlots, embed_questions
from planweave.learning.vectors import Embed, Floats

Parameters: TypeAlias = Mapping[str, Any]
"""Arrays of NumPy or JAX by name."""

Policy: TypeAlias = Callable[[Floats], Floats]
"""Maps states [n, features] to the probability [n] of including each node."""

PathRule: TypeAlias = Callable[[Sequence[str], str], bool]
"""Tells whether an instruction may follow those of a path."""

BREADTH = 6
"""The most nodes to decide on at one place: the most likely ones."""


SHIFTS = (0.0, -1.0, 1.0, 2.0, 3.0, 4.0)
"""What calibration may add to the score of including; the first of equally good ones wins."""

_SEARCH_PATHS = 8  # paths of the search among which candidates are chosen
_STORED_PATHS = 16  # stored paths, of the most similar questions, beside them
_CALIBRATION_PATHS = 24  # stored paths on which a policy is calibrated
_MAX_DECISIONS = 400
"""The most decisions of a search."""


Reward: TypeAlias = Callable[[TaskPath, Sequence[str]], float]
"""Rates other instructions for a question with its successful path: 0 to 1."""


class Proposal(NamedTuple):
    """A path for a question."""

    instructions: tuple[str, ...]
    origins: tuple[str, ...] = ()  # questions of stored paths with one of them, most similar first
    expected: float = 0.0  # overlap with the question's own path


class NodeDecision(NamedTuple):
    """The state [features] of a decision, and whether its node was included."""

    state: Floats
    included: bool


def log_chances(parameters: Parameters, states: Any, xp: ModuleType = np) -> Any:
    """The policy: a hidden layer of tanh units (20 in the paper), two outputs, softmax.

    Gives the logarithms [n, 2] of the chances to exclude and to include, from states [n, features]
    and the parameters ``w1`` [features, hidden], ``b1`` [hidden], ``w2`` [hidden, 2], ``b2`` [2].
    ``xp`` is ``numpy``, or ``jax.numpy`` for training.
    """
    hidden = xp.tanh(states @ parameters["w1"] + parameters["b1"])
    scores = hidden @ parameters["w2"] + parameters["b2"]
    return scores - xp.logaddexp(scores[..., :1], scores[..., 1:])


def make_policy(parameters: Parameters) -> Policy:
    """Make the policy for :class:`Traversal`; it sees as many features as it has weights for."""
    width = len(parameters["w1"])
    return lambda states: np.exp(log_chances(parameters, states[:, :width])[:, 1])


def search_first(before: Sequence[str], instruction: str) -> bool:
    """The paper's rule for HotpotQA: no lookup before a search."""
    opened = any(text.lower().startswith(("search[", "retrieve[")) for text in before)
    return opened or not instruction.lower().startswith("lookup[")


class Traversal:
    """One depth-first search for K paths.

    At each place it decides on the nodes that may follow (by ``rule``), most likely first: randomly
    with the policy's probabilities (``draw``), or by whether a probability is over 1/2. An included
    node joins the path, and the search continues after it. An excluded node sends the search to
    another branch, and the path so far is complete, unless it is the beginning of a complete one.
    No path gets longer than the longest stored one. The search ends with K complete paths, or after
    400 decisions. If there are fewer paths, the first excluded nodes are included one by one.
    """

    def __init__(
        self,
        view: QuestionView,
        decide: Policy,
        k: int,
        *,
        rule: PathRule | None = None,
        draw: np.random.Generator | None = None,
    ) -> None:
        self._view, self._decide, self._k, self._rule, self._draw = view, decide, k, rule, draw
        self.formed: list[Walk] = []
        self.decisions: list[NodeDecision] = []
        left_out = self._explore((), ())
        for choice in left_out:
            if len(self.formed) < k:
                self._include((), (), choice)

    def _explore(self, walk: tuple[int, ...], texts: tuple[int, ...]) -> list[NodeChoice]:
        """Decide on all nodes that may follow; returns the excluded ones."""
        choices = self._choices(walk, texts)
        if not choices:
            self._add_formed(walk, texts)
            return []
        likely = self._decide(np.stack([choice.state for choice in choices]))
        left_out = []
        for place in np.argsort(-likely, kind="stable")[:BREADTH]:
            if len(self.formed) >= self._k or len(self.decisions) >= _MAX_DECISIONS:
                break
            choice, chance = choices[place], float(likely[place])
            included = chance > (0.5 if self._draw is None else self._draw.random())
            self.decisions.append(NodeDecision(choice.state, included))
            if included:
                self._include(walk, texts, choice)
            else:
                left_out.append(choice)
                self._add_formed(walk, texts)
        return left_out

    def _choices(self, walk: tuple[int, ...], texts: tuple[int, ...]) -> list[NodeChoice]:
        if len(walk) >= self._view.survey.longest:
            return []
        choices = self._view.choices(walk, texts)
        if self._rule is None:
            return choices
        names = self._view.survey.texts
        before = [names[text] for text in texts]
        return [choice for choice in choices if self._rule(before, names[choice.text])]

    def _include(self, walk: tuple[int, ...], texts: tuple[int, ...], choice: NodeChoice) -> None:
        self._explore((*walk, choice.node), (*texts, choice.text))

    def _add_formed(self, walk: tuple[int, ...], texts: tuple[int, ...]) -> None:
        known = any(other[: len(texts)] == texts for _, other in self.formed)
        if texts and not known and len(self.formed) < self._k:
            self.formed.append((walk, texts))


def choose_candidates(
    view: QuestionView, decide: Policy, k: int, *, rule: PathRule | None = None
) -> list[Walk]:
    """Choose the ``k`` paths to propose for a question; fewer if the graph has no more.

    In the paper these are the paths of the search. The search alone finds similar paths and misses
    others that similar questions have. So both form a pool. The first choice has the greatest
    expected overlap with the question's own path; each further one adds most to the expected
    recall of all choices together.
    """
    if view.printed:
        return Traversal(view, decide, k, rule=rule).formed
    formed = Traversal(view, decide, _SEARCH_PATHS, rule=rule).formed
    known = {texts for _, texts in formed}
    pool = formed + [walk for walk in view.walks(_STORED_PATHS) if walk[1] not in known]
    names = view.survey.texts

    def overlap(walk: Walk) -> float:
        return view.expected([names[text] for text in walk[1]])

    chosen = sorted(pool, key=overlap, reverse=True)[:1]
    while len(chosen) < min(k, len(pool)):
        held = {text for _, texts in chosen for text in texts}
        rest = [walk for walk in pool if walk not in chosen]
        chosen.append(max(rest, key=lambda walk: view.expected_recall(held.union(walk[1]))))
    return chosen


class RLAgent:
    """Proposes paths from an instruction graph.

    If ``printed``, it starts at the instructions nearest to the question and takes from each node
    the nearest one; see :class:`~learning.graph_states.QuestionView`. With a ``reward``, the policy
    is calibrated on some paths of the graph, each as if it were not stored. Without it, the policy
    stays as it was trained.
    """

    def __init__(
        self,
        parameters: Parameters,
        embed: Embed,
        *,
        printed: bool = False,
        slots: QuestionSlots | None = None,
        reward: Reward | None = None,
    ) -> None:
        self._parameters, self._policy, self._embed = parameters, make_policy(parameters), embed
        self._printed, self._slots, self._reward = printed, slots, reward
        self._survey: tuple[InstructionGraph, Survey] | None = None

    def propose(self, graph: InstructionGraph, question: str, k: int = 3) -> list[Proposal]:
        """At most ``k`` paths (:func:`choose_candidates`); none from an empty graph."""
        if not graph.paths:
            return []
        survey = self._survey_graph(graph)
        vector = embed_questions([question], self._embed, self._slots)[0]
        view = QuestionView(survey, vector, printed=self._printed)
        walks = choose_candidates(view, self._policy, k, rule=search_first)
        return [_build_proposal(view, *walk) for walk in walks]

    def _survey_graph(self, graph: InstructionGraph) -> Survey:
        if (
            self._survey is None
            or self._survey[0] is not graph
            or (self._survey[1].paths != graph.paths)
        ):
            survey = Survey(graph, self._embed, self._slots)
            if self._reward is not None:
                some = np.random.default_rng(0).permutation(len(survey.paths))[:_CALIBRATION_PATHS]
                paths = [survey.paths[row] for row in some]
                known = path_samples(survey, paths, self._embed, printed=self._printed)
                ready = calibrate(self._parameters, known, search_first, self._reward)
                self._policy = make_policy(ready)
            self._survey = graph, survey
        return self._survey[1]


def _build_proposal(view: QuestionView, nodes: tuple[int, ...], texts: tuple[int, ...]) -> Proposal:
    survey = view.survey
    held = [survey.nodes[node] for node in nodes]
    rows = np.concatenate(
        [each.paths[each.texts == text] for each, text in zip(held, texts, strict=True)]
    )
    rows = np.unique(rows[view.seen[rows]])
    best = rows[np.argsort(-view.to_paths[rows], kind="stable")]
    origins = tuple(survey.paths[row].question for row in best)
    instructions = tuple(survey.texts[text] for text in texts)
    # In the paper only the cosine decides on the selection.
    return Proposal(instructions, origins, 0.0 if view.printed else view.expected(instructions))


def calibrate(
    parameters: Parameters, known: Sequence[PathSample], rule: PathRule | None, reward: Reward
) -> Parameters:
    """Shift the score of including, so that the first paths get the best reward on known questions.

    Tasks differ in the length and the similarity of their paths: a policy that was trained on some
    tasks stops too early, or too late, on others. So this number is chosen where the policy is
    used. The paper adapts by gradients only.

    ``known`` are questions with the paths that solved them; without them the policy stays the same.
    """

    def worth(shift: float) -> float:
        decide = make_policy(_shift_policy(parameters, shift))
        return round(sum(reward(s.path, _first_path(s.view, decide, rule)) for s in known), 6)

    return _shift_policy(parameters, max(SHIFTS, key=worth)) if known else parameters


def _first_path(view: QuestionView, decide: Policy, rule: PathRule | None) -> Sequence[str]:
    formed = Traversal(view, decide, 1, rule=rule).formed
    return [view.survey.texts[text] for _, texts in formed for text in texts]


def _shift_policy(parameters: Parameters, shift: float) -> Parameters:
    return {**parameters, "b2": parameters["b2"] + np.array([0, shift], np.float32)}
