"""Safe output of texts from models and databases on a terminal."""

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from planweave.tools.result_text import one_line

if TYPE_CHECKING:
    from rich.console import Console

_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")


def plain(text: str) -> str:
    """``text`` with its line breaks, and every other control character as an escape.

    A terminal executes some of them: a row of a database could clear the screen or hide a step of
    a plan that a person has to approve.
    """
    return "\n".join(one_line(line) for line in text.expandtabs(4).split("\n"))


def counted(number: int, thing: str) -> str:
    """A number with its noun: ``1 page``, ``2 pages``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def print_line(console: "Console", text: str) -> None:
    """Print a line without wrapping it: it may contain a file name."""
    console.print(plain(text), markup=False, soft_wrap=True)


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """``value`` as JSON that any program can read and any terminal can show.

    NaN and infinity become null. Characters that are invisible or change the text direction are
    written as escapes.
    """
    text = json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return text if text.isascii() else _BEYOND_ASCII.sub(_escape, text)


def _finite(value: Any) -> Any:
    match value:
        case float():
            return value if isfinite(value) else None
        case Mapping():
            return {name: _finite(item) for name, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
    return value


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]
