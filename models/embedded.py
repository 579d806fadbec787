"""The embedded model: llama.cpp in this process, behind a loopback port with a key.

Each GGUF file has one server per process; the first request starts it. LangChain talks to it
through a transport that fills in the address, so model objects hold no port, no key and no process
state.
"""

import asyncio
import atexit
import gc
import logging
import os
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from planweave.models.errors import ModelUnavailable
from planweave.models.reading import heard, reporting
from planweave.models.settings import ModelSettings
from planweave.models.whole_replies import NONE_KEPT, certificates

if TYPE_CHECKING:
    import xllamacpp

_log = logging.getLogger(__name__)

REPETITION_GUARD: dict[str, float | int] = {
    # Small models fall into loops. DRY penalises each further repetition of a run of more than
    # `allowed_length` tokens. The short window excludes the prompt, so that quoting a query or a
    # schema from it stays free.
    "dry_multiplier": 0.8,
    "dry_base": 1.75,
    "dry_allowed_length": 16,
    "dry_penalty_last_n": 96,
}


_PIECE = 128
"""Tokens of a prompt that are read at once: as fast as larger pieces, and 4 s on 2 cores."""
SLOTS = 4
"""Replies that the server writes at once."""


@dataclass(frozen=True)
class Endpoint:
    """The address and the key of a running server."""

    url: httpx.URL
    key: str


class EmbeddedTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends requests to the embedded server; ``start`` may block for seconds the first time."""

    def __init__(self, start: Callable[[], Endpoint]) -> None:
        self._start_server = start
        self._sync = httpx.HTTPTransport(verify=certificates(), limits=NONE_KEPT)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request``, blocking."""
        return self._sync.handle_request(_add_address(request, self._start_server()))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request`` without blocking the event loop."""
        endpoint = await asyncio.to_thread(self._start_server)
        asked = reporting(_add_address(request, endpoint))
        # A transport for each request, as in CheckedClient.
        transport = httpx.AsyncHTTPTransport(verify=certificates(), limits=NONE_KEPT)
        return heard(await transport.handle_async_request(asked))


def _add_address(request: httpx.Request, endpoint: Endpoint) -> httpx.Request:
    request.url = request.url.copy_with(host=endpoint.url.host, port=endpoint.url.port)
    request.headers["host"] = endpoint.url.netloc.decode("ascii")
    request.headers["authorization"] = f"Bearer {endpoint.key}"
    return request


_servers: dict[tuple[int, Path, int], tuple["xllamacpp.Server", Endpoint]] = {}
_starting = threading.Lock()


def serve(gguf: Path, settings: ModelSettings) -> Endpoint:
    """Start the server of ``gguf`` in this process, unless it is running."""
    key = (os.getpid(), gguf, settings.n_ctx)  # a forked child has no server threads
    with _starting:
        if key not in _servers:
            _servers[key] = _start_server(gguf, settings)
        return _servers[key][1]


def _start_server(gguf: Path, settings: ModelSettings) -> tuple["xllamacpp.Server", Endpoint]:
    # The runtime reads this when it is loaded. Spinning threads are a third faster on an idle
    # machine and many times slower on a busy one, and an agent's machine does other work too.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError:
        raise ModelUnavailable(
            "The embedded model needs the package xllamacpp.",
            fix="Install it with `pip install 'planweave[embedded]'`.",
        ) from None
    secret = secrets.token_urlsafe(32)
    _log.info("Loading %s.", gguf.name)
    try:
        server = xllamacpp.Server(_parameters(gguf, settings, secret))
    except (RuntimeError, MemoryError):
        raise ModelUnavailable(
            f"The model file {gguf} cannot be loaded.",
            fix="Check that it is complete, that llama.cpp supports it, and that memory is enough.",
        ) from None
    return server, Endpoint(httpx.URL(server.listening_address), secret)


def _parameters(gguf: Path, settings: ModelSettings, secret: str) -> "xllamacpp.CommonParams":
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(gguf)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # any free port
    parameters.api_keys = [secret]
    parameters.n_ctx = settings.n_ctx
    # Replies to one prompt are written together: four take twice the time of one. All slots share
    # one memory, so any of them may fill it.
    parameters.n_parallel = SLOTS
    # A prompt is read in pieces: only between pieces can the server report progress or stop.
    parameters.n_batch = parameters.n_ubatch = _PIECE
    parameters.kv_unified = True
    parameters.use_jinja = True
    parameters.cache_prompt = True
    parameters.cache_ram_mib = 1024  # holds the prefixes of roles that take turns
    parameters.warmup = False
    parameters.ui = False
    parameters.verbosity = -1  # no output
    threads = settings.threads or physical_cores()
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    return parameters


def physical_cores() -> int:
    """The cores that this process may use; hyper-threads count once if the system reports them."""
    try:
        usable = os.sched_getaffinity(0)
        topology = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
        return len({Path(topology.format(cpu)).read_text("ascii") for cpu in usable})
    except (AttributeError, OSError):
        return os.cpu_count() or 1


@atexit.register
def shut_down() -> None:
    """Stop every embedded server of this process; also runs at exit."""
    with _starting:
        mine = [key for key in _servers if key[0] == os.getpid()]
        if mine:
            gc.collect()  # closes connections of interrupted calls; the server would wait for them
        for key in mine:
            del _servers[key]
