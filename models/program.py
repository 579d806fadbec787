"""Python programs in replies: in a block of code, since models write code worse inside JSON."""

import ast
import re
from typing import TypeVar

from pydantic import BaseModel

from models.extract import StructuredFailure

_BLOCK = re.compile(r"```[ \t]*[\w+-]*[ \t]*\n(.*?)(?:\n[ \t]*(```)|\Z)", re.DOTALL)
_LONGEST = 16_000


class Program(BaseModel):
    """A reply that is a program.

    Attributes:
        code: Python that can be parsed; nothing more is known of it.
    """

    code: str


P = TypeVar("P", bound=Program)


def read_program(text: str, schema: type[P], *, cut: bool = False) -> P | StructuredFailure:
    """Find the program in ``text``: the longest block of code that is one, or the whole text.

    Args:
        text: A model's reply.
        schema: What is made of it.
        cut: The reply ended because it reached its ceiling of tokens; what lost its end is none.

    Returns:
        The program, or the reason why there is none. Never raises for any text.
    """
    blocks = [block[1].strip("\n") for block in _BLOCK.finditer(text) if block[2] or not cut] or (
        [] if cut else [text.strip()]
    )
    problems = {block: _problem(block) for block in blocks}
    if sound := [block for block, problem in problems.items() if not problem]:
        return schema(code=max(sound, key=len))
    reply = text[:1000]
    if not text.strip():
        return StructuredFailure(kind="empty", message="The reply was empty.")
    if cut:
        message = "The reply was cut off before its end; it must be shorter."
        return StructuredFailure(kind="cut_off", message=message, reply=reply)
    problem = problems[max(blocks, key=len)] if "```" in text else "it has no block of code"
    message = f"The reply holds no Python program: {problem}."
    return StructuredFailure(kind="no_program", message=message, reply=reply)


def _problem(code: str) -> str:
    """Why a text is no program; empty if it is one."""
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
    """Whether a statement may as well be plain words: "Four", "Answer: four"."""
    if isinstance(part, ast.AnnAssign):
        return part.value is None
    said = part.value if isinstance(part, ast.Expr) else None
    return isinstance(said, ast.Name) or (
        isinstance(said, ast.Constant) and not isinstance(said.value, int | float)
    )
