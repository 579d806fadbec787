"""``--setting NAME=VALUE``: any setting of a run that has no option of its own."""

from collections.abc import Sequence
from typing import Annotated

import typer

from planweave import BadInput

Settings = Annotated[
    list[str] | None,
    typer.Option("--setting", help="Any other setting of a run: max_reply_tokens=1024."),
]


def pairs(settings: Sequence[str]) -> dict[str, str]:
    """What was given as ``--setting NAME=VALUE``."""
    if wrong := [pair for pair in settings if not all(pair.partition("="))]:
        raise BadInput(f"{wrong[0]!r} is no setting.", fix="Write --setting NAME=VALUE.")
    return dict(pair.split("=", 1) for pair in settings)
