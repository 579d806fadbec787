"""The helper process: an answer that comes just when its time is over."""

from threading import Timer

import pytest

from planweave.tools import process
from planweave.tools.process import Channel, HelperProcess, ProcessEnded


def main() -> None:
    """The helper's side: it answers at once."""
    channel = Channel()
    while True:
        channel.send(channel.receive())


def test_an_answer_in_the_last_moment_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next request would be sent to a process that has been ended, and be blamed."""

    class Last(Timer):
        """Its time is over after the answer, and before it is told so."""

        def cancel(self) -> None:
            self.function(*self.args)
            super().cancel()

    helper = HelperProcess(__name__)
    assert helper.ask({"ask": 1}, 60) == {"ask": 1}
    monkeypatch.setattr(process, "Timer", Last)
    with pytest.raises(ProcessEnded) as ended:
        helper.ask({"ask": 2}, 60)
    assert ended.value.late
