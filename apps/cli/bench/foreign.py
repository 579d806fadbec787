"""Commands of the suites that installed packages bring."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from planweave import BadInput
from planweave.apps.cli.bench.common import Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.core.suite import Runnable, suite
from planweave.graphs import METHODS


def command_of(name: str) -> Callable[..., None]:
    """The command ``planweave bench NAME`` of a suite that says which samples it has."""

    @grouped()
    def measured(
        *,
        data: Annotated[Path | None, typer.Option(help="File or folder of its data.")] = None,
        method: Annotated[str, typer.Option(help="Methods with commas between, or all.")],
        model: Model = "embedded",
        limit: Annotated[int | None, typer.Option(help="Questions at most.", min=1)] = None,
        seed: Annotated[int, typer.Option(help="Which sample of the questions.")] = 1,
        running: Running,
    ) -> None:
        found = suite(name)
        if not isinstance(found, Runnable):
            raise BadInput(f"The suite {name!r} has no samples.", fix="Give it `samples()`.")
        methods = listed(method, METHODS.names(), "method", every="all")
        context = running.context(model=model)
        samples = found.samples(methods=methods, context=context, data=data, limit=limit, seed=seed)
        running.measure(name, samples, context, {"limit": limit, "seed": seed})

    measured.__doc__ = f"The suite {name}, which an installed package brings; can be resumed."
    return measured
