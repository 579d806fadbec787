"""The command of each suite, made from its class."""

from collections.abc import Callable
from typing import Any

from planweave.apps.cli.bench.common import Running
from planweave.apps.cli.groups import grouped
from planweave.apps.plain import print_line
from planweave.benchmarks.core.suite import suite


def command_of(name: str) -> Callable[..., None]:
    """The command ``planweave bench NAME``: it runs what the suite selects."""
    measured = suite(name)

    def command(*, options: Any, running: Running) -> None:
        context = running.context(**options.settings())
        with running.console.status("reading …") as status:
            selected = measured.select(options, context, status.update)
        for note in selected.notes:
            print_line(running.console, note)
        running.measure(name, selected.samples, selected.context or context, selected.about)

    command.__annotations__["options"] = measured.Options
    summary = (measured.__doc__ or name).partition("\n")[0]
    command.__doc__ = f"{summary} Can be resumed."
    return grouped()(command)
