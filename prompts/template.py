"""Loads prompts and fills them, checking every placeholder both ways.

A file holds the prompts of one family, each below a line ``----- name -----``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planweave import PlanweaveError

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_HEAD = re.compile(r"^----- (\w+) -----$", re.MULTILINE)
_FOLDER = Path(__file__).parent


class PromptError(PlanweaveError):
    """A prompt file is missing, or was filled with the wrong placeholders."""


@dataclass(frozen=True)
class Template:
    """One prompt: text with ``{{placeholders}}``."""

    name: str
    text: str

    @property
    def placeholders(self) -> frozenset[str]:
        """Names that :meth:`fill` needs, all of them and no others."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    def fill(self, **values: str) -> str:
        """Put the values in; a value that itself contains ``{{…}}`` is left as it is."""
        if wrong := self.placeholders.symmetric_difference(values):
            raise PromptError(
                f"Prompt {self.name!r} and its values disagree on: {', '.join(sorted(wrong))}.",
                fix=f"It has the placeholders: {', '.join(sorted(self.placeholders)) or 'none'}.",
            )
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.text)


def sections(path: Path) -> Mapping[str, str]:
    """The texts of a file by their names, in its order."""
    _, *parts = _HEAD.split(path.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


def names() -> tuple[str, ...]:
    """All prompts, for example ``planrag/planner``, sorted."""
    files = _FOLDER.glob("*.md")
    return tuple(sorted(f"{path.stem}/{name}" for path in files for name in _family(path.stem)))


@cache
def load(name: str) -> Template:
    """Read a prompt: ``load("planrag/planner")`` is the section ``planner`` of ``planrag.md``."""
    family, _, own = name.partition("/")
    text = _family(family).get(own)
    if text is None:
        raise PromptError(f"There is no prompt {name!r}.", fix=f"Known are: {', '.join(names())}.")
    return Template(name, text)


@cache
def _family(family: str) -> Mapping[str, str]:
    path = _FOLDER / f"{family}.md"
    return sections(path) if path.is_file() else {}
