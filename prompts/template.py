"""Loads prompt files and fills them, checking every placeholder both ways."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planweave import PlanweaveError

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
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
        """Put the values in; a value that itself contains ``{{…}}`` is left as it is.

        Raises:
            PromptError: A placeholder has no value, or a value has no placeholder.
        """
        if wrong := self.placeholders.symmetric_difference(values):
            raise PromptError(
                f"Prompt {self.name!r} and its values disagree on: {', '.join(sorted(wrong))}.",
                fix=f"It has the placeholders: {', '.join(sorted(self.placeholders)) or 'none'}.",
            )
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.text)


@cache
def load(name: str) -> Template:
    """Read ``prompts/<name>.md``, for example ``load("planrag/planner")``.

    Raises:
        PromptError: There is no such file.
    """
    path = _FOLDER / f"{name}.md"
    if not path.is_file():
        known = sorted(str(p.relative_to(_FOLDER))[:-3] for p in _FOLDER.rglob("*.md"))
        raise PromptError(f"There is no prompt {name!r}.", fix=f"Known are: {', '.join(known)}.")
    return Template(name, path.read_text(encoding="utf-8").strip())
