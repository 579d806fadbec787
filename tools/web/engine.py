"""Search engines: LangChain's search tools by name, with one form for their results."""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field, ValidationError

from planweave import BadInput
from planweave.state import ProcessSettings
from planweave.texts import shorten
from planweave.tools.result_text import one_line

if TYPE_CHECKING:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool

KNOWN: Mapping[str, str] = {
    "brave": "langchain_community.tools:BraveSearch",
    "duckduckgo": "langchain_community.tools:DuckDuckGoSearchResults",
    "jina": "langchain_community.tools:JinaSearch",
    "serper": "langchain_community.tools.google_serper:GoogleSerperResults",
    "tavily": "langchain_tavily:TavilySearch",
}
"""Search tools that need only the environment's variables, by a short name."""

_URL = ("url", "link", "href")
_TITLE = ("title", "name")
_TEXT = ("content", "snippet", "body", "text", "description", "summary")
_MOST = 1_000_000  # characters of a reply that are read
_DEPTH = 6
_SECONDS = 30.0


class SearchSettings(ProcessSettings):
    """The search tools that may be used (``PLANWEAVE_SEARCH_TOOLS``)."""

    search_tools: str = Field(
        default="", description="Import paths of further search tools, with commas."
    )


class WebHit(NamedTuple):
    """An untrusted result of a search engine, unchanged."""

    url: str
    title: str
    text: str


class SearchEngine:
    """A search tool that is ready for use."""

    def __init__(self, name: str, tool: "BaseTool") -> None:
        self.name = name
        self._tool = tool

    def search(self, query: str) -> list[WebHit]:
        """Results, best first; results without a URL are skipped."""
        argument = next(iter(self._tool.args), "query")
        call = {"name": self._tool.name, "args": {argument: query}, "id": "1", "type": "tool_call"}
        answer = _run_in_time(lambda: self._tool.invoke(call))
        if isinstance(answer, Exception):
            raise BadInput(
                f"The web search {self.name} failed: {_error_text(answer)}.",
                fix="Check its key and the network, or connect a document collection.",
            )
        first: dict[str, WebHit] = {}
        for hit in (*_find_hits(answer.artifact), *_find_hits(answer.content)):
            first.setdefault(hit.url, hit)
        return list(first.values())


def open_engine(name: str) -> SearchEngine:
    """The search engine called ``name``, made once for this process.

    Args:
        name: One of :data:`KNOWN`, or the import path ``module:Class`` of a LangChain tool that
            ``PLANWEAVE_SEARCH_TOOLS`` allows: LangChain's tools include a shell and a Python
            interpreter, and the name may come from outside.
    """
    admitted = [path.strip() for path in SearchSettings().search_tools.split(",") if path.strip()]
    if name not in KNOWN and name not in admitted:
        raise BadInput(
            f"There is no web search {shorten(one_line(name), 80)!r}.",
            fix=f"Known are {', '.join(KNOWN)}; another LangChain tool is named by its import "
            "path, such as package.module:Class, once PLANWEAVE_SEARCH_TOOLS lists that path.",
        )
    return _made(name)


@lru_cache(maxsize=8)
def _made(name: str) -> SearchEngine:
    from langchain_core.tools import BaseTool

    module, _, attribute = KNOWN.get(name, name).partition(":")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # from langchain-community itself
            factory: Callable[[], object] = getattr(import_module(module), attribute)
            tool = factory()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        key = re.search(r"\b[A-Z]+(?:_[A-Z]+)*_KEY\b", str(error))
        raise BadInput(
            f"The web search {name} needs {key[0]}."
            if key
            else f"The web search {name} cannot be used: {_error_text(error)}.",
            fix="Install its package and set its key in the environment.",
        ) from None
    if not isinstance(tool, BaseTool):
        raise BadInput(f"{name} is no LangChain tool.", fix=f"Known are {', '.join(KNOWN)}.")
    return SearchEngine(name, tool)


def _run_in_time(ask: Callable[[], "ToolMessage"]) -> "ToolMessage | Exception":
    """The answer or error of a tool; many tools set no time limit for their service."""
    answers: SimpleQueue[ToolMessage | Exception] = SimpleQueue()

    def asked() -> None:
        try:
            answers.put(ask())
        except Exception as error:  # a tool raises any error of its client
            answers.put(error)

    Thread(target=asked, daemon=True).start()
    try:
        return answers.get(timeout=_SECONDS)
    except Empty:
        return TimeoutError(f"no answer within {_SECONDS:.0f} seconds")


def _error_text(error: Exception) -> str:
    """An error's text on one line; a validation error would repeat its input."""
    text = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
    return shorten(one_line(f"{type(error).__name__}: {text}"), 200).rstrip(".")


def _find_hits(reply: object, depth: int = 0) -> Iterator[WebHit]:
    """Every result in a reply: an object with a URL at any depth, also inside text."""
    if isinstance(reply, str):
        reply = _read(reply)
    if depth > _DEPTH:
        return
    if isinstance(reply, list | tuple):
        for part in reply:
            if not isinstance(part, str):
                yield from _find_hits(part, depth + 1)
    elif isinstance(reply, Mapping):
        if url := _field(reply, _URL):
            yield WebHit(url, _field(reply, _TITLE), _field(reply, _TEXT))
        for part in reply.values():
            if isinstance(part, list | Mapping):
                yield from _find_hits(part, depth + 1)


def _read(text: str) -> object:
    """Parse a reply that is text: JSON, or literals of Python."""
    text = text[:_MOST]
    for reader in (json.loads, ast.literal_eval):
        try:
            return reader(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _field(result: Mapping[object, object], names: tuple[str, ...]) -> str:
    found = (result.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value.strip()), "")
