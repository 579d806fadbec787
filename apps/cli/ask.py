"""``planweave ask``: a question to documents, to a database, or to both, with cited facts."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from planweave import BadInput
from planweave.apps import completion
from planweave.apps.cli.asking import Bounds, Players, Sources, Telling, begin, go_on
from planweave.apps.cli.groups import grouped
from planweave.apps.options import Approve, PlanFile, context_of
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
            help="Document collection (`planweave docs`). If unset: default, but a small model "
            "that is given a database reads none.",
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
    of_run = {**players.settings(), **bounds.settings()}
    small = not players.method and context_of(of_run).assists("selector")
    settings = {
        "collection": _collection(texts, sources, small=small),
        "web_search": texts.web_search or None,
        **sources.settings(),
        "approve": approve,
        "evaluations": texts.evaluations,
        "owner": texts.owner,
        **bounds.settings(),
    }
    begin(question, settings, players, plan=plan, command="ask", as_json=telling.as_json)


def _collection(texts: Texts, sources: Sources, *, small: bool) -> str | None:
    """The collection that is asked: if none is named, the default one, where there is one.

    A small model that is given a database reads no documents besides: it answers best from one
    query.
    """
    from planweave.tools.documents.store import collections

    if texts.collection or texts.web_search:
        return texts.collection or None
    connected = any(sources.urls().values())
    if _DEFAULT in collections() and not (small and connected):
        return _DEFAULT
    if connected:
        return None
    raise BadInput(
        "There is nothing to ask: no database is named, and no document was added.",
        fix="Name a file with --database FILE, or add documents: planweave docs add FILE",
    )
