"""What the tests of this folder record: how many attacks of a class, and how many succeeded."""

from typing import NamedTuple, Protocol


class Tried(NamedTuple):
    """Some attacks of one class."""

    kind: str
    number: int
    failed: int


class RecordTried(Protocol):
    """The fixture ``record_tried``."""

    def __call__(self, kind: str, number: int = 1, failed: int = 0) -> None:
        """Count attacks of a class; ``failed`` of them were not held off."""
