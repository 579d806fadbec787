"""A person may edit the state at every checkpoint of a run, as Studio does, and go on."""

from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from scripted import Replies, act, change, decide, keep, plan, register

from planweave.graphs import METHODS
from planweave.memory import Context


async def test_every_checkpoint_can_be_edited(tmp_path: Path) -> None:
    database = tmp_path / "offer.sql"
    database.write_text("CREATE TABLE offer(price REAL); INSERT INTO offer VALUES(7.5);")
    graph = METHODS.get("planrag").compiled(checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    model = register(
        Replies(
            plan=[plan("Look.")],
            action=[act("sql", "SELECT price FROM offer"), act("calculator", "1/0"), act("finish")],
            judge=[change("Look again."), keep()],
            decide=[decide("ash", 1)],
        )
    )
    context = Context(model=model, database=str(database))
    await graph.ainvoke({"question": "What does it cost?"}, thread, context=context)
    states = [state async for state in graph.aget_state_history(thread)]
    assert len(states) > 10
    for state in states[:-2]:  # the first two hold what was asked and no more
        edited = await graph.aupdate_state(state.config, {"plan": ["Do this."]})
        assert (await graph.aget_state(edited)).values["plan"] == ["Do this."]
