"""A chat model that answers free text from the messages it is sent; its calls are kept."""

from collections.abc import Callable, Sequence
from itertools import count

from langchain_core.messages import BaseMessage

from planweave.models import ModelRequest, register_provider
from planweave.testing import ScriptedModel

Speaker = Callable[[Sequence[BaseMessage]], str]

_speakers: dict[str, Speaker] = {}
_numbers = count(1)


def _make(request: ModelRequest) -> ScriptedModel:
    return ScriptedModel(_speakers[request.model], max_tokens=request.max_tokens)


def speaks(speaker: Speaker) -> str:
    """Make ``speaker`` a model; returns its name."""
    name = str(next(_numbers))
    _speakers[name] = speaker
    return f"speaking:{name}"


register_provider("speaking", _make)
