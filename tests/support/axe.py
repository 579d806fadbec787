"""axe-core, which finds what is wrong with a page for people who hear or key it."""

import hashlib
import subprocess
import tarfile
from typing import Any

from playwright.sync_api import Page
from servers import Unobtainable

from planweave.models import process_settings

_VERSION = "4.14.1"
_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
_GRAVE = ("serious", "critical")
_RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .map(({id, impact, nodes}) => ({id, impact, nodes: nodes.map((one) => one.html.slice(0, 160))}))
"""


def axe() -> str:
    """Its script, fetched once through npm.

    Raises:
        Unobtainable: npm is not here, or the registry does not answer.
    """
    folder = process_settings().cache_dir / "npm"
    script = folder / f"axe-{_VERSION}.min.js"
    if not script.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        pack = [
            "npm",
            "pack",
            "--silent",
            "--pack-destination",
            str(folder),
            f"axe-core@{_VERSION}",
        ]
        try:
            subprocess.run(pack, cwd=folder, check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError) as error:
            raise Unobtainable(f"axe-core cannot be fetched with npm: {error}") from None
        with tarfile.open(folder / f"axe-core-{_VERSION}.tgz") as packed:
            found = packed.extractfile("package/axe.min.js")
            assert found
            script.write_bytes(found.read())
    text = script.read_bytes()
    assert hashlib.sha256(text).hexdigest() == _SHA256, f"{script} is not axe-core {_VERSION}"
    return text.decode()


def grave(page: Page, script: str) -> list[dict[str, Any]]:
    """What is seriously wrong with the page that is shown."""
    page.evaluate(script)
    return [one for one in page.evaluate(_RUN) if one["impact"] in _GRAVE]
