"""Replies in plain text: inside JSON they get worse, or end too soon."""

import ast
import re
from abc import abstractmethod
from typing import ClassVar, Self

from pydantic import BaseModel

from planweave.models.extract import StructuredFailure
from planweave.texts import shorten

_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_BLOCK = re.compile(r"```[ \t]*[\w+-]*[ \t]*\n(.*?)(?:\n[ \t]*(```)|\Z)", re.DOTALL)
_LONGEST = 16_000  # characters of a program
_SENTENCES = re.compile(r".*[.!?][\"')\]\u201d\u2019]*(?=\s|\Z)", re.DOTALL)


class Plain(BaseModel):
    """A reply that is not JSON."""

    asked: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, text: str, *, cut: bool = False) -> Self | StructuredFailure:
        """Read the value from a model's reply; never raises for any text."""


class InPrompt(BaseModel):
    """An object whose form is in its prompt, so the first request does not add the schema."""


class Text(Plain):
    """A text; inside JSON, small models end it at the first quotation mark."""

    asked: ClassVar[str] = "common/text_reply"
    text: str

    @classmethod
    def read(cls, text: str, *, cut: bool = False) -> Self | StructuredFailure:
        """See :class:`Plain`; from a text that was cut off, read its whole sentences."""
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
    """The failure for a reply that was cut off."""
    message = "The reply was cut off before its end; it must be shorter."
    return StructuredFailure(kind="cut_off", message=message, reply=shorten(text, 1000))


class Program(Plain):
    """A program in a block of code; inside JSON, models write worse programs."""

    asked: ClassVar[str] = "common/program_reply"
    code: str

    @classmethod
    def read(cls, text: str, *, cut: bool = False) -> Self | StructuredFailure:
        """See :class:`Plain`: reads the longest block that is a program, or the whole text.

        A block that was cut off does not count.
        """
        blocks = [b[1].strip("\n") for b in _BLOCK.finditer(text) if b[2] or not cut] or (
            [] if cut else [text.strip()]
        )
        problems = {block: _find_problem(block) for block in blocks}
        if sound := [block for block, problem in problems.items() if not problem]:
            return cls(code=max(sound, key=len))
        if not text.strip():
            return StructuredFailure(kind="empty", message="The reply was empty.")
        if cut:
            return cut_off(text)
        problem = problems[max(blocks, key=len)] if "```" in text else "it has no block of code"
        message = f"The reply holds no Python program: {problem}."
        return StructuredFailure(kind="no_program", message=message, reply=shorten(text, 1000))


def _find_problem(code: str) -> str:
    """The reason why a text is not a program; empty if it is one."""
    if len(code) > _LONGEST:
        return "it is too long"
    try:
        body = ast.parse(code).body
    except SyntaxError as error:
        return f"{error.msg} in line {error.lineno} of the block"
    except (ValueError, RecursionError, MemoryError):
        return "the block cannot be read"
    return "the block does nothing" if all(map(_is_prose, body)) else ""


def _is_prose(part: ast.stmt) -> bool:
    """Whether a statement may be plain words, such as "Four" or "Answer: four"."""
    if isinstance(part, ast.AnnAssign):
        return part.value is None
    stated = part.value if isinstance(part, ast.Expr) else None
    return isinstance(stated, ast.Name) or (
        isinstance(stated, ast.Constant) and not isinstance(stated.value, int | float)
    )
