"""``planweave ask``: a question to documents, to a database, or to both, with cited facts."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from planweave.apps import completion
from planweave.apps.cli.asking import Bounds, Players, Sources, Telling, begin, go_on
from planweave.apps.cli.groups import grouped
from planweave.apps.options import Approve, PlanFile
from planweave.tools.web.engine import KNOWN

EXAMPLES = """\
planweave ask --database sales.csv "Which region brought the most revenue?"

planweave docs add contract.pdf && planweave ask "What notice does the contract ask for?"

planweave ask --database shop.db --rules rules.txt --approve "Which offer is cheapest?"

planweave ask --resume THREAD "And which is the second?"
"""
_DEFAULT = "default"


@dataclass(frozen=True, kw_only=True)
class Texts:
    """What is read: its fields are settings of a run."""

    panel: ClassVar = "What is asked"
    collection: Annotated[
        str,
        typer.Option(
            help="Document collection (`planweave docs`). If unset: default, or none where a "
            "database is named.",
            autocompletion=completion.collections,
        ),
    ] = ""
    evaluations: Annotated[
        int, typer.Option(help="Times that the evaluator may send a plan back (agent_v3).")
    ] = 0
    owner: Annotated[str, typer.Option(help="Whose abbreviations are known.")] = "local"
    web_search: Annotated[
        str, typer.Option(help=f"Search the web instead: {', '.join(KNOWN)}, or module:Class.")
    ] = ""


@grouped()
def ask(
    given: typer.Context,
    question: Annotated[str, typer.Argument(help="The question.")] = "",
    *,
    texts: Texts,
    sources: Sources,
    players: Players,
    plan: PlanFile = None,
    approve: Approve = False,
    bounds: Bounds,
    telling: Telling,
) -> None:
    """Answer a question from documents or a database: plan and facts as they come, then the answer.

    Out of time: exit 3. No answer: exit 6. Withheld by --strict, as it does not follow from the
    facts: exit 7.
    """
    if telling.resume:
        go_on(question, sources, telling, given, command="ask")
        return
    settings = {
        "collection": _collection(texts, sources),
        "web_search": texts.web_search or None,
        **sources.settings(),
        "approve": approve,
        "evaluations": texts.evaluations,
        "owner": texts.owner,
        **bounds.settings(),
    }
    begin(question, settings, players, plan=plan, command="ask", as_json=telling.as_json)


def _collection(texts: Texts, sources: Sources) -> str | None:
    """The collection that is asked: where nothing is named the default one, if there is one."""
    from planweave.tools.documents.store import collections

    if texts.collection or texts.web_search or any(sources.urls().values()):
        return texts.collection or None
    return _DEFAULT if _DEFAULT in collections() else None
