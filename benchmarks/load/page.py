"""How soon a person sees something: the page's first useful pixel, and the answer's first token.

Both are measured in turn with something bare, so that their ratio hardly depends on the machine:
the page beside an empty page of the same server in the same browser, the first token on the page
beside the same run in a loop of this process.
"""

import json
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from planweave import BadInput
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.load.measure import METHOD, Sides
from planweave.graphs import METHODS
from planweave.graphs.support.events import TokenEvent
from planweave.graphs.support.running import events
from planweave.memory import Context

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
_PATIENCE = 60_000  # milliseconds

What = Literal["first useful pixel", "first token"]


class Seen(BaseModel):
    """One look: milliseconds until something is seen, and until the bare side has it."""

    what: What
    page_ms: float
    bare_ms: float


async def looks(sides: Sides, rounds: int) -> AsyncIterator[Seen]:
    """Open the page and ask it a question, so often; the first round is not measured."""
    async with _browser() as browser:
        for number in range(rounds + 1):
            context = await browser.new_context(base_url=sides.served.url)
            page = await context.new_page()
            page.set_default_timeout(_PATIENCE)
            await page.add_init_script(_settings(sides))
            seen = [await _pixel(page), await _token(page, sides)]
            await context.close()
            for one in seen if number else ():
                yield one


@asynccontextmanager
async def _browser() -> AsyncIterator["Browser"]:
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        raise BadInput("Playwright is not installed.", fix="Run: pip install playwright") from None
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        raise BadInput("There is no Chromium here.", fix="Install the package chromium.")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=path, args=[*_FLAGS])
        try:
            yield browser
        finally:
            await browser.close()


def _settings(sides: Sides) -> str:
    """A script that sets what a person has chosen before: method, model, database."""
    kept = {
        "planweave.method": METHOD,
        "planweave.settings": json.dumps(sides.order["context"]),
    }
    return f"Object.entries({json.dumps(kept)}).forEach((one) => localStorage.setItem(...one));"


async def _pixel(page: "Page") -> Seen:
    """Until the question field can be used, beside an empty page."""
    began = time.perf_counter()
    await page.goto("/ok")
    bare = time.perf_counter()
    await page.goto("/studio/", wait_until="commit")
    await page.get_by_role("textbox", name="Ask a question").wait_for()
    ended = time.perf_counter()
    return _seen("first useful pixel", ended - bare, bare - began)


async def _token(page: "Page", sides: Sides) -> Seen:
    """Until the first words of the answer are seen, beside the same run in this process."""
    question = sides.order["input"]["question"]
    began = time.perf_counter()
    bare = await _first_token(sides) - began
    await page.get_by_role("textbox", name="Ask a question").fill(question)
    began = time.perf_counter()
    await page.keyboard.press("Enter")
    await page.locator(".draft", has_text="It").wait_for(state="attached")
    seen = time.perf_counter() - began
    await page.get_by_role("region", name="Answer").wait_for()
    return _seen("first token", seen, bare)


async def _first_token(sides: Sides) -> float:
    """When the first token of the answer has come in the bare loop."""
    context = Context.model_validate(sides.order["context"])
    given: Any = sides.order["input"]
    first = 0.0
    run = events(METHODS.get(METHOD).graph, given, context, tokens=True)
    async with aclosing(run):
        async for event in run:
            if isinstance(event, TokenEvent) and not first:
                first = time.perf_counter()
    return first


def _seen(what: What, page: float, bare: float) -> Seen:
    return Seen(what=what, page_ms=1000 * page, bare_ms=1000 * bare)


def table(seen: list[Seen], title: str) -> Table:
    """What was seen how soon, a line for each thing."""
    rows = []
    for what in dict.fromkeys(one.what for one in seen):
        own = [one for one in seen if one.what == what]
        page, bare = median(o.page_ms for o in own), median(o.bare_ms for o in own)
        ratio = median(o.page_ms / o.bare_ms for o in own)
        rows.append((what, len(own), page, max(o.page_ms for o in own), bare, ratio))
    return Table(
        title=title,
        columns=("what", "n", "page ms", "slowest ms", "bare ms", "ratio"),
        rows=rows,
        note="Medians. First useful pixel: until the question field can be used, beside an empty "
        "page of the same server. First token: from Enter to the first words of the answer, beside "
        "the same run in a bare loop. ratio: median of the rounds' page ÷ bare.",
    )
