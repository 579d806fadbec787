"""What the tests of this folder record: how many attacks of a class, and how many succeeded."""

from typing import Protocol


class RecordTried(Protocol):
    """The fixture ``record_tried``."""

    def __call__(self, number: int, failed: int, kind: str = "") -> None:
        """Count attacks of a class; ``failed`` of them were not held off."""
