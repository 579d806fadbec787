"""What the RL-Agent sees of an instruction graph: the states of its decisions.

InstructRAG (arXiv 2504.13032), section 4.3, equation 1: three cosines. The other features, which
the paper does not have, say how often paths of questions like this one went that way.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from learning.instruction_graph import Edge, InstructionGraph
from learning.slots import Slots
from learning.vectors import Embed, Floats

PRINTED = ("question~instruction", "question~task", "question~task_question")
OURS = (
    *("question~path", "edge_share", "prefix_share", "end_share"),
    *("instruction_share", "text_share", "length"),
)
FEATURES = PRINTED + OURS
"""Of a state, in this order; the policy as it is printed sees the first three."""

START = -1
"""Stands for the node before the first one of a path."""

_WIDTH = 12  # nodes that may follow: those that paths of questions like this one took most
_SHARPNESS = 20.0  # a path whose question is 0.05 less alike weighs 1/e as much
_LONGEST = 10.0

Rows: TypeAlias = NDArray[np.intp]


class Choice(NamedTuple):
    """A node that could be included next.

    Attributes:
        node: The node.
        text: Row of the instruction that it would give, in :attr:`Survey.texts`.
        state: Its features [``len(FEATURES)``].
    """

    node: int
    text: int
    state: Floats


class Passages(NamedTuple):
    """Each time that a path takes an edge or enters a node: the path and its instruction there."""

    paths: Rows
    texts: Rows


class Survey:
    """An instruction graph as arrays; it does not follow later changes of the graph.

    Args:
        graph: The graph.
        embed: The model that it was built with.
        slots: Those of its instructions: questions are compared by their forms; None if they are
            compared as they were asked.

    Attributes:
        paths: What was inserted.
        texts: The different instructions.
        tasks: [paths], the task of each as a number.
        question_vectors: [paths, d].
        text_vectors: [texts, d].
        edges: Passages along each edge, those into first nodes from :data:`START`.
        nodes: Passages into each node.
        after: The nodes that follow a node, or :data:`START`.
    """

    def __init__(self, graph: InstructionGraph, embed: Embed, slots: Slots | None = None) -> None:
        self.form: Callable[[str], str] = slots.question if slots else str
        self.paths = graph.paths
        self.walks = [graph.walk(path.key) for path in self.paths]
        self.texts = list(dict.fromkeys(i for path in self.paths for i in path.instructions))
        self.text_row = {text: row for row, text in enumerate(self.texts)}
        names = list(dict.fromkeys(path.task for path in self.paths))
        self.tasks = np.array([names.index(path.task) for path in self.paths], np.intp)
        vectors = embed([*(self.form(path.question) for path in self.paths), *self.texts])
        self.question_vectors, self.text_vectors = np.split(vectors, [len(self.paths)])
        self._follow()

    def _follow(self) -> None:
        edges: dict[Edge, list[tuple[int, int]]] = defaultdict(list)
        nodes: dict[int, list[tuple[int, int]]] = defaultdict(list)
        longest = max(map(len, self.walks)) + 1
        self.steps = np.full((len(self.paths), longest), START, np.intp)
        for row, (walk, path) in enumerate(zip(self.walks, self.paths, strict=True)):
            self.steps[row, : len(walk)] = walk
            for before, node, text in zip((START, *walk), walk, path.instructions, strict=False):
                edges[before, node].append((row, self.text_row[text]))
                nodes[node].append((row, self.text_row[text]))
        self.edges = {edge: _passages(taken) for edge, taken in edges.items()}
        self.nodes = {node: _passages(taken) for node, taken in nodes.items()}
        self.after: dict[int, list[int]] = defaultdict(list)
        for before, node in self.edges:
            self.after[before].append(node)
        self.holders: dict[int, list[int]] = defaultdict(list)
        for node, passages in self.nodes.items():
            for text in np.unique(passages.texts):
                self.holders[int(text)].append(node)


def _passages(taken: Sequence[tuple[int, int]]) -> Passages:
    rows = np.array(taken, np.intp)
    return Passages(rows[:, 0], rows[:, 1])


class View:
    """A survey as one question sees it.

    Args:
        survey: The graph.
        question: Vector [d] of the form of the question.
        without: Rows of paths that are overlooked, such as the question's own.
        printed: Choose starts and instructions by their cosine with the question, as the paper
            does; otherwise by what paths of questions like this one do.
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
        self.weights = np.exp(_SHARPNESS * (self.to_paths - nearest)) * self.seen
        self._total = float(self.weights.sum()) or 1.0
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Choice]] = {}
        self._text_shares = np.zeros(len(survey.texts))
        for row in np.flatnonzero(self.weights > 1e-3):
            texts = {survey.text_row[text] for text in survey.paths[row].instructions}
            self._text_shares[list(texts)] += self.weights[row] / self._total

    def choices(self, walk: tuple[int, ...], texts: tuple[int, ...]) -> list[Choice]:
        """What may follow the nodes of a path and the instructions that they gave.

        An instruction enters a path once; a node that has no other left is no choice.
        """
        if (walk, texts) not in self._known:
            self._known[walk, texts] = self._choices(walk, texts)
        return self._known[walk, texts]

    def _choices(self, walk: tuple[int, ...], texts: tuple[int, ...]) -> list[Choice]:
        last = walk[-1] if walk else START
        same = self.seen & self._began(walk) if walk else self.seen
        nodes = self._nearest_nodes() if self.printed and not walk else self._next(last)
        found = (self._choice(last, node, len(walk), same, texts) for node in nodes)
        return [choice for choice in found if choice is not None]

    def _nearest_nodes(self) -> list[int]:
        """The nodes of the instructions nearest to the question."""
        order = np.argsort(-self.to_texts, kind="stable")
        nodes = dict.fromkeys(n for text in order for n in self.survey.holders[int(text)])
        return list(nodes)[:_WIDTH]

    def _next(self, last: int) -> list[int]:
        nodes = self.survey.after.get(last, [])
        along = [-self.weights[self.survey.edges[last, node].paths].sum() for node in nodes]
        return [nodes[place] for place in np.argsort(along, kind="stable")[:_WIDTH]]

    def _began(self, walk: Sequence[int]) -> NDArray[np.bool_]:
        if len(walk) > self.survey.steps.shape[1]:
            return np.zeros_like(self.seen)
        return np.asarray((self.survey.steps[:, : len(walk)] == walk).all(axis=1))

    def _choice(
        self, last: int, node: int, length: int, same: NDArray[np.bool_], texts: Sequence[int]
    ) -> Choice | None:
        inside = self._seen_of(self.survey.nodes[node])
        edge = self.survey.edges.get((last, node))
        edge = inside if edge is None else self._seen_of(edge)
        text = self._instruction(inside if self.printed else edge, texts)
        if text is None or not len(edge.paths):
            return None
        features = (
            *self._cosines(inside, edge),
            *self._shares(last, node, edge, text, length, same),
        )
        return Choice(node, text, np.array(features, np.float32))

    def _seen_of(self, passages: Passages) -> Passages:
        seen = self.seen[passages.paths]
        return passages if seen.all() else Passages(passages.paths[seen], passages.texts[seen])

    def _instruction(self, passages: Passages, texts: Sequence[int]) -> int | None:
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
        self,
        last: int,
        node: int,
        edge: Passages,
        text: int,
        length: int,
        same: NDArray[np.bool_],
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
            length / _LONGEST,
        )
