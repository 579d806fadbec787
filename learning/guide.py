"""Past successes as guidance for a question: proposed paths, and the nearest whole paths."""

import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np

from planweave import BadInput
from planweave.learning.agents_file import NONE, load_agents
from planweave.learning.experience import experience_of
from planweave.learning.instruction_graph import THRESHOLD as PUBLISHED
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.ml_agent import MLAgent
from planweave.learning.overlap import reward_by_overlap
from planweave.learning.paths import TaskPath, read_paths, select_succeeded
from planweave.learning.queries.slots import find_slots
from planweave.learning.rl_agent import Proposal, RLAgent
from planweave.learning.slots import ASKED, QuestionSlots, can_fill
from planweave.learning.vectors import Embed, Floats, SentenceVectors
from planweave.models import embeddings

THRESHOLD = 0.9
"""Delta of a graph of instructions with slots; these are short and similar."""

_GUIDES_KEPT = 4
_MORE_PROPOSALS = 4
_ACTION = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_NUMBERED = re.compile(r"\{\d+\}")


class Guide:
    """Guidance for a new question from paths that succeeded.

    ``rl_agent`` proposes paths from the instruction graph; without it, the paths of the questions
    nearest in form are proposed. ``ml_agent`` selects one of them; without it, the first is
    selected. If ``published``, instructions have no slots, and the graph has the paper's delta.
    """

    def __init__(
        self,
        paths: Sequence[TaskPath],
        embed: Embed,
        rl_agent: RLAgent | None = None,
        ml_agent: MLAgent | None = None,
        moves: Iterable[str] = (),
        *,
        published: bool = False,
    ) -> None:
        self.paths = select_succeeded(paths)
        if not self.paths:
            raise BadInput(
                "There is no path that succeeded.",
                fix="Name a file of paths in `paths`, or add some: planweave experience add FILE",
            )
        self.slots = QuestionSlots.of(self.paths, moves)
        self._embed, self._rl_agent, self._ml_agent = embed, rl_agent, ml_agent
        self._vectors: Floats = embed([path.question for path in self.paths])
        self._published = published
        self._forms = [*self.paths] if published else [self.slots.path(p) for p in self.paths]
        self._form_vectors: Floats = embed(
            [self.slots.question(path.question) for path in self.paths]
        )

    def nearest(self, question: str, k: int) -> list[TaskPath]:
        """Whole paths of the ``k`` questions nearest to ``question``, nearest first (RAP)."""
        cosines = self._vectors @ self._embed([question])[0]
        return [self.paths[row] for row in np.argsort(-cosines, kind="stable")[:k]]

    def triplets(self, text: str, k: int) -> list[tuple[str, str]]:
        """The ``k`` actions nearest to a text, each with its observation, nearest first.

        Empty if the paths have no observations.
        """
        if not self._observed_actions:
            return []
        cosines = self._observed_vectors @ self._embed([text])[0]
        return [self._observed_actions[row] for row in np.argsort(-cosines, kind="stable")[:k]]

    @cached_property
    def _observed_actions(self) -> list[tuple[str, str]]:
        pairs = (
            pair
            for path in self.paths
            for pair in zip(path.instructions, path.observations, strict=False)
        )
        return [*dict.fromkeys(pair for pair in pairs if pair[1])]

    @cached_property
    def _observed_vectors(self) -> Floats:
        return self._embed([f"{action} {shown}" for action, shown in self._observed_actions])

    @property
    def proposer(self) -> str:
        """The proposer of paths, in words."""
        return "nearest in form" if self._rl_agent is None else "RL-Agent"

    @property
    def selector(self) -> str:
        """The selector of a path, in words."""
        return "first of the proposed" if self._ml_agent is None else "ML-Agent"

    @cached_property
    def graph(self) -> InstructionGraph:
        """The instruction graph of the paths, with slots."""
        threshold = PUBLISHED if self._published else THRESHOLD
        return InstructionGraph.of(self._forms, self._embed, threshold)

    def propose(self, question: str, k: int) -> list[Proposal]:
        """Propose at most ``k`` different paths for a question, most likely first (InstructRAG).

        A path that needs more names than the question has is not proposed.
        """
        names = len(self.slots.names(question))
        if self._rl_agent is None:
            return self._nearest_in_form(question, k, names)
        found: list[Proposal] = []
        for count in (
            k,
            _MORE_PROPOSALS * k,
        ):  # more only if some do not fit
            proposed = self._rl_agent.propose(self.graph, question, count)
            found = [one for one in proposed if can_fill(one.instructions, names)][:k]
            if len(found) == k or len(proposed) < count:
                break
        return found

    def select(self, question: str, proposals: Sequence[Proposal]) -> int:
        """The index of the best path for the question; there is at least one."""
        return self._ml_agent.select(question, proposals) if self._ml_agent else 0

    def form(self, path: TaskPath) -> tuple[str, ...]:
        """The instructions of a path, with slots."""
        return self.slots.path(path).instructions

    def adapted(self, instructions: Sequence[str], question: str) -> tuple[str, ...]:
        """Instructions with the names of a question in their slots.

        A slot without a name is dropped from an argument in brackets; an argument that is then
        empty becomes what the question asks.
        """
        names = enumerate(self.slots.names(question), start=1)
        values = {f"{{{number}}}": name for number, name in names}
        return tuple(_fill_names(text, values) for text in instructions)

    def shown(self, proposal: Proposal, question: str) -> tuple[str, ...] | None:
        """A path as it is shown to a model, without anything that belongs to other questions."""
        if any(map(find_slots, proposal.instructions)):
            return None  # an environment has no database to fill the slots of a query
        if self._published:
            return proposal.instructions
        return self.slots.shown(proposal.instructions, question, proposal.origins)

    def _nearest_in_form(self, question: str, k: int, names: int) -> list[Proposal]:
        cosines = self._form_vectors @ self._embed([self.slots.question(question)])[0]
        found: dict[tuple[str, ...], list[str]] = {}
        for row in np.argsort(-cosines, kind="stable"):
            instructions = self._forms[row].instructions
            if not can_fill(instructions, names):
                continue
            if len(found) == k and instructions not in found:
                break
            found.setdefault(instructions, []).append(self.paths[row].question)
        return [Proposal(path, tuple(asked)) for path, asked in found.items()]


