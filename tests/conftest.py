"""No test touches the network, the user's files, or a trace server."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cypher_cases import SCRIPT as GRAPH
from graph_servers import BoltServer, bolt_server
from hypothesis import HealthCheck, settings
from offers import SCRIPT, WHOLE_RUN, scripted
from openai_server import Script, serving
from pytest_socket import socket_allow_hosts
from servers import Server, mariadb, postgresql
from shop import SHOP, OpenSql

if TYPE_CHECKING:
    from planweave.tools.sql import SqlDatabase

# Read when the libraries are imported, so set before any of them is.
_HOME = Path(tempfile.mkdtemp(prefix="planweave-tests-"))
os.environ |= {
    "LANGGRAPH_STRICT_MSGPACK": "true",
    "LANGSMITH_TRACING": "false",
    "PLANWEAVE_STATE_DIR": str(_HOME / "state"),
    "PLANWEAVE_CACHE_DIR": str(_HOME / "cache"),
    "PLANWEAVE_DATA_DIR": str(_HOME / "data"),
    "PLANWEAVE_RESPONSE_CACHE": "off",
    "XDG_CACHE_HOME": str(_HOME / "cache"),
    # What JAX compiled is kept beside pytest's own cache: compiling takes longer than the tests.
    "JAX_COMPILATION_CACHE_DIR": str(Path(__file__).parents[1] / ".pytest_cache" / "jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    # What a test trains runs for less time than it takes to make it fast.
    "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
}

# The same examples everywhere, however slow the machine; --hypothesis-profile=default draws others.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def _home() -> Iterator[None]:
    yield
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_network() -> None:
    """Loopback stays open for servers of our own, Unix sockets for asyncio."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(scope="session")
def shop_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop as a file, which is only read."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP)
    return path


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenSql]:
    """Opens the database that a script makes."""
    from planweave.tools.sql import open_sql

    path = tmp_path / "script.sql"
    with ExitStack() as kept:

        def made(script: str) -> "SqlDatabase":
            path.write_text(script, "utf-8")
            return kept.enter_context(closing(open_sql(path)))

        yield made


@pytest.fixture
def offers(tmp_path: Path) -> str:
    """Path of the database of offers."""
    path = tmp_path / "offers.sql"
    path.write_text(SCRIPT)
    return str(path)


@pytest.fixture(scope="module")
def model() -> Iterator[Script]:
    """A model that answers as a whole run about the offers wants."""
    with serving(*scripted(*WHOLE_RUN)) as model:
        yield model


@pytest.fixture
def word_vectors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The model of embeddings that is meant where none is named: no weights are needed."""
    from bag_of_words import WordEmbeddings

    models = import_module("planweave.models.embeddings")
    monkeypatch.setattr(models, "_minilm", WordEmbeddings)
    models._build.cache_clear()
    yield
    models._build.cache_clear()


@pytest.fixture
def toy_shop(tmp_path: Path) -> Iterator[None]:
    """The environment ``toy`` counts, crashes and hangs as it is told."""
    from toy_world import ToyShop

    from planweave.tools.environments.opening import ENVIRONMENTS, environment

    environment("toy")(lambda _: ToyShop(tmp_path))
    yield
    ENVIRONMENTS.remove("toy")


@pytest.fixture
def word_search(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Documents are cut and searched by their words: no weights are needed."""
    from bag_of_words import WordEmbeddings
    from documents import WordTokens

    from planweave.models import register_embeddings
    from planweave.tools.documents import chunks, collection

    monkeypatch.setattr(chunks, "tokenizer", WordTokens)
    register_embeddings("words", WordEmbeddings)
    yield
    collection._open.clear()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    with postgresql(SHOP) as server:
        yield server


@pytest.fixture(scope="session")
def bolt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    from planweave.tools.cypher.script import split_script

    pytest.importorskip("arcadedb_embedded", reason="arcadedb-embedded is not installed")
    statements = [statement for _, statement in split_script(GRAPH)]
    try:
        with bolt_server(tmp_path_factory.mktemp("server"), statements) as running:
            yield running
    except OSError as error:
        pytest.skip(f"no graph server can be started here: {error}")


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[Server]:
    with mariadb(SHOP) as server:
        yield server
