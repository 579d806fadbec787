"""``planweave ask``: a question to documents, and to a database beside them, with cited pages."""

from typing import Annotated

import typer

from apps.answering import answer
from apps.options import (
    Approve,
    AsJson,
    Database,
    Graph,
    MaxCalls,
    MaxDollars,
    MaxIterations,
    MaxSeconds,
    MaxTokens,
    Method,
    Model,
    PlanFile,
    Replan,
    Resume,
    RoleModel,
    Rules,
    context_of,
    roles,
    text_of,
)
from apps.threads import Thread, load_thread, new_id
from graphs import method as method_module
from memory import Input
from tools.web import KNOWN


def ask(
    question: Annotated[str, typer.Argument(help="The question.")] = "",
    *,
    collection: Annotated[
        str, typer.Option(help="Document collection; see `planweave docs`.")
    ] = "default",
    web_search: Annotated[
        str, typer.Option(help=f"Search the web instead: {', '.join(KNOWN)}, or module:Class.")
    ] = "",
    database: Database = "",
    graph: Graph = "",
    rules: Rules = None,
    method: Method = "agent_v3",
    model: Model = "embedded",
    role_model: RoleModel = None,
    plan: PlanFile = None,
    approve: Approve = False,
    evaluations: Annotated[
        int, typer.Option(help="Times that the evaluator may send a plan back (agent_v3).")
    ] = 0,
    pages: Annotated[int, typer.Option(help="Pages that one search returns at most.")] = 4,
    search: Annotated[str, typer.Option(help="fused, dense or bm25.")] = "fused",
    corrective: Annotated[
        bool, typer.Option("--corrective", help="Drop pages that do not bear on the question.")
    ] = False,
    faithfulness: Annotated[
        bool, typer.Option("--faithfulness", help="Measure how far its page supports each fact.")
    ] = False,
    citation_check: Annotated[
        str, typer.Option(help="Check the answer's claims: off, string or model.")
    ] = "string",
    family: Annotated[
        str, typer.Option(help="RAT writes an answer, code, maths, planning or writing.")
    ] = "answer",
    retrievals: Annotated[int, typer.Option(help="Retrievals of RAT, pages of rag.")] = 5,
    owner: Annotated[str, typer.Option(help="Whose abbreviations are known.")] = "local",
    replan: Replan = "every_observation",
    max_iterations: MaxIterations = 15,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    max_dollars: MaxDollars = None,
    resume: Resume = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question from documents: plan, pages and facts as they come, then the answer."""
    urls = {"database": database or None, "graph": graph or None}
    if resume:
        further: Input | None = {"question": question} if question else None
        answer(load_thread(resume, urls), further, command="ask", as_json=as_json)
        return
    method_module(method)
    settings = {
        **urls,
        "collection": collection or None,
        "web_search": web_search or None,
        "rules": text_of(rules, "rules") if rules else "",
        "model": model,
        "models": roles(role_model),
        "approve": approve,
        "evaluations": evaluations,
        "pages": pages,
        "search": search,
        "corrective": corrective,
        "faithfulness": faithfulness,
        "citation_check": citation_check,
        "family": family,
        "retrievals": retrievals,
        "owner": owner,
        "replan": replan,
        "max_iterations": max_iterations,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
        "max_dollars": max_dollars,
    }
    thread = Thread(id=new_id(), method=method, context=context_of(settings))
    thread.save()
    start: Input = {"question": question}
    if plan:
        start["predefined_plan"] = text_of(plan, "plan").splitlines()
    answer(thread, start, command="ask", as_json=as_json)
