"""The states of the RL-Agent's decisions on an instruction graph.

InstructRAG (arXiv 2504.13032), section 4.3, equation 1: three cosines. The other features are not
in the paper; they say how often the paths of similar questions took that way.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planweave.learning.instruction_graph import Edge, InstructionGraph
from planweave.learning.overlap import ordered_overlap
from planweave.learning.paths import TaskPath
from planweave.learning.slots import QuestionSlots, embed_questions, is_final_answer
from planweave.learning.vectors import Embed, Floats

PRINTED = ("question~instruction", "question~task", "question~task_question")
OURS = (
    *("question~path", "edge_share", "prefix_share", "end_share"),
    *("instruction_share", "text_share", "length", "expected", "gain", "promise"),
)
FEATURES = PRINTED + OURS
"""The features of a state, in order; the policy of the paper sees the first three."""

START = -1
"""The node before the first one of a path."""

_WIDTH = 12  # nodes that may follow: those that paths of similar questions took most
_SHARPNESSES = (5.0, 10.0, 20.0)  # 10: a question that is 0.1 less alike weighs 1/e
_SHARPNESS_SAMPLES = 500  # stored paths on which the sharpness is chosen
_LENGTH_UNIT = 10.0
_COMPLETIONS = 8
_SIMILAR_PATHS = 64  # paths by which the overlap of a whole path is expected
_STEEPNESS = 10.0  # one instruction changes the expected overlap by a few hundredths

Rows: TypeAlias = NDArray[np.intp]

Walk: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The nodes of a path, and the row in `Survey.texts` of the instruction of each."""


class NodeChoice(NamedTuple):
    """A node that could be included next."""

    node: int
    text: int  # row of the instruction that it would give, in `Survey.texts`
    state: Floats  # its features [len(FEATURES)]


class Passages(NamedTuple):
    """All uses of an edge, or all entries into a node, by paths."""

    paths: Rows
    texts: Rows
    places: Rows


class Survey:
    """An instruction graph as arrays; it ignores later changes of the graph.

    Args:
        slots: The slots of its instructions, if it has any.

    Attributes:
        tasks: [paths], the task of each as a number.
        question_vectors: [paths, d].
        text_vectors: [texts, d].
        edges: Passages along each edge; those into first nodes come from :data:`START`.
        nodes: Passages into each node.
        after: The nodes that follow a node, or :data:`START`.
    """

    def __init__(
        self, graph: InstructionGraph, embed: Embed, slots: QuestionSlots | None = None
    ) -> None:
        self.slots = slots
        self.paths = graph.paths
        self.walks = [graph.walk(path.key) for path in self.paths]
        self.texts = list(dict.fromkeys(i for path in self.paths for i in path.instructions))
        self.text_row = {text: row for row, text in enumerate(self.texts)}
        names = list(dict.fromkeys(path.task for path in self.paths))
        self.tasks = np.array([names.index(path.task) for path in self.paths], np.intp)
        questions = [path.question for path in self.paths]
        self.question_vectors = embed_questions(questions, embed, slots)
        self.text_vectors = embed(self.texts)
        self._index_walks()

    def _index_walks(self) -> None:
        edges: dict[Edge, list[tuple[int, int, int]]] = defaultdict(list)
        nodes: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self.longest = max(map(len, self.walks))
        self.steps = np.full((len(self.paths), self.longest + 1), START, np.intp)
        for row, (walk, path) in enumerate(zip(self.walks, self.paths, strict=True)):
            self.steps[row, : len(walk)] = walk
            for place, (node, text) in enumerate(zip(walk, path.instructions, strict=True)):
                before = walk[place - 1] if place else START
                edges[before, node].append((row, self.text_row[text], place))
                nodes[node].append((row, self.text_row[text], place))
        self.edges = {edge: _to_passages(taken) for edge, taken in edges.items()}
        self.nodes = {node: _to_passages(taken) for node, taken in nodes.items()}
        self.after: dict[int, list[int]] = defaultdict(list)
        for before, node in self.edges:
            self.after[before].append(node)
        self.holds = np.zeros((len(self.paths), len(self.texts)), np.float32)
        for row, path in enumerate(self.paths):
            self.holds[row, [self.text_row[text] for text in path.instructions]] = 1
        self.counts = np.array([not is_final_answer(text) for text in self.texts], np.float32)
        self.holds *= self.counts
        self.lengths = self.holds.sum(axis=1)
        self.holders: dict[int, list[int]] = defaultdict(list)
        for node, passages in self.nodes.items():
            for text in np.unique(passages.texts):
                self.holders[int(text)].append(node)

    @cached_property
    def sharpness(self) -> float:
        """How fast the weight of a path falls with the similarity of its question.

        Chosen by leaving out each stored path in turn: the path with the greatest expected overlap
        should be nearest to the one left out.
        """
        rows = np.random.default_rng(0).permutation(len(self.paths))[:_SHARPNESS_SAMPLES]
        held, lengths = self.holds[rows], self.lengths[rows]
        together = lengths[:, None] + lengths
        overlaps = 2 * held @ held.T / np.maximum(together, 1)
        likeness = self.question_vectors[rows] @ self.question_vectors[rows].T
        np.fill_diagonal(likeness, -np.inf)

        def worth(sharpness: float) -> float:
            weights = np.exp(sharpness * (likeness - likeness.max(axis=1, keepdims=True)))
            expected = weights @ overlaps
            np.fill_diagonal(expected, -np.inf)
            return float(overlaps[np.arange(len(rows)), expected.argmax(axis=1)].sum())

        return max(_SHARPNESSES, key=worth) if len(rows) > 1 else _SHARPNESSES[0]


