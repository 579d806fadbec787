"""Any chat model by name.

========================================  ===========================================
``embedded``, ``embedded:0.5b``           the model in this process (1.5b by default)
``embedded:/path/to.gguf``                any GGUF file in this process
``openai:gpt-4.1-mini``                   OpenAI
``http://host:port/v1#model``             any OpenAI-compatible server
``ollama:…``, ``anthropic:…``, …          what LangChain knows, if its package is installed
``script:FILE``                           written replies (:class:`planweave.testing.ScriptedModel`)
``<prefix>:…``                            of a provider that :func:`register_provider` has added
========================================  ===========================================
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

import httpx
from langchain_core.language_models import BaseChatModel
from langchain_core.rate_limiters import InMemoryRateLimiter
from pydantic import SecretStr

from planweave.models.cache import ResponseCache
from planweave.models.embedded import REPETITION_GUARD, EmbeddedTransport, serve
from planweave.models.errors import (
    ModelUnavailable,
    naming_what_lacks,
    no_key,
    no_package,
    server_of,
)
from planweave.models.settings import ModelSettings, process_settings
from planweave.models.weights import resolve
from planweave.models.whole_replies import clients
from planweave.registry import Registry

NAME = "planweave_model"
"""Key in a model's ``metadata`` for its full name."""


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """What a provider's factory should make.

    Attributes:
        name: The full name, with the provider prefix.
        temperature: 0 for the most likely reply.
        max_tokens: Limit on the tokens of one reply; small models need it, since they may loop.
        seed: Seed of the sampling.
        settings: By default those of the process.
        fresh: Ignore cached replies; new replies are cached.
    """

    name: str
    temperature: float = 0.0
    max_tokens: int = 512
    seed: int | None = None
    settings: ModelSettings = field(default_factory=process_settings)
    fresh: bool = False

    @property
    def model(self) -> str:
        """The name without its provider prefix."""
        return self.name.partition(":")[2]


Factory: TypeAlias = Callable[[ModelRequest], BaseChatModel]
PROVIDERS: Registry[Factory] = Registry("provider", accepts=callable)
"""Factories by the prefix of a model's name; the entry-point group is ``planweave.providers``."""

_given: dict[str, BaseChatModel] = {}
_numbers = count(1)


def register_provider(prefix: str, factory: Factory) -> None:
    """Let ``factory`` make the models whose names begin with ``prefix:``."""
    PROVIDERS.remove(prefix)
    PROVIDERS.add(prefix, factory)
    _build.cache_clear()


def register_model(model: BaseChatModel) -> str:
    """Register an existing model in this process; returns its name for settings."""
    name = f"given:{next(_numbers)}"
    _given[name] = model
    return name


@contextmanager
def registered(model: BaseChatModel) -> Iterator[str]:
    """Register a model until the end of the block; see :func:`register_model`."""
    name = register_model(model)
    try:
        yield name
    finally:
        del _given[name]


class ModelOptions(TypedDict, total=False):
    """See :class:`ModelRequest`."""

    temperature: float
    max_tokens: int
    seed: int | None
    settings: ModelSettings
    fresh: bool


def chat_model(name: str, **options: Unpack[ModelOptions]) -> BaseChatModel:
    """Make the chat model called ``name``, or return the one made before with these options.

    The first call for a name may read files; under an event loop use :func:`achat_model`. Nothing
    uses the network or starts the embedded server before the first request to the model. A model
    whose package, key or weights are missing raises ``ModelUnavailable``.
    """
    name = name.strip()
    return _given[name] if name in _given else _build(ModelRequest(name=name, **options))


async def achat_model(name: str, **options: Unpack[ModelOptions]) -> BaseChatModel:
    """As :func:`chat_model`, without blocking the event loop."""
    return await asyncio.to_thread(lambda: chat_model(name, **options))


def name_of(model: BaseChatModel) -> str:
    """The name under which ``model`` was made; for a model made elsewhere its type."""
    return str((model.metadata or {}).get(NAME) or model._llm_type)


@lru_cache(maxsize=64)
def _build(request: ModelRequest) -> BaseChatModel:
    prefix, _, model_name = request.name.partition(":")
    if prefix in ("http", "https"):
        model: BaseChatModel = _build_compatible(request)
    elif prefix == "given":
        raise ModelUnavailable(
            f"The model {request.name} is not known in this process.",
            fix="Pass the model itself again.",
            trouble="missing",
        )
    elif prefix == "script":
        return _script(request.name)
    elif prefix == "embedded":
        model = _build_embedded(request)
    elif prefix == "openai" and model_name:
        model = _build_openai(request)
    elif prefix in PROVIDERS:
        model = PROVIDERS.get(prefix)(request)
    else:
        model = _build_langchain(request)
    model.metadata = {**(model.metadata or {}), NAME: request.name}
    return model


