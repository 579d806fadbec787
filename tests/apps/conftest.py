from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import Look, axe
from browser import chromium
from command_line import CommandLine, in_process, user_environment
from endpoints import Operator, served, whole_run
from playwright.sync_api import Browser
from scripted import Replies

from planweave.apps.service import service


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return user_environment(tmp_path)


@pytest.fixture
def planweave(tmp_path: Path, environment: dict[str, str]) -> CommandLine:
    """The command line in this process, which starts no interpreter."""
    return in_process(tmp_path, environment)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the endpoints for other programs are served."""
    with served() as url:
        yield url


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Operator]:
    """Who writes down what is offered there."""
    yield Operator(tmp_path, monkeypatch)
    service.cache_clear()


@pytest.fixture
def offered(operator: Operator, offers: str) -> Replies:
    """A database that is offered, and the replies of a model that answers from it."""
    script = whole_run()
    operator.offers(script, database=offers)
    return script


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def look() -> Look:
    """Looks at views; the pictures are kept in ``PLANWEAVE_SCREENSHOTS`` if that is set."""
    return Look(axe())
