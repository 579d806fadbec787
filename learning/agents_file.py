"""Files of trained agents: their parameters, and a card with their origin."""

from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from planweave import BadInput
from planweave.learning import trained
from planweave.learning.graph_states import FEATURES, PRINTED
from planweave.learning.rl_agent import Parameters
from planweave.learning.vectors import Floats

RewardName: TypeAlias = Literal["overlap", "environment"]
"""The reward of the training: overlap with a successful path, or the environment's score."""

SHIPPED, NONE = "shipped", "none"
"""Names of agents that are not files: the shipped ones, and none."""

AS_PUBLISHED = "as-published"
"""Name of the paper's agents in training."""

ITERATIONS = 20
"""Iterations of the meta-training; twice as many do not help."""

QUESTIONS, OTHERS = 8, 8
"""Questions of a task in an iteration, and paths of other questions in the pool of each."""

SHIPPED_FILE = Path(__file__).parent / "artefacts" / "instructrag.npz"
VERSION = 1


class AgentsCard(trained.WeightsCard, frozen=True):
    """The card beside the parameters."""

    version: int = VERSION
    features: tuple[str, ...] = FEATURES
    tasks: dict[str, int]  # paths of each task that it was trained on
    reward: RewardName = "overlap"
    published: bool = False  # whether they are the paper's, for instructions without slots
    rewards: list[float]  # mean reward of the searches of each iteration


class LoadedAgents(NamedTuple):
    """Parameters of the RL-Agent and of the ML-Agent, and their card."""

    rl: Parameters
    ml: Parameters
    card: AgentsCard


def save(path: Path, rl: Parameters, ml: Parameters, card: AgentsCard) -> None:
    """Write the parameters and their card."""
    arrays = {f"rl.{name}": value for name, value in rl.items()}
    arrays |= {f"ml.{name}": np.asarray(value, np.float16) for name, value in ml.items()}
    trained.write(path, arrays, card)


def load_agents(agents: str | Path = SHIPPED) -> LoadedAgents:
    """Read what :func:`save` wrote: the shipped agents, or those of a file."""

    def fits(card: AgentsCard) -> bool:
        features = PRINTED if card.published else FEATURES
        return (card.version, card.features) == (VERSION, features)

    if agents == AS_PUBLISHED:
        raise BadInput(
            "Only `planweave bench paths` trains the agents as-published itself.",
            fix="Train them with `planweave train instructrag --as-published --out FOLDER`, and "
            "name their file: --agents FOLDER/instructrag.npz.",
        )
    path = SHIPPED_FILE if agents == SHIPPED else Path(agents)
    arrays, card = trained.read(path, AgentsCard, fits, by="planweave train instructrag")
    named = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
    return LoadedAgents(_with_prefix("rl.", named), _with_prefix("ml.", named), card)


def _with_prefix(prefix: str, named: dict[str, Floats]) -> dict[str, Floats]:
    return {n.removeprefix(prefix): v for n, v in named.items() if n.startswith(prefix)}
