"""A decision by one query: the baseline of the methods that plan, retrieve and answer."""

import asyncio

from planweave import prompts
from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.query_writing.solver import SOLVERS, Task
from planweave.benchmarks.suites.query_writing.trial import run
from planweave.memory import Answer, WorkingMemory


async def play_query(sample: Sample, on_call: OnCall) -> WorkingMemory:
    """Have the solver that the sample's method names write a query; its first value decides.

    The rules go to the solver as what is known of the database. Nothing checks the decision.
    """
    context = sample.context
    task = Task(
        question=sample.asked,
        database=context.database or "",
        notes=context.rules,
        instructions=prompts.load("query_writing/decision").fill(),
    )
    solved = await SOLVERS.get(sample.method)(task, context, on_call)
    outcome = await asyncio.to_thread(run, solved, task.database, context)
    first = outcome.rows[0][0] if outcome.rows else None
    decision = None if first is None else str(first)
    return {
        "answer": Answer(
            decision=decision, why=outcome.query or "", facts=[], unknown=outcome.problem
        )
    }
