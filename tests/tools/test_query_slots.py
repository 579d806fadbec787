"""Slots go round among owners, whatever one of them asks for."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from time import sleep

import pytest

from planweave.tools.database import QueryTimeout
from planweave.tools.slots import Slots


def test_an_owner_gets_at_most_its_share() -> None:
    slots = Slots(most=3, share=2)
    with ExitStack() as held:
        for owner in ("mallory", "mallory", "alice"):
            held.enter_context(slots.take(owner, 0.1))
        with pytest.raises(QueryTimeout), slots.take("bob", 0.01):
            pass
        with pytest.raises(QueryTimeout), slots.take("mallory", 0.01):
            pass
    with slots.take("bob", 0.01), slots.take("mallory", 0.01):
        pass
    assert not slots._served
    assert not slots._busy


def test_all_owners_share_the_slots() -> None:
    slots = Slots(most=4, share=4)
    with ExitStack() as held:
        for number in range(4):
            held.enter_context(slots.take(f"name {number}", 0.1))
        with pytest.raises(QueryTimeout), slots.take("name 4", 0.01):
            pass


def test_owners_with_few_requests_go_first() -> None:
    slots, order, first = Slots(most=1, share=1), list[str](), Event()

    def ask(owner: str) -> None:
        with slots.take(owner, 10):
            order.append(owner)
            first.wait(10)

    with ThreadPoolExecutor(8) as pool:
        for number, owner in enumerate(["mallory"] * 6 + ["alice"], start=1):
            pool.submit(ask, owner)
            while len(slots._waiting) + slots._busy.total() < number:
                sleep(0.001)
        first.set()
    assert order == ["mallory", "alice", *["mallory"] * 5]
