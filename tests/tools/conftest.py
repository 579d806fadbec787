"""A database that keeps collections of documents."""

from collections.abc import Iterator

import pytest
from servers import Server, pgvector


@pytest.fixture(scope="module")
def pgvector_server() -> Iterator[Server]:
    with pgvector() as running:
        yield running


@pytest.fixture
def shared(pgvector_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Collections are kept in the database, whose password is in a variable."""
    monkeypatch.setenv("DOCUMENTS_PASSWORD", "pass%3Aw%2Frd%401")
    url = pgvector_server.url("owner", "${DOCUMENTS_PASSWORD}")
    monkeypatch.setenv("PLANWEAVE_DOCUMENTS_URL", url)
    yield url
    from planweave.tools.connect import fill_variables
    from planweave.tools.documents import shared_store
    from planweave.tools.documents.collection import delete_collection
    from planweave.tools.documents.store import collections

    for name in collections():
        delete_collection(name)
    shared_store._engine(fill_variables(url)).dispose()  # the server waits for its clients
