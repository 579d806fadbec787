"""Trained agents as a file: their parameters, and a card that says where they come from."""

from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from planweave.learning import trained
from planweave.learning.graph_states import FEATURES, PRINTED
from planweave.learning.rl_agent import Parameters
from planweave.learning.vectors import Floats

RewardName: TypeAlias = Literal["overlap", "environment"]
"""By what the agents were trained: overlap with a successful path, or the environment's score."""

SHIPPED, NONE = "shipped", "none"
"""Names of agents beside those of files: those that ship, and none at all."""

AS_PUBLISHED = "as-published"
"""Name of the paper's agents, where agents are trained."""

ITERATIONS = 20
"""Of the meta-training: twice as many bring no more."""

QUESTIONS, OTHERS = 8, 8
"""Of each task in an iteration, and the other questions' paths in the pool of each."""

SHIPPED_FILE = Path(__file__).parent / "artefacts" / "instructrag.npz"
VERSION = 1


class AgentsCard(trained.WeightsCard, frozen=True):
    """What is written beside the parameters."""

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
    """Write the parameters, and the card beside them."""
    arrays = {f"rl.{name}": value for name, value in rl.items()}
    arrays |= {f"ml.{name}": np.asarray(value, np.float16) for name, value in ml.items()}
    trained.write(path, arrays, card)


def load_agents(agents: str | Path = SHIPPED) -> LoadedAgents:
    """Read what :func:`save` wrote: the shipped agents, or those of a file."""

    def fits(card: AgentsCard) -> bool:
        features = PRINTED if card.published else FEATURES
        return (card.version, card.features) == (VERSION, features)

    path = SHIPPED_FILE if agents == SHIPPED else Path(agents)
    arrays, card = trained.read(path, AgentsCard, fits, by="planweave train instructrag")
    named = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
    return LoadedAgents(_of("rl.", named), _of("ml.", named), card)


def _of(prefix: str, named: dict[str, Floats]) -> dict[str, Floats]:
    return {n.removeprefix(prefix): v for n, v in named.items() if n.startswith(prefix)}
