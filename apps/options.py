"""Options that several commands share, and functions that read their values."""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from planweave import BadInput
from planweave.apps import completion
from planweave.errors import first_problem
from planweave.records import read_text, writing
from planweave.tools.suggest import did_you_mean

if TYPE_CHECKING:
    from planweave.memory import Context

Database = Annotated[
    str,
    typer.Option(
        "--database",
        help="Relational database: URL, SQLite file, .sql script, or a CSV, Excel or Parquet file.",
    ),
]
Graph = Annotated[str, typer.Option("--graph", help="Graph database: bolt:// URL or .cql script.")]


def _trust(is_set: bool) -> bool:
    """Set the environment variable that the connections read."""
    if is_set:
        os.environ["PLANWEAVE_TRUST_ROLE"] = "true"
    return is_set


TrustRole = Annotated[
    bool,
    typer.Option(
        "--trust-role",
        callback=_trust,
        help="Connect even if the database user may write.",
    ),
]
Rules = Annotated[Path | None, typer.Option("--rules", help="File with the business rules.")]
Model = Annotated[
    str,
    typer.Option(
        "--model", help="Chat model, such as openai:gpt-4o.", autocompletion=completion.models
    ),
]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="File with a plan, one step a line.")]
Agents = Annotated[
    str,
    typer.Option(
        "--agents",
        help="Agents that propose and select paths: shipped, none (nearest paths), or a file from "
        "`planweave train instructrag`.",
    ),
]
Approve = Annotated[bool, typer.Option("--approve", help="Stop for approval of the plan.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--setting", help="Another setting of the run, such as max_reply_tokens=1024."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Reading = Annotated[
    Literal["annotation", "printed"],
    typer.Option(
        "--semantics", help="annotation (how the published answers were computed), or printed."
    ),
]


def context_of(settings: dict[str, Any]) -> "Context":
    """Make the context of a run from its settings."""
    from pydantic import ValidationError

    from planweave.memory import Context

    try:
        return Context.model_validate(settings)
    except ValidationError as error:
        if (first := error.errors()[0])["type"] == "extra_forbidden":
            name = str(first["loc"][-1])
            meant = did_you_mean(name, Context.model_fields)
            raise BadInput(
                f"There is no setting {name!r}{meant}", fix="See `planweave settings`."
            ) from None
        name, _, problem = first_problem(error).partition(": ")
        raise BadInput(f"The setting {name} cannot be used: {problem}.") from None


_FIX = "Name another folder: --out."


def output_folder(folder: Path) -> Path:
    """Make a folder for results, and check that it is writable before long work begins."""
    with writing(folder, fix=_FIX):
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    return folder


def writable(folder: Path) -> None:
    """Check that a folder for results can be made and written to, without making it."""
    with writing(folder, fix=_FIX):
        existing = next(one for one in (folder, *folder.absolute().parents) if one.exists())
        TemporaryFile(dir=existing).close()


def resolved(agents: str) -> str:
    """The name of agents, or the full path of their file."""
    return str(Path(agents).resolve()) if Path(agents).suffix else agents


def named(pairs: Sequence[str] | None, option: str, example: str) -> dict[str, str]:
    """The values of a repeated option ``OPTION NAME=VALUE`` by name."""
    if wrong := [pair for pair in pairs or () if not all(pair.partition("="))]:
        raise BadInput(
            f"{wrong[0]!r} is not NAME=VALUE.", fix=f"Write {option} NAME=VALUE, such as {example}."
        )
    return dict(pair.split("=", 1) for pair in pairs or ())


def text_of(path: Path, what: str) -> str:
    """Read a text file that the user names."""
    if not (text := read_text(path, fix=f"Name a text file with the {what}.").strip()):
        raise BadInput(f"The {what} file {path} is empty.", fix=f"Write the {what} into it.")
    return text
