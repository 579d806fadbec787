"""Faithfulness of a fact: how far the page that it comes from supports what it says."""

from langgraph.runtime import Runtime

from planweave.memory import Context, WorkingMemory
from planweave.models import CallRecord
from planweave.nodes.support.rag_metrics import Faithfulness, Judge, faithfulness


async def faithfulness_of(
    statement: str, page_text: str, state: WorkingMemory, runtime: Runtime[Context]
) -> Faithfulness:
    """Measure a fact before it is stored; a value of None is "not measured"."""

    def on_call(call: CallRecord) -> None:
        runtime.stream_writer({"call": call.model_dump(mode="json")})

    judge = await Judge.of(runtime.context, on_call)
    return await faithfulness(statement, page_text, judge, question=state["question"])
