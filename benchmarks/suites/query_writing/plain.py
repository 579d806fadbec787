"""The baseline: one call with the database's own schema and the question."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from planweave import prompts
from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.suites.query_writing.solver import QueryTask, Solved, register_solver
from planweave.memory import Context
from planweave.models import achat_model, call
from planweave.nodes.assist.query_writer import Need
from planweave.tools.connect import open_database
from planweave.tools.database import Database, Limits, QueryFailed, QueryRefused, QueryTimeout
from planweave.tools.schema_text import schema_text
from planweave.tools.sql import SqlDatabase

_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_START = re.compile(r"^\s*(SELECT|WITH|MATCH|OPTIONAL MATCH|CALL|UNWIND)\b", re.I | re.M)
_SCHEMA_CHARACTERS = 20_000


@register_solver("plain")
async def plain(task: QueryTask, context: Context, on_call: OnCall) -> Solved:
    """Ask once."""
    database = await asyncio.to_thread(open_database, task.database)
    return Solved(query=await (await _conversation(task.need, database, context, on_call))(""))


@register_solver("plain_repair")
async def plain_repair(task: QueryTask, context: Context, on_call: OnCall) -> Solved:
    """Ask once, and once more with the engine's message if the query fails."""
    database = await asyncio.to_thread(open_database, task.database)
    query_for = await _conversation(task.need, database, context, on_call)
    query = await query_for("")
    problem = await asyncio.to_thread(_find_problem, database, query, context)
    if not problem:
        return Solved(query=query)
    repaired = await query_for(problem)
    return Solved(query=repaired, trace={"first": query, "problem": problem})


async def _conversation(
    need: Need, database: Database, context: Context, on_call: OnCall
) -> Callable[[str], Awaitable[str]]:
    """A function that asks for a query; given a problem, it asks for a repair."""
    model = await achat_model(
        context.model,
        temperature=context.temperature,
        max_tokens=context.reply_tokens,
        seed=context.seed,
    )
    messages: list[BaseMessage] = [
        HumanMessage(await asyncio.to_thread(plain_prompt, need, database))
    ]

    async def query(problem: str) -> str:
        if problem:
            fills = {"problem": problem, "language": database.language}
            messages.append(HumanMessage(prompts.load("query_writing/repair").fill(**fills)))
        reply = await call(model, messages, role="writer")
        on_call(reply.record)
        messages.append(AIMessage(reply.text))
        return query_in(reply.text)

    return query


def plain_prompt(need: Need, database: Database) -> str:
    """The prompt: first the part that is the same for a database, then the question."""
    now = prompts.load("query_writing/now").fill(now=need.now) if need.now else ""
    text = prompts.load("query_writing/plain").fill(
        schema=definitions(database),
        notes=need.background,
        now=now,
        question=need.question,
        instructions=need.instructions,
        language=database.language,
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def definitions(database: Database) -> str:
    """The schema in the database's own words: CREATE statements, or labels and types."""
    if isinstance(database, SqlDatabase):
        return database.definitions()
    return schema_text(database.schema(), max_characters=_SCHEMA_CHARACTERS)


def query_in(reply: str) -> str:
    """The query in a reply: the fenced block, or else the text from the first keyword."""
    fenced = _FENCED.search(reply)
    text = fenced[1] if fenced else reply
    start = _START.search(text)
    if not fenced and start:
        text = text[start.start() :].partition(";")[0]
    return text.strip().rstrip(";").strip()


def _find_problem(database: Database, query: str, context: Context) -> str:
    """Why the query does not run; empty if it does."""
    try:
        database.run(query, Limits(seconds=context.query_seconds, rows=1))
    except (QueryFailed, QueryRefused, QueryTimeout) as error:
        return error.problem
    return ""
