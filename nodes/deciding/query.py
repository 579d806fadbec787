"""A query on a connected database, as an observation: as chosen, or written with aids."""

import asyncio
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any, Literal

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from planweave.memory import Action, Context, Table, Value, WorkingMemory, add_usage
from planweave.models import CallRecord
from planweave.nodes.assist.asking import writes_queries
from planweave.nodes.assist.query_writer import (
    Candidate,
    Need,
    Written,
    is_query,
    try_query,
    write_query,
)
from planweave.nodes.assist.yes_or_no import YesOrNo
from planweave.nodes.support.progress import report
from planweave.nodes.support.role import Node, chance_for_role, sample_role, usage_of_calls
from planweave.nodes.support.turns import (
    Observation,
    as_seen_by,
    chosen_action,
    repetition,
    take_turn,
    turn_taken,
)
from planweave.tools import (
    Database,
    DatabaseUnavailable,
    Limits,
    QueryFailed,
    QueryRefused,
    QueryResult,
    QueryTimeout,
    open_database,
    result_text,
)
from planweave.tools.result_text import cell_text
from planweave.tools.sql import SqlDatabase

_ROLE = "query_writer"


def query_node(source: Literal["database", "graph"], *, by_model: bool = True) -> Node:
    """Make the node that queries the database which the context names under ``source``.

    With aids (``Context.assist``) a query that fails is corrected, and a need in words becomes a
    query by the query writer, unless nothing is asked ``by_model``. Rows become a fact, an error
    or no rows a problem.
    """

    async def query(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        url = context.database if source == "database" else context.graph
        written = by_model and writes_queries(context)
        in_words = written and not is_query(chosen_action(state)["input"])
        report(runtime, "reading the schema" if in_words else "running the query")
        if written:
            try:
                return await _assisted(state, runtime, url or "")
            except DatabaseUnavailable as error:  # the connection is gone
                problem = str(as_seen_by(context.owner, error))
                return turn_taken(state, [], problem, 0.0, failed=True)
        return await asyncio.to_thread(
            take_turn, state, lambda action: run_query(url, action["input"], context)
        )

    return query


def run_query(url: str | None, query: str, context: Context) -> Observation:
    """Run one read-only query inside the context's limits."""
    try:
        return observation(open_database(url or "").run(query, limits(context)), context)
    except DatabaseUnavailable as error:
        raise as_seen_by(context.owner, error) from error


def limits(context: Context) -> Limits:
    """Bounds of one query."""
    return Limits(
        seconds=context.query_seconds,
        rows=context.query_rows,
        characters=context.observation_characters,
        owner=context.owner,
    )


def observation(result: QueryResult, context: Context) -> Observation:
    """What a result shows, within the context's limits."""
    only_row = result.rows[0] if result.total_rows == 1 else ()
    return Observation(
        text=result_text(result, max_characters=context.observation_characters),
        values={
            column: cell
            for column, cell in zip(result.columns, only_row, strict=False)
            if cell is None or isinstance(cell, str | int | float)
        },
        found=bool(result.rows),
        table=_table(result) if result.rows else None,
    )


def _table(result: QueryResult) -> Table:
    """The rows as data, so that rules can be carried out on them; a list or map is a text."""
    rows: list[list[Value]] = [
        [cell_text(cell) if isinstance(cell, list | dict) else cell for cell in row]
        for row in result.rows
    ]
    return Table(columns=list(result.columns), rows=rows, complete=not result.truncated)


async def _assisted(state: WorkingMemory, runtime: Runtime[Context], url: str) -> WorkingMemory:
    """Carry the action out: a query as it is if it runs, else one by the query writer."""
    started = perf_counter()
    if problem := repetition(state):
        return turn_taken(state, [], problem, perf_counter() - started)
    context, action = runtime.context, chosen_action(state)
    database = await asyncio.to_thread(open_database, url)
    calls: list[CallRecord] = []
    best = await _given(action["input"], state["question"], database, context)
    more: dict[str, Any] = {}
    if best is None or best.result is None:
        written = await _written(state, action, database, runtime, calls)
        best = written.best
        more |= {"agreement": written.agreement, "chance": written.chance}
        if written.ranking:
            more["ranks"] = "highest" if written.ranking.highest else "lowest"
            doubts = await asyncio.to_thread(_doubts, best, state["question"], database, context)
            more["doubts"] = doubts
    seen = [observation(best.result, context)._replace(**more)] if best.result else []
    problem = best.problem or "".join(one.text for one in seen if not one.found)
    turned: WorkingMemory = {**state, "action": {**action, "input": best.query}}
    found = [one for one in seen if one.found]
    update = turn_taken(turned, found, problem, perf_counter() - started, calls=calls)
    return update | {"usage": add_usage(update["usage"], usage_of_calls(calls))}


def _doubts(
    best: Candidate, question: str, database: Database, context: Context
) -> Sequence[str] | None:
    """What a ranking leaves out of the question and the rules."""
    if not isinstance(database, SqlDatabase):
        return None
    return [*database.doubts(best.query, question, context.rules), *best.doubts]


async def _given(
    text: str, question: str, database: Database, context: Context
) -> Candidate | None:
    """The query that was chosen, as it is if it runs, else corrected; None for words."""
    if not is_query(text):
        return None
    try:
        result = await asyncio.to_thread(database.run, text, limits(context))
    except (QueryFailed, QueryRefused, QueryTimeout):
        need = Need(question)
        return await asyncio.to_thread(try_query, text, need, database, limits(context))
    return Candidate(result.query, (), result, "")


async def _written(
    state: WorkingMemory,
    action: Action,
    database: Database,
    runtime: Runtime[Context],
    calls: list[CallRecord],
) -> Written:
    """What the query writer makes of what the action is to find."""
    context = runtime.context

    async def ask(prompt: Sequence[BaseMessage], count: int, extra: float) -> Sequence[str]:
        found = await sample_role(_ROLE, prompt, count, runtime, extra_temperature=extra)
        calls.extend(found.records)
        return found.replies

    async def sure(prompt: Sequence[BaseMessage], *, published: bool, adapter: bool) -> float:
        found = await chance_for_role(_ROLE, prompt, runtime, published=published, adapter=adapter)
        calls.extend(found.records)
        return found.yes

    # A further question says too little by itself to be judged: "And which is the cheapest?"
    is_first = sum(message.type == "human" for message in state["messages"]) < 2
    has_tables = database.kind == "relational"
    yes_or_no = YesOrNo(
        partial(sure, published=True, adapter=has_tables),
        context.chance_needed(database.kind) if is_first else 0.0,
        partial(sure, published=False, adapter=True)
        if has_tables and context.rightness_needed < 1
        else None,
    )
    is_words = not is_query(action["input"])
    need = Need(
        question=action["input"] if is_words else state["question"],
        rules=context.rules,
        instructions="" if is_words else action["thought"],
        options=context.candidates,
    )
    return await write_query(
        need,
        database,
        ask,
        limits(context),
        candidates=context.query_candidates,
        schema_limit=context.schema_characters,
        # A step of a plan speaks of more than the database; the question does not.
        yes_or_no=yes_or_no if need.question == state["question"] else None,
    )
