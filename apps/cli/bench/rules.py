"""``planweave bench rules``: problems that are decided by long rules."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import platformdirs
import typer

from planweave import BadInput
from planweave.apps.cli.bench.common import Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.suites import rules as rules_suite
from planweave.benchmarks.suites.agents.collection import collect
from planweave.benchmarks.suites.agents.questions import Document
from planweave.graphs import METHODS

_LEVELS = ("0", "1", "2")


@grouped()
def rules(
    *,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with problems.jsonl and rules_*.txt; see PLANWEAVE_PUBLISHED."),
    ] = None,
    domain: Annotated[str, typer.Option(help="Domains with commas between, or all.")] = "all",
    method: Annotated[
        str,
        typer.Option(
            help="Methods with commas between; whole: the whole rules in one prompt, one call."
        ),
    ] = "whole,react,planrag",
    level: Annotated[str, typer.Option(help="Levels, 0 (easy) to 2, or all.")] = "all",
    model: Model = "embedded",
    limit: Annotated[
        int | None, typer.Option(help="Problems at most; all if unset.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which problems the limit leaves.")] = 1,
    embeddings: Annotated[
        str, typer.Option(help="Embedding model of the collections; none: words alone.")
    ] = "minilm",
    running: Running,
) -> None:
    """Airline fees, income tax, league contracts: rules to find and apply; can be resumed."""
    context = running.context(model=model)
    known = (rules_suite.WHOLE, *METHODS.names())
    methods = listed(method, known, "method", every="")
    domains = listed(domain, rules_suite.DOMAINS, "domain", every="all")
    levels = [int(name) for name in listed(level, _LEVELS, "level", every="all")]
    data = data or _published()
    found = rules_suite.load(data, domains, levels)
    chosen = drawn(found.problems, limit, seed, lambda problem: problem.id)
    is_read = any(name != rules_suite.WHOLE for name in methods)
    books = [found.rules[name] for name in domains if is_read]
    samples = rules_suite.samples(
        chosen,
        methods=methods,
        settings=context,
        rules=found.rules,
        collections=_collected(books, embeddings, running),
    )
    running.measure(
        rules_suite.NAME,
        samples,
        context,
        {
            "name": data.name,
            "questions": len(found.problems),
            "chosen": len(chosen),
            "domains": list(domains),
            "levels": list(levels),
            "limit": limit,
            "seed": seed,
            "embeddings": embeddings,
        },
    )


def _published() -> Path:
    """The problems in the folder of published data."""
    folder = Path(os.environ.get("PLANWEAVE_PUBLISHED", "../shared/data")) / "rulearena"
    if not folder.is_dir():
        raise BadInput(
            f"There is no folder {folder}.",
            fix="Name the problems with --data, or set PLANWEAVE_PUBLISHED.",
        )
    return folder


def _collected(
    books: Sequence[rules_suite.RuleBook], embeddings: str, running: Running
) -> dict[rules_suite.Domain, str]:
    """A collection for the rules of each domain."""
    folder = platformdirs.user_cache_path("planweave") / "bench"
    with running.console.status("reading the rules …"):
        return {
            book.domain: collect(
                [Document(book.path.name, book.path)], folder, embeddings=embeddings
            )
            for book in books
        }
