"""``planweave bench shop``: decisions on small ordinary databases."""

from typing import Annotated

import platformdirs
import typer

from planweave.apps.cli.bench.common import Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.suites import shop as shop_suite
from planweave.benchmarks.suites.query_writing.solver import SOLVERS
from planweave.graphs import METHODS, of_family
from planweave.simulators.shops import DOMAINS


@grouped()
def shop(
    *,
    shops: Annotated[
        str, typer.Option("--shop", help="Names of shops with commas between, or all.")
    ] = "all",
    method: Annotated[
        str,
        typer.Option(
            help="Methods with commas between, or all deciders. A mode of text2sql, such as plain, "
            "decides by one query."
        ),
    ] = "all",
    model: Model = "embedded",
    limit: Annotated[
        int | None, typer.Option(help="Decisions at most; all if unset.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which data, names and truths are generated.")] = 1,
    running: Running,
) -> None:
    """Eight small databases with their rules: right, vouched for, undecided; can be resumed."""
    context = running.context(model=model)
    known = dict.fromkeys((*METHODS.names(), *SOLVERS.names()))
    deciders = list(of_family("decide"))
    methods = deciders if method == "all" else listed(method, [*known], "method", every="")
    names = listed(shops, DOMAINS, "shop", every="all")
    every = shop_suite.choose(names, seed, None)
    chosen = every[:limit]
    samples = shop_suite.samples(
        chosen,
        methods=methods,
        settings=context,
        folder=platformdirs.user_cache_path("planweave") / "bench",
    )
    counts = {"questions": len(every), "chosen": len(chosen)}
    running.measure(shop_suite.NAME, samples, context, {**counts, "limit": limit, "seed": seed})
