"""The process that reads documents one by one and cuts them into chunks.

A parser may run forever or use up the memory, even with a small file. In this process it has limits
and can be killed.

Protocol, one JSON object per line: the answer to ``{"path", "limits", "memory", "seconds",
"cutting"}`` is ``{"paging", "pages", "chunks", "more"}``. While ``more`` is true, the answer to any
further request has more pages and chunks. Without ``cutting`` (tokenizer, size, overlap) there are
no chunks. The answer for an unreadable document is ``{"problem", "fix"}``.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from planweave.tools.documents.chunks import Spans, chunk_page
from planweave.tools.documents.pages import DocumentLimits, Unreadable, read
from planweave.tools.process import Channel, limit_process

_ANSWER_CHARACTERS = (
    1_000_000  # characters of text in an answer, so that the parent need not wait for a long one
)
_NICE = 5  # the parent's other work has priority


def main() -> None:
    """Serve until standard input ends."""
    channel = Channel()
    with suppress(AttributeError):  # Windows lacks it
        os.nice(_NICE)
    while True:
        request = channel.receive()
        limit_process(request["memory"], request["seconds"])
        for answer in _answers(request):
            channel.send(answer)
            if answer.get("more"):
                channel.receive()


def _answers(request: dict[str, Any]) -> Iterator[dict[str, object]]:
    try:
        document = read(Path(request["path"]), DocumentLimits(**request["limits"]))
    except Unreadable as error:
        yield {"problem": error.problem, "fix": error.fix}
        return
    tokenizer, size, overlap = request["cutting"] or (None, 0, 0)
    spans = _load_token_spans(tokenizer) if tokenizer else None
    pages: list[object] = []
    chunks: list[object] = []
    characters = 0
    for page in document.pages:
        pages.append((page.number, page.text, page.image_only))
        if spans:
            chunks += chunk_page(page.number, page.text, size=size, overlap=overlap, spans=spans)
        characters += len(page.text)
        if characters > _ANSWER_CHARACTERS:
            yield {"paging": document.paging, "pages": pages, "chunks": chunks, "more": True}
            pages, chunks, characters = [], [], 0
    yield {"paging": document.paging, "pages": pages, "chunks": chunks, "more": False}


def _load_token_spans(path: str) -> Spans:
    """The tokenizer of the embedding model, without its other code, which loads slowly."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).offsets)
