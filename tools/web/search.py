"""Web search: fetches the pages that a search engine finds, and reads them.

All of it is hostile: addresses are fetched under the rules of
:mod:`planweave.tools.documents.urls`, sizes are limited, and the text is data like that of any
document.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urldefrag

from planweave import BadInput
from planweave.texts import shorten
from planweave.tools.documents.collection import PageHit
from planweave.tools.documents.pages import DocumentLimits, PageText, clean
from planweave.tools.documents.process import read_in_process
from planweave.tools.documents.quotes import locate
from planweave.tools.documents.store import settings
from planweave.tools.documents.urls import fetch
from planweave.tools.web.engine import WebHit, open_engine

_LIMITS = DocumentLimits(bytes=5_000_000, pages=500, characters=2_000_000)
_SECONDS = 20.0
_AT_ONCE = 4
_SNIPPET = 4_000
_PASSAGE = 400
_ADDRESS = re.compile(r"https?://[!-~]{1,500}", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def search_web(name: str, query: str, *, k: int = 4) -> list[PageHit]:
    """Find ``k`` pages on the web, one per address, with the search engine called ``name``.

    A document is named by its address; from a long one comes the page with most words of the query.
    If it cannot be fetched or read, the search engine's snippet serves as page 1.
    """
    if not query.strip():
        raise BadInput("The query is empty.", fix="Say what to look for.")
    hits = [hit for hit in open_engine(name).search(query) if _ADDRESS.fullmatch(hit.url)][:k]
    private = settings().private_urls
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        pages = list(pool.map(lambda hit: _read_page(hit, query, private=private), hits))
    return [
        PageHit(
            document=urldefrag(hit.url).url,
            page=page.number,
            text=page.text,
            chunk=_find_passage(page.text, hit.text, query),
            score=1 / rank,
        )
        for rank, (hit, page) in enumerate(zip(hits, pages, strict=True), start=1)
        if page.text
    ]


def _read_page(hit: WebHit, query: str, *, private: bool) -> PageText:
    """The page of a result that is most relevant to the query, or else its snippet."""
    try:
        with TemporaryDirectory(prefix="planweave-") as folder:
            path = fetch(
                hit.url,
                Path(folder),
                max_bytes=_LIMITS.bytes,
                max_seconds=_SECONDS,
                private=private,
            )
            pages = read_in_process(path, _LIMITS).pages
    except BadInput:
        pages = []
    best = max(pages, key=lambda page: _count_shared_words(page.text, query), default=None)
    if best and best.text:
        return best
    return PageText(1, clean(shorten(f"{hit.title}\n{hit.text}", _SNIPPET)))


def _find_passage(text: str, snippet: str, query: str) -> str:
    """The most relevant words of a page: the search engine's snippet, or a line."""
    shown = locate(snippet, text) if snippet else None
    lines: Sequence[str] = [line for line in text.splitlines() if line.strip()]
    return (shown or max(lines, key=lambda line: _count_shared_words(line, query)))[:_PASSAGE]


def _count_shared_words(text: str, query: str) -> int:
    """The number of words of the query that a text contains."""
    return len({*_WORD.findall(query.casefold())} & {*_WORD.findall(text.casefold())})
