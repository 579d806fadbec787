"""Slots go round among owners, whatever one of them asks for."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from time import sleep

import pytest

from planweave.tools.database import QueryTimeout
from planweave.tools.slots import Slots


def test_an_owner_has_a_share_at_most() -> None:
    slots = Slots(most=3, share=2)
    with ExitStack() as held:
        for owner in ("mallory", "mallory", "alice"):
            held.enter_context(slots.taken(owner, 0.1))
        with pytest.raises(QueryTimeout), slots.taken("bob", 0.01):
            pass
        with pytest.raises(QueryTimeout), slots.taken("mallory", 0.01):
            pass
    with slots.taken("bob", 0.01), slots.taken("mallory", 0.01):
        pass
    assert not slots._served
    assert not slots._busy


def test_all_owners_together_have_no_more_than_there_is() -> None:
    slots = Slots(most=4, share=4)
    with ExitStack() as held:
        for number in range(4):
            held.enter_context(slots.taken(f"name {number}", 0.1))
        with pytest.raises(QueryTimeout), slots.taken("name 4", 0.01):
            pass


def test_who_asks_much_waits_behind_who_asks_little() -> None:
    slots, order, first = Slots(most=1, share=1), list[str](), Event()

    def ask(owner: str) -> None:
        with slots.taken(owner, 10):
            order.append(owner)
            first.wait(10)

    with ThreadPoolExecutor(8) as pool:
        for number, owner in enumerate(["mallory"] * 6 + ["alice"], start=1):
            pool.submit(ask, owner)
            while len(slots._waiting) + slots._busy.total() < number:
                sleep(0.001)
        first.set()
    assert order == ["mallory", "alice", *["mallory"] * 5]
