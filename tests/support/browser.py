"""A real Chromium for tests of pages: Debian's own, driven by Playwright."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from servers import program

_PATIENCE = 60_000  # milliseconds
expect.set_options(timeout=_PATIENCE)
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium; the tests are skipped where it is not and cannot be installed."""
    path = program("chromium", package="chromium", places="/usr/bin")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(path), args=[*_FLAGS])
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Browser, **options: Any) -> Page:
    """A page of a fresh visitor, for a machine that has other things to do."""
    context = browser.new_context(reduced_motion="reduce", **options)
    context.set_default_timeout(_PATIENCE)
    return context.new_page()


def complaints(page: Page) -> list[str]:
    """What goes wrong in a page from now on: errors of scripts, breaches of the policy."""
    heard: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error" and "status of 4" not in message.text:  # told on the page itself
            heard.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: heard.append(str(error)))
    return heard


def screenshot(page: Page, name: str) -> None:
    """Keep what the page looks like if ``PLANWEAVE_SCREENSHOTS`` names a folder."""
    if place := os.environ.get("PLANWEAVE_SCREENSHOTS"):
        page.screenshot(path=Path(place, f"{name}.png"))
