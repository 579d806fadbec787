"""The process in which one document after another is read and cut into chunks.

A parser may run without end or eat the memory, whatever the size of its file. Here it is bounded,
and it can be ended.

Protocol, one JSON object a line: ``{"path", "limits", "memory", "seconds", "cutting"}`` is
answered by ``{"paging", "pages", "chunks", "more"}``; while ``more`` is true, any further request
is answered by more pages and chunks. Without ``cutting`` (tokenizer, size, overlap) there are no
chunks. A document that cannot be read is answered by ``{"problem", "fix"}``.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from planweave.tools.documents.chunks import Spans, pieces
from planweave.tools.documents.pages import DocumentLimits, Unreadable, read
from planweave.tools.process import Channel, bound

_ANSWER = 1_000_000  # characters of text in an answer: the parent is not held up by a long one
_NICE = 5  # the parent's other work goes first


def main() -> None:
    """Serve until standard input ends."""
    channel = Channel()
    with suppress(AttributeError):  # not offered by Windows
        os.nice(_NICE)
    while True:
        request = channel.receive()
        bound(request["memory"], request["seconds"])
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
    spans = _spans(tokenizer) if tokenizer else None
    pages: list[object] = []
    chunks: list[object] = []
    characters = 0
    for page in document.pages:
        pages.append((page.number, page.text, page.image_only))
        if spans:
            chunks += pieces(page.number, page.text, size=size, overlap=overlap, spans=spans)
        characters += len(page.text)
        if characters > _ANSWER:
            yield {"paging": document.paging, "pages": pages, "chunks": chunks, "more": True}
            pages, chunks, characters = [], [], 0
    yield {"paging": document.paging, "pages": pages, "chunks": chunks, "more": False}


def _spans(path: str) -> Spans:
    """The tokens of the embedding model, by its tokenizer alone: its other code loads slowly."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).offsets)
