"""``planweave terms``: list, confirm or forget abbreviations learned from documents."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from planweave import BadInput
from planweave.apps.options import AsJson
from planweave.apps.plain import json_text, plain
from planweave.apps.threads import has_memory, long_term_memory

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore


EXAMPLES = """\
planweave terms list

planweave terms confirm LCOH
"""

app = typer.Typer(no_args_is_help=True)

Result = TypeVar("Result")
Owner = Annotated[str, typer.Option("--owner", help="User or project.")]
Abbreviations = Annotated[list[str], typer.Argument(help="Abbreviations, such as LCOH.")]


@app.callback()
def terms() -> None:
    """Abbreviations learned from documents; runs only use confirmed ones."""


@app.command("list")
def list_terms(owner: Owner = "local", as_json: AsJson = False) -> None:
    """List the abbreviations, their sources, and whether they are confirmed."""
    from planweave.memory.long_term import abbreviations_of

    terms = _with_store(partial(abbreviations_of, owner=owner)) if has_memory() else {}
    if as_json:
        typer.echo(json_text(terms))
        return
    table = Table("abbreviation", "stands for", "read in", "confirmed", box=None)
    for short, term in terms.items():
        place = f"{term['document']}, p. {term['page']}"
        confirmed = "yes" if term["confirmed"] else "no"
        table.add_row(*map(plain, (short, term["expansion"], place, confirmed)))
    Console().print(table if terms else "Nothing has been learned yet.")


@app.command("confirm")
def confirm_term(abbreviations: Abbreviations, owner: Owner = "local") -> None:
    """Confirm abbreviations: later threads use them."""
    from planweave.memory.long_term import confirm

    _apply_to_each(confirm, owner, abbreviations, "confirmed")


@app.command("forget")
def forget_term(abbreviations: Abbreviations, owner: Owner = "local") -> None:
    """Forget abbreviations."""
    from planweave.memory.long_term import forget

    _apply_to_each(forget, owner, abbreviations, "forgotten")


def _apply_to_each(
    work: "Callable[[BaseStore, str, str], Coroutine[object, object, bool]]",
    owner: str,
    abbreviations: list[str],
    participle: str,
) -> None:
    """Apply ``work`` to each abbreviation in the store."""

    async def each(store: "BaseStore") -> None:
        for short in abbreviations:
            if not await work(store, owner, short):
                raise BadInput(
                    f"The abbreviation {short!r} was never learned.",
                    fix="See `planweave terms list`.",
                )
            typer.echo(f"{short} is {participle}.")

    _with_store(each)


def _with_store(work: "Callable[[BaseStore], Coroutine[object, object, Result]]") -> Result:
    async def run() -> Result:
        async with long_term_memory() as store:
            return await work(store)

    return asyncio.run(run())