def is_script(name: str) -> bool:
    """Whether a name refers to a script of replies."""
    return name.startswith("script:")


def new_script(name: str) -> BaseChatModel:
    """The model ``script:FILE``, at the beginning of its replies."""
    from planweave.testing import ScriptedModel

    model = ScriptedModel.from_file(Path(name.partition(":")[2]).expanduser())
    model.metadata = {NAME: name}
    return model


_script = lru_cache(maxsize=64)(new_script)
"""The model ``script:FILE``, which continues from call to call, whatever the settings."""


def _build_embedded(request: ModelRequest) -> BaseChatModel:
    gguf = resolve(request.name, settings=request.settings)
    transport = EmbeddedTransport(partial(serve, gguf, request.settings))
    file = gguf.stat()
    return _build_openai_like(
        request,
        url="http://embedded/v1",
        model=gguf.name,
        key=SecretStr("filled in by the transport"),
        identity=f"{gguf}:{file.st_size}:{file.st_mtime_ns}:{request.settings.n_ctx}",
        http=(httpx.Client(transport=transport), httpx.AsyncClient(transport=transport)),
        extra_body={"cache_prompt": True, **REPETITION_GUARD},
        max_retries=0,  # the client's retry would queue up behind the slow reply
    )


def _build_compatible(request: ModelRequest) -> BaseChatModel:
    url, model = server_of(request.name, "a model")
    key = request.settings.api_key or SecretStr("none")
    return _build_openai_like(request, url=url, model=model, key=key)


def _build_openai(request: ModelRequest) -> BaseChatModel:
    key = request.settings.openai_api_key
    if key is None or not key.get_secret_value():
        raise no_key("The model", request.name)
    return _build_openai_like(request, url=None, model=request.model, key=key)


def _build_openai_like(
    request: ModelRequest,
    *,
    url: str | None,
    model: str,
    key: SecretStr,
    identity: str = "",
    http: tuple[httpx.Client, httpx.AsyncClient] | None = None,
    **options: Any,
) -> BaseChatModel:
    """A model on an OpenAI-like server.

    Without ``url`` it is OpenAI itself; ``identity`` is the server's name in the cache.
    """
    from langchain_openai import ChatOpenAI
    from langchain_openai.chat_models.base import BaseChatOpenAI

    # Servers other than OpenAI's only know `max_tokens`, which the base class sends.
    kind: type[BaseChatOpenAI] = ChatOpenAI if url is None else BaseChatOpenAI
    settings, (client, async_client) = request.settings, http or clients()
    return kind(
        model=model,
        base_url=url,
        api_key=key,
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        seed=request.seed,
        timeout=settings.timeout,
        stream_chunk_timeout=settings.timeout,  # a small machine may read a prompt for minutes
        stream_usage=True,
        use_responses_api=False,
        cache=_cache(request, identity or request.name),
        rate_limiter=_limiter(url or "openai", settings.requests_per_second),
        http_client=client,
        http_async_client=async_client,
        **{"max_retries": settings.retries, **options},
    )


def _build_langchain(request: ModelRequest) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    provider = request.name.partition(":")[0]
    settings = request.settings
    if not request.model:
        raise _unknown_provider(request.name)
    if provider == "ollama" and find_spec("langchain_ollama") is None:
        raise no_package(
            f"The model {request.name}", "langchain_ollama"
        )  # avoids LangChain's retired fallback
    length = (
        {"num_predict": request.max_tokens, "seed": request.seed}
        if provider == "ollama"
        else {
            "max_tokens": request.max_tokens,
            "timeout": settings.timeout,
            "max_retries": settings.retries,
        }
    )
    with naming_what_lacks("The model", request.name, _unknown_provider(request.name)):
        return init_chat_model(
            request.model,
            model_provider=provider,
            temperature=request.temperature,
            cache=_cache(request, request.name),
            rate_limiter=_limiter(provider, settings.requests_per_second),
            **length,
        )


def _unknown_provider(name: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"There is no model provider for {name!r}.",
        fix="Write provider:model, as in openai:gpt-4.1-mini or ollama:qwen3, or `embedded`.",
        trouble="missing",
    )


def _cache(request: ModelRequest, identity: str) -> ResponseCache | bool:
    mode = request.settings.response_cache
    if mode == "all" or (mode == "deterministic" and request.temperature == 0):
        path = request.settings.cache_dir / "replies.sqlite"
        return ResponseCache(path, identity, fresh=request.fresh)
    return False


@lru_cache(maxsize=64)
def _limiter(server: str, per_second: float | None) -> InMemoryRateLimiter | None:  # noqa: ARG001
    """One limiter for each server and rate: all models of a server share it."""
    if per_second is None:
        return None
    return InMemoryRateLimiter(
        requests_per_second=per_second, check_every_n_seconds=0.02, max_bucket_size=1
    )
