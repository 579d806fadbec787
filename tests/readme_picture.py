"""Make the picture of README.md: the embedded model answers a question over the sample database.

    PYTHONPATH=tests/support python tests/readme_picture.py docs/images/studio-question.png

Needs Chromium, and the weights of the model (`planweave models pull embedded`).
"""

import sys
import tempfile
from pathlib import Path

from browser import chromium
from playwright.sync_api import expect
from serve import serving_planweave

from planweave.models.settings import process_settings

_QUESTION = "Which customer brought the most revenue?"
_PATIENCE = 300_000  # milliseconds; a busy machine answers slowly


def take(picture: Path) -> None:
    """Ask the question as a person would, and keep what the page then shows."""
    with tempfile.TemporaryDirectory(prefix="planweave-") as place, chromium() as browser:
        folder = Path(place)
        weights = str(process_settings().weights_dir)
        with serving_planweave(folder, PLANWEAVE_WEIGHTS_DIR=weights) as server:
            page = browser.new_page(
                base_url=server.url,
                viewport={"width": 1280, "height": 800},
                reduced_motion="reduce",
            )
            page.set_default_timeout(_PATIENCE)
            page.goto("/studio/")
            page.get_by_role("button", name="Try the sample database").click()
            examples = page.get_by_role("list", name="Example questions")
            expect(examples.get_by_role("button").first).to_be_visible(timeout=_PATIENCE)
            page.get_by_role("textbox", name="Ask a question").fill(_QUESTION)
            page.keyboard.press("Enter")
            expect(page.get_by_role("region", name="Answer")).to_be_visible(timeout=_PATIENCE)
            expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=_PATIENCE)
            expect(page.get_by_role("region", name="Answer")).to_be_in_viewport()
            page.screenshot(path=str(picture))


if __name__ == "__main__":
    take(Path(sys.argv[1]))
