"""A person may edit the state at every checkpoint of a run, as Studio does, and continue."""

from pathlib import Path

from scripted import Replies, Thread, act, change, decide, keep, plan


async def test_every_checkpoint_can_be_edited(tmp_path: Path) -> None:
    database = tmp_path / "offer.sql"
    database.write_text("CREATE TABLE offer(price REAL); INSERT INTO offer VALUES(7.5);")
    script = Replies(
        plan=[plan("Look.")],
        action=[act("sql", "SELECT price FROM offer"), act("calculator", "1/0"), act("finish")],
        judge=[change("Look again."), keep()],
        decide=[decide("ash", 1)],
    )
    thread = Thread("planrag", script, database=str(database))
    await thread.go("What does it cost?")
    graph = thread.graph
    states = [state async for state in graph.aget_state_history(thread.config)]
    assert len(states) > 10
    for state in states[:-2]:  # the first two contain only the question
        edited = await graph.aupdate_state(state.config, {"plan": ["Do this."]})
        assert (await graph.aget_state(edited)).values["plan"] == ["Do this."]
