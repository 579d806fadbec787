"""Past successes as guidance for a question: proposed paths, and whole paths that are nearest."""

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
from planweave.learning.overlap import shared
from planweave.learning.paths import TaskPath, read_paths, succeeded
from planweave.learning.queries.slots import places
from planweave.learning.rl_agent import Proposal, RLAgent
from planweave.learning.slots import ASKED, QuestionSlots, can_fill
from planweave.learning.vectors import Embed, Floats, SentenceVectors
from planweave.models import embeddings

THRESHOLD = 0.9
"""Delta of a graph of instructions with slots, which are short and near each other."""

_KEEP = 4
_MORE = 4
_ACTION = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_NUMBERED = re.compile(r"\{\d+\}")


class Guide:
    """What paths that succeeded say to a new question.

    ``rl_agent`` proposes paths from the instruction graph; without it those of the questions
    that are nearest in form are proposed. ``ml_agent`` selects among them; without it the first.
    If ``published``, instructions stay as they are, and the graph has the paper's delta.
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
        self.paths = succeeded(paths)
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
        """Whole paths of the ``k`` questions nearest to ``question``, the nearest first (RAP)."""
        cosines = self._vectors @ self._embed([question])[0]
        return [self.paths[row] for row in np.argsort(-cosines, kind="stable")[:k]]

    def triplets(self, text: str, k: int) -> list[tuple[str, str]]:
        """The ``k`` actions nearest to a text, with what each showed, the nearest first.

        None where the paths keep no observations.
        """
        if not self._seen:
            return []
        cosines = self._seen_vectors @ self._embed([text])[0]
        return [self._seen[row] for row in np.argsort(-cosines, kind="stable")[:k]]

    @cached_property
    def _seen(self) -> list[tuple[str, str]]:
        pairs = (
            pair
            for path in self.paths
            for pair in zip(path.instructions, path.observations, strict=False)
        )
        return [*dict.fromkeys(pair for pair in pairs if pair[1])]

    @cached_property
    def _seen_vectors(self) -> Floats:
        return self._embed([f"{action} {shown}" for action, shown in self._seen])

    @property
    def proposer(self) -> str:
        """Who proposes paths, in words."""
        return "nearest in form" if self._rl_agent is None else "RL-Agent"

    @property
    def selector(self) -> str:
        """Who selects one of them, in words."""
        return "first of the proposed" if self._ml_agent is None else "ML-Agent"

    @cached_property
    def graph(self) -> InstructionGraph:
        """The instruction graph of the paths, with slots."""
        graph = InstructionGraph(self._embed, PUBLISHED if self._published else THRESHOLD)
        graph.insert_all(self._forms)
        return graph

    def propose(self, question: str, k: int) -> list[Proposal]:
        """At most ``k`` different paths for a question, the likeliest first (InstructRAG).

        A path is not proposed if it wants names of which the question has none.
        """
        names = len(self.slots.names(question))
        if self._rl_agent is None:
            return self._nearest_in_form(question, k, names)
        found: list[Proposal] = []
        for count in (k, _MORE * k):  # more are asked for only where some of the first do not fit
            proposed = self._rl_agent.propose(self.graph, question, count)
            found = [one for one in proposed if can_fill(one.instructions, names)][:k]
            if len(found) == k or len(proposed) < count:
                break
        return found

    def select(self, question: str, proposals: Sequence[Proposal]) -> int:
        """The place of the path that suits the question best, of at least one."""
        return self._ml_agent.select(question, proposals) if self._ml_agent else 0

    def form(self, path: TaskPath) -> tuple[str, ...]:
        """The instructions of a path, with slots."""
        return self.slots.path(path).instructions

    def adapted(self, instructions: Sequence[str], question: str) -> tuple[str, ...]:
        """Instructions with the names of a question in their slots.

        A number for which the question has no name is dropped from an argument in brackets; one
        that is then empty asks for what the question asks.
        """
        names = enumerate(self.slots.names(question), start=1)
        values = {f"{{{number}}}": name for number, name in names}
        return tuple(_filled(text, values) for text in instructions)

    def shown(self, proposal: Proposal, question: str) -> tuple[str, ...] | None:
        """A path as a model is shown it, with nothing in it that belongs to other questions."""
        if any(map(places, proposal.instructions)):
            return None  # environments have no database that would fill the slots of a query
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


def _filled(instruction: str, values: Mapping[str, str]) -> str:
    known = _NUMBERED.sub(lambda slot: values.get(slot[0], slot[0]), instruction)
    if (action := _ACTION.fullmatch(known)) is None:
        return known
    return f"{action[1]}[{' '.join(_NUMBERED.sub('', action[2]).split()) or ASKED}]"


def open_guide(
    file: str | None, owner: str, agents: str = NONE, moves: frozenset[str] = frozenset()
) -> Guide:
    """The guide of a file of paths, or of an owner's experience; made once for the same paths."""
    if file is not None:
        return guide_of(tuple(read_paths(pathlib.Path(file))), agents, moves)
    kept = experience_of(owner).entries()
    return guide_of(tuple(entry.path for entry in kept), agents, moves)


@lru_cache(maxsize=_KEEP)
def guide_of(
    paths: tuple[TaskPath, ...], agents: str = NONE, moves: frozenset[str] = frozenset()
) -> Guide:
    """The guide of those of these paths that succeeded; made once.

    ``agents`` is ``shipped``, a file that ``planweave train instructrag`` wrote, or ``none``: then
    the paths of questions that are nearest in form are proposed, and the first is selected. Agents
    see texts through the embedding model that they were trained with. ``moves`` only move between
    the environment's pages.
    """
    if agents == NONE:
        return Guide(paths, SentenceVectors(embeddings()), moves=moves)
    loaded = load_agents(agents)
    embed = SentenceVectors(embeddings(loaded.card.embeddings))
    if loaded.card.published:
        agents_as_published = RLAgent(loaded.rl, embed, printed=True), MLAgent(loaded.ml, embed)
        return Guide(paths, embed, *agents_as_published, moves, published=True)
    slots = QuestionSlots.of(succeeded(paths), moves)
    # Calibration by the overlap would undo what the environment taught the policy.
    reward = shared if loaded.card.reward == "overlap" else None
    rl_agent = RLAgent(loaded.rl, embed, slots=slots, reward=reward)
    return Guide(paths, embed, rl_agent, MLAgent(loaded.ml, embed, slots=slots), moves)
