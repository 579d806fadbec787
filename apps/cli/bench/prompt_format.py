"""``planweave bench prompt-format``: which way of writing a prompt is followed?"""

from typing import Annotated

import typer

from planweave import BadInput
from planweave.apps.cli.bench.common import Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.suites.prompt_format import suite as formats
from planweave.benchmarks.suites.prompt_format.checks import CHECKS


@grouped()
def prompt_format(
    *,
    style: Annotated[
        str,
        typer.Option("--format", help="plain, system, roles, prefix with commas between; or all."),
    ] = "all",
    temperature: Annotated[
        str, typer.Option(help="Temperatures with commas between, from 0 to 2.")
    ] = "0,1",
    trials: Annotated[int, typer.Option(help="Trials of each.", min=1, max=100)] = 2,
    model: Model = "embedded",
    running: Running,
) -> None:
    """Fourteen instructions in four formats: followed, repeated, how long; can be resumed."""
    context = running.context(model=model)
    chosen = listed(style, formats.FORMATS, "format", every="all")
    if style == "all" and not formats.continues(model):
        chosen.remove("prefix")
        running.console.print(
            f"The format prefix is left out: {model} is not known to go on from the beginning of "
            "a reply. Where it does, name the formats with --format.",
            markup=False,
        )
    samples = formats.samples(
        formats=chosen, temperatures=_temperatures(temperature), trials=trials, settings=context
    )
    data = {"questions": len(CHECKS), "chosen": len(CHECKS), "trials": trials}
    running.measure(formats.NAME, samples, context, data)


def _temperatures(text: str) -> list[float]:
    """The temperatures in a list with commas.

    Raises:
        BadInput: One is no number from 0 to 2.
    """
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 <= value <= 2 for value in found):
        raise BadInput(f"{text!r} are no temperatures.", fix="Write 0,1 or others from 0 to 2.")
    return list(dict.fromkeys(found))
