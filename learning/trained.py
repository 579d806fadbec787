"""Files of trained parts: arrays, and beside them a card with their origin."""

import hashlib
import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from planweave import BadInput
from planweave.records import writing

EMBEDDINGS = "minilm"
"""The frozen model of sentence vectors for all trained parts."""


class WeightsCard(BaseModel, frozen=True):
    """The card beside the arrays."""

    version: int  # of the features and of the shape of the arrays
    sha256: str = ""
    embeddings: str = EMBEDDINGS
    features: tuple[str, ...]  # the names of the inputs, in order
    seed: int
    date: str
    command: str


AnyCard = TypeVar("AnyCard", bound=WeightsCard)
Arrays = Mapping[str, NDArray[Any]]


def write(path: Path, arrays: Arrays, card: WeightsCard) -> None:
    """Write the arrays as ``.npz`` and the card beside them as ``.json``, with the checksum."""
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    written = card.model_copy(update={"sha256": hashlib.sha256(packed.getvalue()).hexdigest()})
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed.getvalue())
        path.with_suffix(".json").write_text(written.model_dump_json(indent=1) + "\n", "utf-8")


def read(
    path: Path, kind: type[AnyCard], fits: Callable[[AnyCard], bool], *, by: str
) -> tuple[dict[str, NDArray[Any]], AnyCard]:
    """Read the arrays and the card of a file; ``fits`` returns whether they belong to this version.

    ``by`` is the command that makes such a file, for error messages.
    """
    fix = f"Reinstall planweave, or train it again with `{by}`."
    try:
        packed = path.read_bytes()
        card = kind.model_validate_json(path.with_suffix(".json").read_bytes())
    except OSError as error:
        raise BadInput(f"{error.filename} cannot be read ({error.strerror}).", fix=fix) from None
    except ValidationError:
        raise BadInput(f"The card beside {path} is damaged.", fix=fix) from None
    if hashlib.sha256(packed).hexdigest() != card.sha256:
        raise BadInput(f"The file {path} is not the one that its card describes.", fix=fix)
    if not fits(card):
        raise BadInput(f"The file {path} belongs to another version of planweave.", fix=fix)
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}, card
    except (ValueError, OSError, zipfile.BadZipFile):
        raise BadInput(f"The file {path} is damaged.", fix=fix) from None
