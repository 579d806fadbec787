"""Options of the suites' commands."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import JsonValue

from planweave import BadInput

Name = TypeVar("Name", bound=str)
Model = Annotated[str, typer.Option("--model", help="Chat model, such as openai:gpt-4o.")]
Limit = Annotated[int | None, typer.Option(help="Questions at most; all if unset.", min=1)]
Embeddings = Annotated[str, typer.Option(help="Embedding model; none: words alone.")]


@dataclass(frozen=True, kw_only=True)
class SuiteModel:
    """Options of a suite that has its own questions."""

    model: Model = "embedded"

    def settings(self) -> dict[str, str | int]:
        """Settings of the runs; the user's settings override them."""
        return {"model": self.model}


@dataclass(frozen=True, kw_only=True)
class Options(SuiteModel):
    """Options of a suite that asks methods the questions of a data set."""

    data: Annotated[Path | None, typer.Option(help="File or folder of its data.")] = None
    method: Annotated[str, typer.Option(help="Comma-separated methods, or all.")]
    limit: Limit = None
    seed: Annotated[int, typer.Option(help="Seed that draws the questions of --limit.")] = 1

    def about(self, **more: JsonValue) -> dict[str, JsonValue]:
        """These options and ``more``, as result files show them."""
        name = self.data.name if self.data else ""
        return {"name": name, "limit": self.limit, "seed": self.seed, **more}


del Options.data  # a suite that declares it again without a default would inherit None


def listed(text: str, known: Sequence[Name], what: str, *, every: str = "all") -> list[Name]:
    """The names in a comma-separated list, each once, in the order of ``known``."""
    if every and text == every:
        return list(known)
    names = dict.fromkeys(name.strip() for name in text.split(","))
    if unknown := [name for name in names if name not in known]:
        raise _unknown_name(what, unknown[0], [every, *known] if every else known)
    return [name for name in known if name in names]


def one_of(text: str, known: Sequence[Name], what: str) -> Name:
    """The known name that equals ``text``."""
    for name in known:
        if name == text:
            return name
    raise _unknown_name(what, text, known)


def _unknown_name(what: str, name: str, choices: Sequence[str]) -> BadInput:
    return BadInput(f"There is no {what} {name!r}.", fix=f"Choose from: {', '.join(choices)}.")


def published_folder(name: str) -> Path:
    """The folder of that name in the published data at ``PLANWEAVE_PUBLISHED``."""
    fix = "Name the data with --data, or set PLANWEAVE_PUBLISHED."
    published = os.environ.get("PLANWEAVE_PUBLISHED")
    if not published:
        raise BadInput(f"The data of {name} were not given.", fix=fix)
    folder = Path(published) / name
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}.", fix=fix)
    return folder
