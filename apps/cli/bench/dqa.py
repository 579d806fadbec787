"""``planweave bench dqa``: Decision QA."""

from pathlib import Path
from typing import Annotated, get_args

import platformdirs
import typer
from rich.console import Console

from planweave.apps.cli.bench.common import Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.apps.plain import plain
from planweave.benchmarks.suites.dqa import analyst  # noqa: F401 - the model analyst:perfect
from planweave.benchmarks.suites.dqa import suite as decision_qa
from planweave.graphs import METHODS, of_family
from planweave.simulators.published import DataSet, load
from planweave.tools.database import Kind


@grouped()
def dqa(
    *,
    data: Annotated[Path, typer.Option(help="Clone or archive in the published layout.")],
    method: Annotated[
        str, typer.Option(help="Methods with commas between, or all deciders.")
    ] = "all",
    database: Annotated[str, typer.Option(help="relational, graph or both.")] = "both",
    model: Model = "embedded",
    scenario: Annotated[
        str, typer.Option(help="Scenarios with commas between; both: all in the data.")
    ] = "both",
    limit: Annotated[
        int | None, typer.Option(help="Questions at most; all if unset.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which questions the limit leaves.")] = 1,
    replan: Annotated[
        str, typer.Option(help="every_observation (as in the paper), or adaptive.")
    ] = "every_observation",
    max_iterations: Annotated[int, typer.Option(help="Actions a question at most.")] = 15,
    running: Running,
) -> None:
    """Decision QA: each question with each method on each kind of database; can be resumed.

    The model analyst:perfect is a script that never errs: what is lost with it is not the model's.
    """
    # The paper's methods ask once for the decision.
    context = running.context(
        model=model, replan=replan, max_iterations=max_iterations, ask_again=False
    )
    known = METHODS.names()
    deciders = list(of_family("decide"))
    methods = deciders if method == "all" else listed(method, known, "method", every="")
    kinds: list[Kind] = listed(database, get_args(Kind), "kind of database", every="both")
    found = load(data)
    _tell_missing(running.console, found)
    chosen = decision_qa.choose(
        [question for question in found.questions if question.database],
        listed(scenario, found.scenarios, "scenario", every="both"),
        limit,
        seed,
    )
    with running.console.status("writing the databases …"):
        samples = decision_qa.samples(
            chosen,
            methods=methods,
            databases=kinds,
            settings=context,
            folder=platformdirs.user_cache_path("planweave") / "bench",
        )
    sample = {"limit": limit, "seed": seed, "chosen": len(chosen)}
    about = {"name": data.name, "questions": len(found.questions), **sample}
    running.measure(decision_qa.NAME, samples, context, about)


def _tell_missing(console: Console, found: DataSet) -> None:
    without = [question.id for question in found.questions if not question.database]
    for sentence in found.missing:
        console.print(plain(sentence), markup=False)
    if without:
        left = f"Left out, for want of a database: {', '.join(without)}."
        console.print(plain(left), markup=False)
