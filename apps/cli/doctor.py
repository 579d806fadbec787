"""``planweave doctor``: check versions, models and databases, and suggest fixes."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from planweave import PlanweaveError, __version__
from planweave.apps.options import AsJson, TrustRole
from planweave.apps.threads import threads_folder
from planweave.tools import RoleTooPowerful, open_database

_REQUIRED = ("langgraph", "langchain", "langchain-openai", "sqlalchemy", "neo4j", "kglite")
_OPTIONAL = {
    "xllamacpp": "embedded",
    "onnxruntime": "documents",
    "duckdb": "files",
    "psycopg": "postgresql",
    "pymysql": "mysql",
    "matplotlib": "bench",
    "openskill": "arena",
    "langgraph-api": "studio",
}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One finding; if not ``ok``, ``fix`` is what to do, and ``remedy`` the SQL for it."""

    what: str
    ok: bool
    found: str
    fix: str = ""
    required: bool = True
    remedy: str = ""


def doctor(
    *,
    model: Annotated[list[str] | None, typer.Option(help="Test this model; repeatable.")] = None,
    database: Annotated[
        list[str] | None, typer.Option(help="Test this database; repeatable.")
    ] = None,
    trust_role: TrustRole = False,
    as_json: AsJson = False,
) -> None:
    """Check what a run needs. Exit code 1: something required is missing."""
    del trust_role  # its callback has stored it
    checks = [
        *_versions(default=not model),
        *_weights(default=not model),
        _run_check("folder of runs", threads_folder),
        *(_run_check(f"model {name}", partial(_test_model, name)) for name in model or ()),
        *(
            _run_check(f"database {number}", partial(_test_database, url))
            for number, url in enumerate(database or (), start=1)
        ),
    ]
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        _show(checks)
    if any(check.required and not check.ok for check in checks):
        raise typer.Exit(1)


def _versions(*, default: bool) -> Iterator[Check]:
    """Check packages; those of the default model are required unless another is tested."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield Check(what="planweave", ok=True, found=f"{__version__} on Python {python}")
    for package in _REQUIRED:
        yield _package(package, "missing", "Run `make decide` again.", required=True)
    for package, extra in _OPTIONAL.items():
        fix = f"If you need it: pip install 'planweave[{extra}]'."
        yield _package(package, "absent", fix, required=default and extra == "embedded")


def _package(package: str, absent: str, fix: str, *, required: bool) -> Check:
    try:
        return Check(what=package, ok=True, found=version(package), required=required)
    except PackageNotFoundError:
        return Check(what=package, ok=False, found=absent, fix=fix, required=required)


def _weights(*, default: bool) -> Iterator[Check]:
    """Check weights; those of the default model are required unless another is tested."""
    from planweave.models.weights import DEFAULT, EMBEDDINGS, KNOWN, find, resolve

    probes: dict[str, Callable[[], Path]] = {
        f"weights embedded:{name}": partial(resolve, name) for name in KNOWN
    }
    for name, files in EMBEDDINGS.items():
        probes |= {f"weights {name}, {Path(one.file).name}": partial(find, one) for one in files}
    for what, probe in probes.items():
        required = default and what == f"weights embedded:{DEFAULT}"
        yield replace(_run_check(what, probe), required=required)


def _run_check(what: str, probe: Callable[[], object]) -> Check:
    try:
        return Check(what=what, ok=True, found=str(probe()))
    except PlanweaveError as error:
        remedy = error.remedy if isinstance(error, RoleTooPowerful) else ""
        return Check(what=what, ok=False, found=error.problem, fix=error.fix, remedy=remedy)


def _test_model(name: str) -> str:
    from langchain_core.messages import HumanMessage
    from pydantic import create_model

    from planweave.models import ask, chat_model
    from planweave.prompts import load

    chat = chat_model(name, max_tokens=32)
    question = HumanMessage(load("common/ready").fill())
    shape = create_model("Word", word=str)
    reply = asyncio.run(ask(chat, [question], shape, role="doctor"))
    call = reply.calls[-1]
    form = "structured reply" if reply.value else "no structured reply"
    return f"answers in {call.seconds:.1f} s, {form}"


def _test_database(url: str) -> str:
    database = open_database(url)
    return f"{database.language}, {len(database.schema().entities)} tables or labels and types"


def _show(checks: list[Check]) -> None:
    table = Table(box=None)
    for title in ("", "what", "found", "fix"):
        table.add_column(title, overflow="fold")
    for check in checks:
        mark = "[green]✔[/]" if check.ok else "[red]✘[/]" if check.required else "[yellow]·[/]"
        table.add_row(mark, *map(Text, (check.what, check.found, check.fix)))  # without markup
    Console(highlight=False).print(table)
    for remedy in dict.fromkeys(check.remedy for check in checks if check.remedy):
        typer.echo(f"\nTo make a read-only user:\n\n{remedy}")
