from pathlib import Path

import pytest
from offers import SCRIPT


@pytest.fixture
def offers(tmp_path: Path) -> str:
    """Path of the database of offers."""
    path = tmp_path / "offers.sql"
    path.write_text(SCRIPT)
    return str(path)
