"""Published data sets that the project does not ship."""

import os
from pathlib import Path

import pytest

_HERE = Path(__file__).parents[3] / "shared" / "data"


def published(path: str) -> Path:
    """A file or folder of the published data sets; the test is skipped where it is absent.

    They are looked for in the folder named by ``PLANWEAVE_PUBLISHED``, such as ``docs/`` and
    ``hotpotqa/`` in it.
    """
    found = Path(os.environ.get("PLANWEAVE_PUBLISHED", _HERE)) / path
    if not found.exists():
        pytest.skip(f"the published data {found} is not here; set PLANWEAVE_PUBLISHED")
    return found
