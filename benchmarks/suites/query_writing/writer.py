"""planweave's own query writer: its most likely query, or the one that most candidates support."""

import asyncio

from langgraph.runtime import Runtime

from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.suites.query_writing.solver import QueryTask, Solved, register_solver
from planweave.memory import Context
from planweave.nodes.deciding.query import find_doubts, write_with_model
from planweave.tools.connect import open_database


@register_solver("greedy")
async def greedy(task: QueryTask, context: Context, on_call: OnCall) -> Solved:
    """The most likely query, corrected and repaired."""
    return await _solve(task, context, on_call, candidates=1)


@register_solver("guided")
async def guided(task: QueryTask, context: Context, on_call: OnCall) -> Solved:
    """The query whose result most candidates return."""
    return await _solve(task, context, on_call, candidates=context.query_candidates)


async def _solve(task: QueryTask, context: Context, on_call: OnCall, *, candidates: int) -> Solved:
    # With a seed, a run can be repeated.
    seeded = context.model_copy(update={"seed": context.seed or 0})
    database = await asyncio.to_thread(open_database, task.database)
    written = await write_with_model(
        task.need,
        database,
        Runtime(context=seeded),
        on_call,
        schema_limit=context.schema_characters * 2,
        candidates=candidates,
        least_answerable=context.chance_needed(database.kind),
    )
    if written.refused:
        return Solved(query=None, refused=True, trace={"problem": written.best.problem})
    doubts = await asyncio.to_thread(find_doubts, written, database, task.need.question)
    return Solved(
        query=written.best.query,
        confidence=written.agreement,
        doubts=tuple(doubts),
        trace={
            "changes": list(written.best.changes),
            "candidates": [
                {"query": one.query, "problem": one.problem, "vote": one.vote}
                for one in written.candidates
            ],
        },
    )
