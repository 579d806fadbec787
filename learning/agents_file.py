"""Trained agents as a file: their parameters, and a card that says where they come from."""

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from planweave import BadInput
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
EMBEDDINGS = "minilm"
"""The frozen model of sentence vectors that both agents use."""

_FIX = "Reinstall planweave, or train it again with `planweave train instructrag`."


class AgentsCard(BaseModel):
    """What is written beside the parameters.

    Attributes:
        version: Of the states and of the form of the encoders.
        sha256: Of the file of parameters.
        embeddings: The frozen model.
        features: Of a state, in order.
        seed: Of every draw.
        date: Day of the training.
        command: What made it.
        tasks: Paths of each task that it was trained on.
        reward: What it was rewarded by.
        published: Whether they are the paper's, for instructions without slots.
        rewards: Mean reward of the searches of each iteration.
    """

    model_config = ConfigDict(frozen=True)

    version: int = VERSION
    sha256: str = ""
    embeddings: str = EMBEDDINGS
    features: tuple[str, ...] = FEATURES
    seed: int
    date: str
    command: str
    tasks: dict[str, int]
    reward: RewardName = "overlap"
    published: bool = False
    rewards: list[float]


class Loaded(NamedTuple):
    """Parameters of the RL-Agent and of the ML-Agent, and their card."""

    rl: Parameters
    ml: Parameters
    card: AgentsCard


def save(path: Path, rl: Parameters, ml: Parameters, card: AgentsCard) -> None:
    """Write the parameters as ``.npz`` and the card beside them as ``.json``, with the checksum."""
    arrays = {f"rl.{name}": value for name, value in rl.items()}
    arrays |= {f"ml.{name}": np.asarray(value, np.float16) for name, value in ml.items()}
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed.getvalue())
    written = card.model_copy(update={"sha256": hashlib.sha256(packed.getvalue()).hexdigest()})
    path.with_suffix(".json").write_text(written.model_dump_json(indent=1) + "\n", "utf-8")


def load_agents(agents: str | Path = SHIPPED) -> Loaded:
    """Read what :func:`save` wrote: the shipped agents, or those of a file.

    Raises:
        BadInput: A file is missing, damaged, or of another version.
    """
    path = SHIPPED_FILE if agents == SHIPPED else Path(agents)
    try:
        packed = path.read_bytes()
        card = AgentsCard.model_validate_json(path.with_suffix(".json").read_bytes())
    except OSError as error:
        raise BadInput(f"{error.filename} cannot be read ({error.strerror}).", fix=_FIX) from None
    except ValidationError:
        raise BadInput(f"The card beside {path} is damaged.", fix=_FIX) from None
    if hashlib.sha256(packed).hexdigest() != card.sha256:
        raise BadInput(f"The agents {path} are not those that their card describes.", fix=_FIX)
    if (card.version, card.features) != (VERSION, PRINTED if card.published else FEATURES):
        raise BadInput(f"The agents {path} belong to another version of planweave.", fix=_FIX)
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            named = {name: np.asarray(arrays[name], np.float32) for name in arrays.files}
    except (ValueError, OSError, zipfile.BadZipFile):
        raise BadInput(f"The agents {path} are damaged.", fix=_FIX) from None
    return Loaded(_of("rl.", named), _of("ml.", named), card)


def _of(prefix: str, named: dict[str, Floats]) -> dict[str, Floats]:
    return {n.removeprefix(prefix): v for n, v in named.items() if n.startswith(prefix)}
