"""How a page looks, to axe-core and to people: in both colour schemes, on a desk and on a phone."""

import hashlib
import subprocess
import tarfile
from collections.abc import Sequence
from typing import Any

import pytest
from browser import screenshot
from playwright.sync_api import Page

from planweave.models import process_settings

_VERSION = "4.14.1"
_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
_GRAVE = ("serious", "critical")
_HEIGHTS = {1280: 900, 360: 740}
_RUN = """async (some) =>
    (await axe.run(document, {resultTypes: ["violations"], ...some})).violations
    .map(({id, impact, nodes}) => ({id, impact, nodes: nodes.map((one) => one.html.slice(0, 160))}))
"""
_RULES = {"light": {}, "dark": {"runOnly": ["color-contrast", "link-in-text-block"]}}
"""Dark colours change nothing but colours."""


def axe() -> str:
    """Its script, fetched once through npm; the test is skipped where that cannot be done."""
    folder = process_settings().cache_dir / "npm"
    script = folder / f"axe-{_VERSION}.min.js"
    if not script.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        pack = ["npm", "pack", "--silent", "--pack-destination", str(folder)]
        try:
            package = f"axe-core@{_VERSION}"
            subprocess.run(
                [*pack, package], cwd=folder, check=True, capture_output=True, timeout=120
            )
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"axe-core cannot be fetched with npm: {error}")
        with tarfile.open(folder / f"axe-core-{_VERSION}.tgz") as packed:
            found = packed.extractfile("package/axe.min.js")
            assert found
            script.write_bytes(found.read())
    text = script.read_bytes()
    assert hashlib.sha256(text).hexdigest() == _SHA256, f"{script} is not axe-core {_VERSION}"
    return text.decode()


def grave(page: Page, script: str, colours: str) -> list[dict[str, Any]]:
    """What is seriously wrong with the page that is shown."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(script)
    return [one for one in page.evaluate(_RUN, _RULES[colours]) if one["impact"] in _GRAVE]


class Look:
    """Looks at views with the eyes of several people; ``script`` is axe-core's."""

    def __init__(self, script: str) -> None:
        self._script = script

    def __call__(self, page: Page, view: str, widths: Sequence[int] = (1280, 360)) -> None:
        """See a view: nothing is wider than the window, and axe-core finds nothing serious."""
        size, wrong = page.viewport_size, []
        for width in widths:
            page.set_viewport_size({"width": width, "height": _HEIGHTS[width]})
            for colours in _RULES:
                page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
                name = f"{view}-{width}-{colours}"
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    wrong.append(f"{name} is too wide")
                wrong += [f"{name}: {one}" for one in grave(page, self._script, colours)]
                screenshot(page, name)
        page.emulate_media(color_scheme="light")
        if size:
            page.set_viewport_size(size)
        assert not wrong, "\n".join(wrong)