def _to_passages(taken: Sequence[tuple[int, int, int]]) -> Passages:
    return Passages(*np.array(taken, np.intp).T)


class QuestionView:
    """A survey from the view of one question with vector [d]; it ignores the paths ``without``.

    If ``printed``, starts and instructions are chosen by their cosine with the question, as in the
    paper; otherwise by the paths of similar questions.
    """

    def __init__(
        self, survey: Survey, question: Floats, without: Sequence[int] = (), *, printed: bool
    ) -> None:
        self.survey, self.printed = survey, printed
        self.to_texts = survey.text_vectors @ question
        self.to_paths = survey.question_vectors @ question
        self.seen = np.ones(len(survey.paths), bool)
        self.seen[list(without)] = False
        nearest = self.to_paths[self.seen].max(initial=-1.0)
        self.weights = np.exp(survey.sharpness * (self.to_paths - nearest)) * self.seen
        self._total = float(self.weights.sum()) or 1.0
        self._known_choices: dict[tuple[tuple[int, ...], tuple[int, ...]], list[NodeChoice]] = {}
        self._near = np.flatnonzero(self.weights > 1e-3)
        self._near_weights = self.weights[self._near] / (self.weights[self._near].sum() or 1.0)
        self._near_holds = survey.holds[self._near]
        self._text_shares = self._near_weights @ self._near_holds

    def most_similar(self, count: int) -> Rows:
        """The rows of at most ``count`` stored paths, those of the most similar questions first."""
        order = np.argsort(np.where(self.seen, -self.to_paths, np.inf), kind="stable")
        return order[: min(count, int(self.seen.sum()))]

    def walks(self, count: int) -> list[Walk]:
        """The distinct stored paths of the ``count`` most similar questions."""
        survey, found = self.survey, dict[tuple[int, ...], tuple[int, ...]]()
        for row in self.most_similar(count):
            texts = tuple(survey.text_row[text] for text in survey.paths[row].instructions)
            found.setdefault(texts, tuple(survey.walks[row]))
        return [(nodes, texts) for texts, nodes in found.items()]

    def choices(self, walk: tuple[int, ...], texts: tuple[int, ...]) -> list[NodeChoice]:
        """The nodes that may follow the nodes and instructions of a path.

        An instruction enters a path only once; a node without another instruction is not a choice.
        """
        if (walk, texts) not in self._known_choices:
            self._known_choices[walk, texts] = self._find_choices(walk, texts)
        return self._known_choices[walk, texts]

    def at(self, node: int, random: np.random.Generator) -> NodeChoice | None:
        """The state of a node after a random one of its predecessors."""
        before = [one for one, other in self.survey.edges if other == node]
        return self._build_choice(int(random.choice(before)), node, 0, self.seen, ())

    def _find_choices(self, walk: tuple[int, ...], texts: tuple[int, ...]) -> list[NodeChoice]:
        last = walk[-1] if walk else START
        same = self.seen & self._begins_with(walk) if walk else self.seen
        nodes = self._nearest_nodes() if self.printed and not walk else self._next_nodes(last)
        found = (self._build_choice(last, node, len(walk), same, texts) for node in nodes)
        return [choice for choice in found if choice is not None]

    def _nearest_nodes(self) -> list[int]:
        """The nodes of the instructions nearest to the question."""
        order = np.argsort(-self.to_texts, kind="stable")
        nodes = dict.fromkeys(n for text in order for n in self.survey.holders[int(text)])
        return list(nodes)[:_WIDTH]

    def _next_nodes(self, last: int) -> list[int]:
        nodes = self.survey.after.get(last, [])
        along = [-self.weights[self.survey.edges[last, node].paths].sum() for node in nodes]
        return [nodes[place] for place in np.argsort(along, kind="stable")[:_WIDTH]]

    def _begins_with(self, walk: Sequence[int]) -> NDArray[np.bool_]:
        if len(walk) > self.survey.steps.shape[1]:
            return np.zeros_like(self.seen)
        return np.asarray((self.survey.steps[:, : len(walk)] == walk).all(axis=1))

    def _build_choice(
        self, last: int, node: int, length: int, same: NDArray[np.bool_], texts: Sequence[int]
    ) -> NodeChoice | None:
        inside = self._select_seen(self.survey.nodes[node])
        edge = self.survey.edges.get((last, node))
        edge = inside if edge is None else self._select_seen(edge)
        text = self._choose_instruction(inside if self.printed else edge, texts)
        if text is None or not len(edge.paths):
            return None
        now, then = (
            float(self._expected_overlap(self._to_row(held))) for held in (texts, (*texts, text))
        )
        promise = float(self._expected_overlap(self._complete(edge, texts)).max())
        features = (
            *self._cosines(inside, edge),
            *self._shares(last, node, edge, text, length, same),
            *(now, _STEEPNESS * (then - now), _STEEPNESS * (promise - now)),
        )
        return NodeChoice(node, text, np.array(features, np.float32))

    def expected(self, instructions: Sequence[str]) -> float:
        """The expected ordered overlap of a whole path with the question's own path.

        It is estimated from the paths of the most similar questions; a path that only submits the
        answer has no overlap. The state's ``expected``, ``gain`` and ``promise`` belong to parts of
        paths and ignore the order.
        """
        rows = np.argsort(-self.weights, kind="stable")[:_SIMILAR_PATHS]
        overlaps = [
            ordered_overlap(instructions, self.survey.paths[row].instructions)
            if self.survey.lengths[row]
            else 0.0
            for row in rows
        ]
        return float(self.weights[rows] @ overlaps / (self.weights[rows].sum() or 1.0))

    def expected_recall(self, texts: Iterable[int]) -> float:
        """The expected share of the question's own path that these instructions cover.

        It is estimated as in :meth:`expected`.
        """
        shared = self._near_holds @ self._to_row([*texts])
        return float(self._near_weights @ (shared / np.maximum(self.survey.lengths[self._near], 1)))

    def _expected_overlap(self, held: Floats) -> Floats:
        """The expected overlap of paths with these instructions [..., texts]."""
        held = held * self.survey.counts
        shared = held @ self._near_holds.T
        together = held.sum(axis=-1)[..., None] + self.survey.lengths[self._near]
        overlaps: Floats = 2 * shared / np.maximum(together, 1) @ self._near_weights
        return overlaps

    def _to_row(self, texts: Sequence[int]) -> Floats:
        held = np.zeros(len(self.survey.texts), np.float32)
        held[list(texts)] = 1
        return held

    def _complete(self, edge: Passages, texts: Sequence[int]) -> Floats:
        """The instructions [n, texts] of a path that continues from here as stored paths do."""
        most_similar = np.argsort(-self.weights[edge.paths], kind="stable")[:_COMPLETIONS]
        held = np.repeat(self._to_row(texts)[None], len(most_similar), axis=0)
        for row, passage in enumerate(most_similar):
            path, place = self.survey.paths[edge.paths[passage]], edge.places[passage]
            rest = path.instructions[place:]
            held[row, [self.survey.text_row[text] for text in rest]] = 1
        return held

    def _select_seen(self, passages: Passages) -> Passages:
        seen = self.seen[passages.paths]
        return passages if seen.all() else Passages(*(rows[seen] for rows in passages))

    def _choose_instruction(self, passages: Passages, texts: Sequence[int]) -> int | None:
        fresh = ~np.isin(passages.texts, texts)
        if not fresh.any():
            return None
        rows = passages.texts[fresh]
        if self.printed:
            return int(rows[np.argmax(self.to_texts[rows])])
        return int(np.argmax(np.bincount(rows, self.weights[passages.paths[fresh]] + 1e-12)))

    def _cosines(self, inside: Passages, edge: Passages) -> tuple[float, float, float]:
        """Equation 1: the best instruction of the node, task of the edge, question of that task."""
        best_task, best_question = -1.0, -1.0
        tasks = self.survey.tasks[edge.paths]
        for task in np.unique(tasks):
            rows = edge.paths[tasks == task]
            mean = self.survey.question_vectors[rows].mean(axis=0)
            cosine = float(self.to_paths[rows].mean() / np.linalg.norm(mean))
            if cosine > best_task:
                best_task, best_question = cosine, float(self.to_paths[rows].max())
        return float(self.to_texts[inside.texts].max()), best_task, best_question

    def _shares(
        self, last: int, node: int, edge: Passages, text: int, length: int, same: NDArray[np.bool_]
    ) -> tuple[float, ...]:
        weights = self.weights
        along = weights[edge.paths].sum()
        here = self._total if last == START else weights[self.survey.nodes[last].paths].sum()
        began = weights[same].sum()
        goes = weights[
            same & (self.survey.steps[:, min(length, self.survey.steps.shape[1] - 1)] == node)
        ]
        inside = self.survey.nodes[node].paths
        ends = [row for row in inside if self.survey.walks[row][-1] == node]
        return (
            float(self.to_paths[edge.paths].max()),
            float(along / max(here, 1e-9)),
            float(goes.sum() / max(began, 1e-9)),
            float(weights[ends].sum() / max(weights[inside].sum(), 1e-9)),
            float(weights[edge.paths[edge.texts == text]].sum() / max(along, 1e-9)),
            float(self._text_shares[text]),
            length / _LENGTH_UNIT,
        )


class PathSample(NamedTuple):
    """A question with its path, and its view of the graph without that path."""

    path: TaskPath
    view: QuestionView


def path_samples(
    survey: Survey, paths: Sequence[TaskPath], embed: Embed, *, printed: bool
) -> list[PathSample]:
    """Each path with a view of the graph that ignores the stored paths of the same question.

    The paper does not say whether the warm start ignores a question's own path. If it did not, the
    third cosine would be 1 exactly on that path, and the policy would learn nothing else.
    """
    rows: dict[str, list[int]] = {}
    for row, stored in enumerate(survey.paths):
        rows.setdefault(stored.question, []).append(row)
    if not paths:
        return []
    vectors = embed_questions([path.question for path in paths], embed, survey.slots)
    return [
        PathSample(path, QuestionView(survey, vector, rows.get(path.question, ()), printed=printed))
        for path, vector in zip(paths, vectors, strict=True)
    ]
