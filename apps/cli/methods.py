"""``planweave methods``: what there is to choose from."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from planweave.graphs import METHODS


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the methods."""
    described = {name: METHODS.get(name).description for name in METHODS.names()}
    if as_json:
        typer.echo(json.dumps(described, indent=2))
        return
    table = Table("method", "what it does", box=None)
    for name, text in described.items():
        table.add_row(name, text)
    Console().print(table)
