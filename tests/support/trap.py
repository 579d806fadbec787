"""A class that tells when somebody has made an object of it."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass
class Trap:
    """Stands for any class that a stranger's checkpoint could name."""

    sprung: ClassVar[list[str]] = []
    word: str = "snap"

    def __post_init__(self) -> None:
        self.sprung.append(self.word)
