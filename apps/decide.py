"""``planweave decide``: one decision question on a user's own database, told as it happens."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from apps.answering import answer
from apps.example import Example
from apps.options import (
    Approve,
    AsJson,
    Database,
    Experience,
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
from planweave import BadInput
from tools import Limits, open_database


def decide(
    question: Annotated[str, typer.Argument(help="The decision question.")] = "",
    *,
    database: Database = "",
    graph: Graph = "",
    rules: Rules = None,
    candidates: Annotated[
        str, typer.Option(help="Query whose first column lists the decisions to choose from.")
    ] = "",
    scenario: Annotated[
        str,
        typer.Option(
            help="Ask a generated question: sourcing, distribution, building or locating."
        ),
    ] = "",
    seed: Annotated[int, typer.Option(help="Which generated question.")] = 1,
    size: Annotated[int, typer.Option(help="About how many rows its database has.", min=10)] = 60,
    as_graph: Annotated[bool, typer.Option(help="Generate it as a graph database.")] = False,
    method: Method = "planrag",
    model: Model = "embedded",
    role_model: RoleModel = None,
    experience: Experience = "",
    plan: PlanFile = None,
    approve: Approve = False,
    replan: Replan = "every_observation",
    max_iterations: MaxIterations = 15,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    max_dollars: MaxDollars = None,
    resume: Resume = "",
    as_json: AsJson = False,
) -> None:
    """Answer a decision question: plan, queries and facts as they come, then the decision."""
    urls = {"database": database or None, "graph": graph or None}
    if resume:
        thread = load_thread(resume, urls)
        if not question:
            answer(thread, None, command="decide", as_json=as_json)
            return
        further = replace(thread, example=None)  # its truth is that of the first question
        answer(further, {"question": question}, command="decide", as_json=as_json)
        return
    method_module(method)
    settings: dict[str, Any] = urls | {"rules": text_of(rules, "rules") if rules else ""}
    example = Example(scenario, seed, size) if scenario else None
    if example:
        settings = example.settings(as_graph=as_graph)
        question = question or example.question().prompt
    elif candidates:
        settings["candidates"] = _candidates(graph or database, candidates)
    settings |= {
        "model": model,
        "models": roles(role_model),
        "experience": experience or None,
        "approve": approve,
        "replan": replan,
        "max_iterations": max_iterations,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
        "max_dollars": max_dollars,
    }
    thread = Thread(id=new_id(), method=method, context=context_of(settings), example=example)
    thread.save()
    start: Input = {"question": question}
    if plan:
        start["predefined_plan"] = text_of(plan, "plan").splitlines()
    answer(thread, start, command="decide", as_json=as_json)


def _candidates(url: str, query: str) -> list[str]:
    result = open_database(url).run(query, Limits(rows=10_000, characters=1_000_000))
    found = [str(row[0]) for row in result.rows if row[0] is not None]
    if not found:
        raise BadInput(
            "The question has no candidates: the query for them returned no value.",
            mend="Check the query given with --candidates.",
        )
    return found
