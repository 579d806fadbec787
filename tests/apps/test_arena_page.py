"""The page of the arena in a real browser: blind, by keys and by mouse, to the last vote."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import complaints, new_page
from playwright.sync_api import Browser, expect
from records import record
from waiting import wait_until

from planweave.apps.cli.arena import page as arena_page
from planweave.benchmarks.arena.votes import Ballot, matches
from planweave.benchmarks.core.record import Record, Score

pytestmark = pytest.mark.server

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
METHODS = ("rat-skip", "cot-rag", "rag-5")


def written(method: str) -> Record:
    text = f"{HOSTILE} Text {METHODS.index(method)}."
    score = Score(value=1, answer=text, explanation="", details={"asked": f"Write. {HOSTILE}"})
    return record("history-1", method, 1.0, score=score, suite="writing", database="")


@pytest.fixture
def ballot(tmp_path: Path) -> Iterator[Ballot]:
    todo = matches([written(method) for method in METHODS], 1)
    made = Ballot(todo, tmp_path / "votes", "me", lambda said: None)
    yield made
    made.close()


@pytest.fixture
def address(ballot: Ballot) -> Iterator[str]:
    said: list[str] = []
    thread = threading.Thread(target=arena_page.serve, args=(ballot, 0, said.append))
    thread.start()
    wait_until(lambda: said)
    yield said[0].split()[2]
    thread.join(60)
    assert not thread.is_alive()


def test_a_person_votes_to_the_end(browser: Browser, ballot: Ballot, address: str) -> None:
    page = new_page(browser, viewport={"width": 390, "height": 800})
    heard = complaints(page)
    page.on("dialog", lambda dialog: heard.append(f"a script says {dialog.message}"))
    page.goto(address)
    progress = page.get_by_role("status")
    expect(progress).to_have_text("Pair 1 of 3")
    expect(page.get_by_role("article", name="Text A")).to_contain_text(HOSTILE)
    expect(page.get_by_role("heading", name="The task")).to_be_focused()
    assert page.locator("article img, article script, section img").count() == 0
    assert not any(method in page.content() for method in METHODS)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("b")
    expect(progress).to_have_text("Pair 2 of 3")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_label("The keys A, T, N and B vote").uncheck()
    page.keyboard.press("a")
    page.get_by_role("button", name="Both are bad").click()
    expect(progress).to_have_text("Pair 3 of 3")
    page.get_by_role("button", name="A is better").focus()
    page.keyboard.press("Enter")
    expect(progress).to_contain_text("Every pair is decided (3)")
    expect(page.get_by_role("group")).to_be_hidden()
    assert not any(method in page.content() for method in METHODS)
    assert [vote.verdict for vote in ballot.counted()] == ["b", "both_bad", "a"]
    page.context.close()
    assert heard == []
