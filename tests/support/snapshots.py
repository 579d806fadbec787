"""Prompts as a file shows them, to be read by people."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage

_FOLDER = Path(__file__).parents[1] / "prompts" / "snapshots"


def compare(name: str, prompts: Mapping[str, Sequence[BaseMessage]]) -> None:
    """The prompts are as in the snapshot of this name; to accept a change, delete that.

    A message that another prompt above has is named by that prompt.
    """
    home: dict[str, str] = {}
    shown = "\n".join(line for title in prompts for line in _shown(title, prompts[title], home))
    snapshot = _FOLDER / f"{name}.txt"
    if not snapshot.exists():
        snapshot.write_text(shown, encoding="utf-8")
        pytest.fail(f"wrote {snapshot.name}: read it and run again")
    assert shown == snapshot.read_text(encoding="utf-8")


def _shown(title: str, messages: Sequence[BaseMessage], home: dict[str, str]) -> Iterator[str]:
    yield f"===== {title} ====="
    for message in messages:
        first = home.setdefault(message.text, title)
        if first == title:
            yield f"--- {message.type} ---\n{message.text}"
        else:
            yield f"--- {message.type}: as in {first} ---"
    yield ""
