"""``planweave decide``: one decision question on a user's own database, shown as it happens."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from planweave import BadInput
from planweave.apps.cli.asking import Bounds, Players, Sources, Telling, begin, go_on
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

_MOST = 10_000  # candidates


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A question that is generated, with its database."""

    scenario: Annotated[
        str,
        typer.Option(
            help="Ask a generated question: sourcing, distribution, building or locating."
        ),
    ] = ""
    seed: Annotated[int, typer.Option(help="Which generated question.")] = 1
    size: Annotated[int, typer.Option(help="About how many rows its database has.", min=10)] = 60
    as_graph: Annotated[
        bool, typer.Option("--as-graph", help="Generate it as a graph database.")
    ] = False

    def example(self) -> "Example | None":
        """The question, if a scenario is named."""
        from planweave.apps.example import Example

        return Example(self.scenario, self.seed, self.size) if self.scenario else None


@grouped()
def decide(
    given: typer.Context,
    question: Annotated[str, typer.Argument(help="The decision question.")] = "",
    *,
    sources: Sources,
    candidates: Annotated[
        str, typer.Option(help="Query whose first column lists the decisions to choose from.")
    ] = "",
    generated: Generated,
    players: Players,
    experience: Annotated[
        str,
        typer.Option(
            help="Paths that decided before, used as plan: shipped, own (of `planweave "
            "experience`), or a file."
        ),
    ] = "",
    plan: PlanFile = None,
    approve: Approve = False,
    bounds: Bounds,
    telling: Telling,
) -> None:
    """Answer a decision question: plan, queries and facts as they come, then the decision.

    Out of time: exit 3. No decision: exit 6. Withheld by --strict, as it does not follow from the
    facts: exit 7.
    """
    if telling.resume:
        go_on(question, sources, telling, given, command="decide")
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
        settings["candidates"] = _candidates(sources.graph or sources.database, candidates)
    settings |= {"experience": experience or None, "approve": approve, **bounds.settings()}
    begin(
        question or (example.question().prompt if example else ""),
        settings,
        players,
        plan=plan,
        command="decide",
        as_json=telling.as_json,
        example=None if question else example,  # the simulator knows the truth about its own alone
    )


def _candidates(url: str, query: str) -> list[str]:
    result = open_database(url).run(query, Limits(rows=_MOST, characters=1_000_000))
    if result.truncated:
        raise BadInput(
            f"The question has too many candidates: the query for them returned over {_MOST:,}.",
            fix="Add a condition to the query given with --candidates.",
        )
    found = [str(row[0]) for row in result.rows if row[0] is not None]
    if not found:
        raise BadInput(
            "The question has no candidates: the query for them returned no value.",
            fix="Check the query given with --candidates.",
        )
    return found
