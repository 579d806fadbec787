"""Known paths in a prompt of RAP."""

from planweave.memory import Context, InstructionPath, WorkingMemory
from planweave.nodes.acting.trajectories import guide_by_examples


def _known(steps: int) -> WorkingMemory:
    path = InstructionPath(
        instructions=[f"look at plane {step}" for step in range(steps)],
        origins=["Which plane is steeper?"],
        observations=["a plane with a wood block, " * 10] * steps,
    )
    return {"question": "Which slope is steeper?", "candidate_paths": [path], "path": None}


def test_examples_of_hundreds_of_steps_leave_room_for_the_task() -> None:
    for steps, is_shown in ((20, True), (120, True), (500, False), (2000, False)):
        text = guide_by_examples(_known(steps), (), Context())
        assert ("showed: a plane" in text) is is_shown
        assert "look at plane 0" in text
        assert len(text) < 21_000