def _fill_names(instruction: str, values: Mapping[str, str]) -> str:
    known = _NUMBERED.sub(lambda slot: values.get(slot[0], slot[0]), instruction)
    if (action := _ACTION.fullmatch(known)) is None:
        return known
    return f"{action[1]}[{' '.join(_NUMBERED.sub('', action[2]).split()) or ASKED}]"


def open_guide(
    file: str | None, owner: str, agents: str = NONE, moves: frozenset[str] = frozenset()
) -> Guide:
    """Open the guide of a file of paths, or of an owner's experience."""
    if file is not None:
        return make_guide(tuple(read_paths(pathlib.Path(file))), agents, moves)
    kept = experience_of(owner).entries()
    return make_guide(tuple(entry.path for entry in kept), agents, moves)


@lru_cache(maxsize=_GUIDES_KEPT)
def make_guide(
    paths: tuple[TaskPath, ...], agents: str = NONE, moves: frozenset[str] = frozenset()
) -> Guide:
    """Make the guide of the paths that succeeded, once for the same paths.

    ``agents`` is ``shipped``, a file that ``planweave train instructrag`` wrote, or ``none``. With
    ``none`` the paths of the questions nearest in form are proposed, and the first is selected.
    Agents use the embedding model of their training. ``moves`` are the actions that only move
    between pages of the environment.
    """
    if agents == NONE:
        return Guide(paths, SentenceVectors(embeddings()), moves=moves)
    loaded = load_agents(agents)
    embed = SentenceVectors(embeddings(loaded.card.embeddings))
    if loaded.card.published:
        agents_as_published = RLAgent(loaded.rl, embed, printed=True), MLAgent(loaded.ml, embed)
        return Guide(paths, embed, *agents_as_published, moves, published=True)
    slots = QuestionSlots.of(select_succeeded(paths), moves)
    # Calibration by overlap would undo the training with the environment's reward.
    reward = reward_by_overlap if loaded.card.reward == "overlap" else None
    rl_agent = RLAgent(loaded.rl, embed, slots=slots, reward=reward)
    return Guide(paths, embed, rl_agent, MLAgent(loaded.ml, embed, slots=slots), moves)
