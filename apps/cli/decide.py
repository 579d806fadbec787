"""``planweave decide``: answer a decision question about a database."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from planweave import BadInput
from planweave.apps.cli.asking import (
    ModelOptions,
    RunLimitOptions,
    SourceOptions,
    ThreadOptions,
    resume_thread,
    start_thread,
)
from planweave.apps.cli.groups import grouped
from planweave.apps.options import Approve, PlanFile
from planweave.tools import Limits, open_database

if TYPE_CHECKING:
    from planweave.apps.example import Example

EXAMPLES = """\
planweave decide --scenario sourcing

planweave decide --database shop.db --rules rules.txt "Which supplier should we drop?"

planweave decide --database shop.db --candidates "SELECT name FROM supplier" "Which one?"
"""

_MAX_CANDIDATES = 10_000


@dataclass(frozen=True, kw_only=True)
class GeneratedOptions:
    """A generated question with its database."""

    scenario: Annotated[
        str,
        typer.Option(
            help="Ask a generated question: sourcing, distribution, building or locating."
        ),
    ] = ""
    seed: Annotated[int, typer.Option(help="Seed of the generated question.")] = 1
    size: Annotated[
        int, typer.Option(help="Approximate number of rows of its database.", min=10)
    ] = 60
    as_graph: Annotated[
        bool, typer.Option("--as-graph", help="Generate it as a graph database.")
    ] = False

    def example(self) -> "Example | None":
        """The question; None if no scenario is named."""
        from planweave.apps.example import Example

        return Example(self.scenario, self.seed, self.size) if self.scenario else None


@grouped()
def decide(
    given: typer.Context,
    question: Annotated[str, typer.Argument(help="The decision question.")] = "",
    *,
    sources: SourceOptions,
    candidates: Annotated[
        str, typer.Option(help="Query whose first column lists the candidates for the decision.")
    ] = "",
    generated: GeneratedOptions,
    models: ModelOptions,
    experience: Annotated[
        str,
        typer.Option(
            help="Earlier successful paths to use as plan: shipped, own (of `planweave "
            "experience`), or a file."
        ),
    ] = "",
    plan: PlanFile = None,
    approve: Approve = False,
    limits: RunLimitOptions,
    thread_options: ThreadOptions,
) -> None:
    """Answer a decision question; show plan, queries, facts and decision.

    Exit code 3: out of time. 6: no decision. 7: --strict withheld a decision that does not follow
    from the facts.
    """
    if (thread := thread_options.resume) is not None:
        resume_thread(given, thread_options, thread, question, sources)
        return
    settings, example = sources.settings(), generated.example()
    if example:
        own, settings = settings, example.settings(as_graph=generated.as_graph)
        if any(own.values()) or candidates:
            raise BadInput(
                "--scenario brings its own database, rules and candidates.",
                fix="Leave out yours, or --scenario.",
            )
    elif candidates:
        settings["candidates"] = _query_candidates(sources.graph or sources.database, candidates)
    settings |= {"experience": experience or None, "approve": approve, **limits.settings(given)}
    start_thread(
        given,
        thread_options,
        question or (example.question().prompt if example else ""),
        settings,
        models,
        plan=plan,
        example=None if question else example,
    )


def _query_candidates(url: str, query: str) -> list[str]:
    result = open_database(url).run(query, Limits(rows=_MAX_CANDIDATES, characters=1_000_000))
    if result.truncated:
        raise BadInput(
            f"The query returned over {_MAX_CANDIDATES:,} candidates, which are too many.",
            fix="Add a condition to the query given with --candidates.",
        )
    found = [str(row[0]) for row in result.rows if row[0] is not None]
    if not found:
        raise BadInput(
            "The query for candidates returned no value.",
            fix="Check the query given with --candidates.",
        )
    return found
