"""A class that tells when somebody has made an object of it."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer


@dataclass
class Trap:
    """Stands for any class that a stranger's checkpoint could name."""

    sprung: ClassVar[list[str]] = []
    word: str = "snap"

    def __post_init__(self) -> None:
        self.sprung.append(self.word)


def assert_makes_no_foreign_objects(
    serializer: SerializerProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a stranger has kept comes back as no object of the stranger's class."""
    monkeypatch.setattr("langgraph.checkpoint.serde._msgpack.STRICT_MSGPACK_ENABLED", False)
    kept = JsonPlusSerializer().dumps_typed(Trap())
    Trap.sprung.clear()
    serializer.loads_typed(kept)
    assert Trap.sprung == []
    assert JsonPlusSerializer().loads_typed(kept) == Trap()  # elsewhere it would have been made
