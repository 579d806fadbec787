"""Replies that are asked for as they are: inside JSON they come out worse, or end too soon."""

import re
from abc import abstractmethod
from typing import ClassVar, Self

from pydantic import BaseModel

from planweave.models.extract import StructuredFailure
from planweave.texts import shorten

_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_SENTENCES = re.compile(r".*[.!?][\"')\]\u201d\u2019]*(?=\s|\Z)", re.DOTALL)


class Plain(BaseModel):
    """A reply that is no JSON."""

    asked: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, text: str, *, cut: bool = False) -> Self | StructuredFailure:
        """Find what was asked for in a model's reply; never raises for any text."""


class InPrompt(BaseModel):
    """An object whose form its prompt shows: a first request does not write the schema out."""


class Text(Plain):
    """A text; inside JSON small models end it at the first quotation mark."""

    asked: ClassVar[str] = "common/text_reply"
    text: str

    @classmethod
    def read(cls, text: str, *, cut: bool = False) -> Self | StructuredFailure:
        """See :class:`Plain`; of a text that was cut off, its whole sentences."""
        bare = text.strip()
        fenced = _FENCED.fullmatch(bare)
        whole = fenced[1].strip() if fenced else bare
        if cut:
            sentences = _SENTENCES.match(whole)
            whole = sentences[0] if sentences else ""
        if whole:
            return cls(text=whole)
        if not bare:
            return StructuredFailure(kind="empty", message="The reply was empty.")
        return cut_off(text)


def cut_off(text: str) -> StructuredFailure:
    """What is wrong with a reply that lost its end."""
    message = "The reply was cut off before its end; it must be shorter."
    return StructuredFailure(kind="cut_off", message=message, reply=shorten(text, 1000))
