"""Queries a connected database: runs the chosen query, or writes one with aids."""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Literal

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from planweave.memory import Action, Context, Found, Reading, Table, Value, WorkingMemory, add_usage
from planweave.models import CallRecord
from planweave.nodes.assist.answerable import Refusal
from planweave.nodes.assist.asking import writes_queries
from planweave.nodes.assist.confirmed import answers_again, find_confirmed, same_words
from planweave.nodes.assist.query_writer import (
    Candidate,
    Need,
    Written,
    is_query,
    try_query,
    write_query,
)
from planweave.nodes.assist.row_answer import list_rows
from planweave.nodes.support.progress import report
from planweave.nodes.support.role import Node, chance_for_role, sample_role, usage_of_calls
from planweave.nodes.support.turns import (
    as_seen_by,
    chosen_action,
    is_follow_up,
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
_MAX_OTHER_ROWS = 3


def query_node(source: Literal["database", "graph"], *, by_model: bool = True) -> Node:
    """Make the node that queries the database which the context names under ``source``.

    With aids (``Context.assist``), a failing query is corrected, and the query writer turns words
    into a query; without ``by_model`` it does not. Rows become a fact; an error or an empty result
    becomes a problem.
    """

    async def query(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        url = context.database if source == "database" else context.graph
        written = by_model and writes_queries(context)
        in_words = written and not is_query(chosen_action(state)["input"])
        report(runtime, "reading the schema" if in_words else "running the query")
        if written:
            try:
                return await _run_or_write(state, runtime, url or "")
            except DatabaseUnavailable as error:  # the connection is lost
                problem = str(as_seen_by(context.owner, error))
                return turn_taken(state, [], problem, 0.0, failed=True)
        return await asyncio.to_thread(
            take_turn, state, lambda action: run_query(url, action["input"], context)
        )

    return query


def run_query(url: str | None, query: str, context: Context) -> Found | str:
    """Run one read-only query within the limits of the context."""
    try:
        return _describe(open_database(url or "").run(query, limits_of(context)), context)
    except DatabaseUnavailable as error:
        raise as_seen_by(context.owner, error) from error


def limits_of(context: Context) -> Limits:
    """The limits of one query."""
    return Limits(
        seconds=context.query_seconds,
        rows=context.query_rows,
        characters=context.observation_characters,
        owner=context.owner,
    )


def _describe(result: QueryResult, context: Context) -> Found | str:
    """The rows of a result within the limits of the context, or why there are none."""
    text = result_text(result, max_characters=context.observation_characters)
    if not result.rows:
        return text
    only_row = result.rows[0] if result.total_rows == 1 else ()
    values = {
        column: cell
        for column, cell in zip(result.columns, only_row, strict=False)
        if cell is None or isinstance(cell, str | int | float)
    }
    return Found(text=text, values=values, quote=None, table=_table(result))


def _table(result: QueryResult) -> Table:
    """The rows as data for checks by rules; lists and maps become texts."""
    rows: list[list[Value]] = [
        [cell_text(cell) if isinstance(cell, list | dict) else cell for cell in row]
        for row in result.rows
    ]
    return Table(columns=list(result.columns), rows=rows, complete=not result.truncated)


async def _run_or_write(state: WorkingMemory, runtime: Runtime[Context], url: str) -> WorkingMemory:
    """Run the chosen query, or else the one confirmed for this question, or else write one."""
    started = perf_counter()
    if problem := repetition(state):
        return turn_taken(state, [], problem, perf_counter() - started)
    context, action = runtime.context, chosen_action(state)
    database = await asyncio.to_thread(open_database, url)
    calls: list[CallRecord] = []
    best = await _try_chosen(action["input"], state["question"], database, context)
    written: Written | None = None
    is_confirmed = False
    if best is None or best.result is None:
        need = await asyncio.to_thread(_find_need, state, action, database, context)
        best = await asyncio.to_thread(_run_confirmed, need, state["question"], database, context)
        is_confirmed = best is not None
        if best is None:
            written = await _write(need, state, database, runtime, calls)
            best = written.best
    described = _describe(best.result, context) if best.result else best.problem
    found, problem = ([], described) if isinstance(described, str) else ([described], "")
    if found and is_confirmed:
        found[0]["confirmed"] = True
    if found and written:
        await asyncio.to_thread(
            _add_details, found[0], written, state["question"], database, context
        )
    turned: WorkingMemory = {**state, "action": {**action, "input": best.query}}
    seconds, corrected = perf_counter() - started, best.changes
    update = turn_taken(turned, found, problem, seconds, calls=calls, corrected=corrected)
    return update | {"usage": add_usage(update["usage"], usage_of_calls(calls))}


def _add_details(
    found: Found, written: Written, question: str, database: Database, context: Context
) -> None:
    """Add how the candidates compare, the doubts about the query, and a ranking's direction."""
    if written.agreement is not None:
        found["agreement"] = written.agreement
    if other := _describe_other(written):
        found["other"] = other
    if written.ranking:
        found["ranks"] = "highest" if written.ranking.highest else "lowest"
    doubts = find_doubts(written, database, question, context.rules)
    if doubts or (written.ranking and isinstance(database, SqlDatabase)):
        found["doubts"] = doubts


def find_doubts(written: Written, database: Database, question: str, rules: str = "") -> list[str]:
    """What speaks against the query that was chosen, by schema and data; empty if nothing does."""
    query, doubts = written.best.query, [*written.best.doubts]
    if not isinstance(database, SqlDatabase):
        return doubts
    if written.ranking:
        return [*database.doubts(query, question, rules), *doubts]
    return [*doubts, *database.odd_joins(query, question)]


def _describe_other(written: Written) -> Reading | None:
    """What the candidate with another result returned; of a ranking only the first option."""
    if written.other is None or written.other.result is None:
        return None
    table = _table(written.other.result)
    rows = table["rows"][:1] if written.ranking else table["rows"]
    names = [] if any(isinstance(cell, str) for cell in next(iter(rows), [])) else table["columns"]
    text = list_rows(rows, names, _MAX_OTHER_ROWS) if rows else "no rows"
    return Reading(text=text, query=written.other.query)


async def _try_chosen(
    text: str, question: str, database: Database, context: Context
) -> Candidate | None:
    """Run the query that was chosen; correct it if it fails. None if the text is no query."""
    if not is_query(text):
        return None
    try:
        result = await asyncio.to_thread(database.run, text, limits_of(context))
    except (QueryFailed, QueryRefused, QueryTimeout):
        need = Need(question)
        return await asyncio.to_thread(try_query, text, need, database, limits_of(context))
    return Candidate(result.query, (), result, "")


def _find_need(state: WorkingMemory, action: Action, database: Database, context: Context) -> Need:
    """The input of the action as a need; the question if the input is a query."""
    in_words = not is_query(action["input"])
    question = action["input"] if in_words else state["question"]
    # Under rules, or after another question, the same words may mean something else.
    most = 0 if context.rules.strip() or is_follow_up(state) else context.confirmed_queries
    return Need(
        question=question,
        rules=context.rules,
        instructions="" if in_words else action["thought"],
        options=context.candidates,
        confirmed=find_confirmed(context.owner, question, database, most),
    )


def _run_confirmed(
    need: Need, question: str, database: Database, context: Context
) -> Candidate | None:
    """Run the query that the owner confirmed for the same question; None without one.

    A step of a plan, or the words of a selector, may mean something else than the question.
    """
    if same_words(need.question) != same_words(question):
        return None
    for one in need.confirmed:
        if answers_again(one, question):
            try:
                result = database.run(one.query, limits_of(context))
            except (QueryFailed, QueryRefused, QueryTimeout):
                return None
            return Candidate(result.query, (), result, "")
    return None


async def _write(
    need: Need,
    state: WorkingMemory,
    database: Database,
    runtime: Runtime[Context],
    calls: list[CallRecord],
) -> Written:
    context = runtime.context
    least: float | None = context.chance_needed(database.kind)
    if need.question != state["question"]:  # a step of a plan may need more than the database
        least = None
    elif any(same_words(one.question) == same_words(need.question) for one in need.confirmed):
        least = None  # its owner knows the answer
    elif is_follow_up(state):
        least = 0.0  # "And which is the cheapest?" is too short to be judged by itself
    return await write_with_model(
        need,
        database,
        runtime,
        calls.append,
        schema_limit=context.schema_characters,
        least_answerable=least,
    )


async def write_with_model(
    need: Need,
    database: Database,
    runtime: Runtime[Context],
    on_call: Callable[[CallRecord], None],
    *,
    schema_limit: int,
    candidates: int | None = None,
    least_answerable: float | None,
) -> Written:
    """Write a query with the model of the role ``query_writer`` (:func:`write_query`).

    Args:
        need: What the query must find.
        database: The database.
        runtime: Provides the settings.
        on_call: Receives each call of the model.
        schema_limit: Most characters of the schema in the prompt.
        candidates: Number of candidate queries; by default, that of the settings.
        least_answerable: A question is refused if an answer is less likely; None to refuse none,
            not even one with a name that nothing has.
    """
    context = runtime.context

    async def ask(prompt: Sequence[BaseMessage], count: int, extra: float) -> Sequence[str]:
        found = await sample_role(_ROLE, prompt, count, runtime, extra_temperature=extra)
        for record in found.records:
            on_call(record)
        return found.replies

    async def chance(prompt: Sequence[BaseMessage]) -> float:
        if not context.judges_questions:
            return 0.5  # only the words of the question count
        found = await chance_for_role(_ROLE, prompt, runtime)
        for record in found.records:
            on_call(record)
        return found.yes

    return await write_query(
        need,
        database,
        ask,
        limits_of(context),
        candidates=candidates or context.query_candidates,
        schema_limit=schema_limit,
        refusal=None if least_answerable is None else Refusal(chance, least_answerable),
    )
