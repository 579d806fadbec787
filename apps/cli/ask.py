"""``planweave ask``: ask a question about documents, a database, or both, with cited facts."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from planweave import BadInput
from planweave.apps import completion
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
from planweave.tools.web.engine import KNOWN

EXAMPLES = """\
planweave ask --database sales.csv "Which region brought the most revenue?"

planweave docs add contract.pdf && planweave ask "What notice does the contract ask for?"

planweave ask --database shop.db --rules rules.txt --approve "Which offer is cheapest?"

planweave ask --resume THREAD "And which is the second?"
"""
_DEFAULT = "default"


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """Options about documents and the web."""

    panel: ClassVar = "Sources"
    collection: Annotated[
        str,
        typer.Option(
            help="Document collection (`planweave docs`). If unset: default, or none if a "
            "database is named.",
            autocompletion=completion.collections,
        ),
    ] = ""
    evaluations: Annotated[
        int, typer.Option(help="How often the evaluator may reject a plan (agent_v3).")
    ] = 0
    owner: Annotated[str, typer.Option(help="Owner of abbreviations and confirmed queries.")] = (
        "local"
    )
    web_search: Annotated[
        str, typer.Option(help=f"Search the web instead: {', '.join(KNOWN)}, or module:Class.")
    ] = ""


@grouped()
def ask(
    given: typer.Context,
    question: Annotated[str, typer.Argument(help="The question.")] = "",
    *,
    texts: TextOptions,
    sources: SourceOptions,
    models: ModelOptions,
    plan: PlanFile = None,
    approve: Approve = False,
    limits: RunLimitOptions,
    thread_options: ThreadOptions,
) -> None:
    """Answer a question from documents or a database; show plan, facts and answer.

    Exit code 3: out of time. 6: no answer. 7: --strict withheld an answer that does not follow from
    the facts.
    """
    if (thread := thread_options.resume) is not None:
        resume_thread(given, thread_options, thread, question, sources)
        return
    settings = {
        "collection": _collection(texts, sources),
        "web_search": texts.web_search or None,
        **sources.settings(),
        "approve": approve,
        "evaluations": texts.evaluations,
        "owner": texts.owner,
        **limits.settings(given),
    }
    start_thread(given, thread_options, question, settings, models, plan=plan)


def _collection(texts: TextOptions, sources: SourceOptions) -> str | None:
    """The collection to search; without any source, the default collection if it exists.

    Raises:
        BadInput: A collection and a web search are named.
    """
    from planweave.tools.documents.store import collections

    if texts.collection and texts.web_search:
        raise BadInput(
            "--collection and --web-search are two sources of pages.", fix="Leave out one of them."
        )
    if texts.collection or texts.web_search or any(sources.urls().values()):
        return texts.collection or None
    return _DEFAULT if _DEFAULT in collections() else None
