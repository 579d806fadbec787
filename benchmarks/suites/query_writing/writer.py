"""planweave's own query writer: its most likely query, or the one that most candidates support."""

import asyncio
from collections.abc import Sequence
from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.suites.query_writing.solver import QueryTask, Solved, register_solver
from planweave.memory import Context
from planweave.models import achat_model, chance_of_yes, several_replies
from planweave.nodes.assist.query_writer import Need, write_query
from planweave.nodes.assist.yes_or_no import YesOrNo
from planweave.tools.connect import open_database
from planweave.tools.database import Limits


@register_solver("greedy")
async def greedy(task: QueryTask, context: Context, on_call: OnCall) -> Solved:
    """The most likely query, corrected and repaired."""
    return await _solve(task, context, on_call, candidates=1)


@register_solver("guided")
async def guided(task: QueryTask, context: Context, on_call: OnCall) -> Solved:
    """The query whose result most candidates return."""
    return await _solve(task, context, on_call, candidates=context.query_candidates)


async def _solve(task: QueryTask, context: Context, on_call: OnCall, *, candidates: int) -> Solved:
    async def model(extra_temperature: float = 0.0, *, adapter: bool = False) -> BaseChatModel:
        return await achat_model(
            context.model,
            temperature=context.temperature + extra_temperature,
            max_tokens=context.reply_tokens,
            seed=context.seed or 0,
            adapter=adapter,
        )

    async def ask(
        prompt: Sequence[BaseMessage], count: int, extra_temperature: float
    ) -> Sequence[str]:
        found = await several_replies(
            await model(extra_temperature), prompt, count, role="query_writer"
        )
        for record in found.records:
            on_call(record)
        return found.replies

    async def chance(prompt: Sequence[BaseMessage], *, published: bool, adapter: bool) -> float:
        asked, adapted = await model(adapter=not published), await model(adapter=adapter)
        found = await chance_of_yes(
            asked, prompt, adapted=adapted if published else None, role="query_writer"
        )
        for record in found.records:
            on_call(record)
        return found.yes

    need = Need(
        question=task.question, instructions=task.instructions, background=task.notes, now=task.now
    )
    database = await asyncio.to_thread(open_database, task.database)
    has_tables = database.kind == "relational"
    written = await write_query(
        need,
        database,
        ask,
        Limits(seconds=context.query_seconds, rows=context.query_rows),
        candidates=candidates,
        schema_limit=context.schema_characters * 2,
        yes_or_no=YesOrNo(
            partial(chance, published=True, adapter=has_tables),
            context.chance_needed(database.kind),
            partial(chance, published=False, adapter=True)
            if has_tables and context.rightness_needed < 1
            else None,
        ),
    )
    if written.refused:
        return Solved(query=None, refused=True, trace={"problem": written.best.problem})
    return Solved(
        query=written.best.query,
        confidence=written.agreement,
        chance=written.chance,
        trace={
            "changes": list(written.best.changes),
            "candidates": [
                {"query": one.query, "problem": one.problem, "vote": one.vote}
                for one in written.candidates
            ],
        },
    )
