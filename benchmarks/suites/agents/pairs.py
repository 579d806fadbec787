"""Pairs of answers judged by people: RAGChecker's meta-evaluation (Ru et al. 2024)."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from planweave import BadInput
from planweave.records import read_records

_FIX = (
    "Name a .jsonl or .jsonl.gz file with dataset, instance_id, query, gt_answer, response_a, "
    "response_b and human on each line."
)


class Human(BaseModel):
    """One annotator on the correctness of a pair, from -2 (a is much better) to 2 (b is)."""

    correctness: Annotated[int, Field(ge=-2, le=2)]


class Pair(BaseModel):
    """Two answers to a query, its reference, and what people think of them."""

    instance_id: int
    dataset: str
    query: str
    gt_answer: Annotated[str, Field(pattern=r"\S")]
    response_a: str
    response_b: str
    human: Annotated[list[Human], Field(min_length=1)]

    @property
    def name(self) -> str:
        """What result files call the pair."""
        return f"{self.dataset.replace('/', '-')}-{self.instance_id}"


def load_pairs(path: Path) -> list[Pair]:
    """Read a file of judged pairs."""
    found = read_records(path, Pair, fix=_FIX)
    if not found:
        raise BadInput(f"{path} holds no pair.", fix=_FIX)
    return found
