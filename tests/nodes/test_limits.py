"""Limits of a run: what its nodes may still do."""

from typing import Any

from cases import cases

from planweave.memory import Context
from planweave.nodes.support.limits import OUT_OF_TIME, limit_call_time
from planweave.usage import current_end

LATE = {"role": "drafter", "kind": OUT_OF_TIME, "detail": "The budget of 9 seconds is used up."}
USED = {"drafter": {"calls": 1, "seconds": 8.98}}


@cases(([LATE], False), ([], True))
def test_after_a_call_that_was_cut_off_no_other_is_made(failures: list[Any], asks: bool) -> None:
    """A call is timed a little later than its node: of its time something seems to be left."""
    state: Any = {"failures": failures, "usage": USED}
    with limit_call_time(state, Context(max_seconds=9)):
        end = current_end()
        assert end is not None
        assert (end.left > 0) is asks
        assert end.reason == LATE["detail"]
