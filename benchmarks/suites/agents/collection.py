"""The document collection that the questions of a benchmark are about."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from planweave.benchmarks.suites.agents.questions import Document
from planweave.tools.documents.collection import open_collection


def collect(
    documents: Sequence[Document],
    *,
    embeddings: str = "minilm",
    status: Callable[[str], None] = lambda _: None,
) -> str:
    """Make the collection of these documents, unless it exists, and return its name.

    The name contains a digest of the content, so that other documents make another collection and
    an interrupted run can continue.
    """
    name = f"bench/agents-{_content_digest(documents, embeddings)}"
    collection = open_collection(name, embeddings=embeddings, create=True)
    existing = {info.name for info in collection.documents()}
    with TemporaryDirectory() as folder:
        for number, document in enumerate(documents, start=1):
            if document.name not in existing:
                collection.add(document.path or _write_page(document, Path(folder)))
            status(f"{number} of {len(documents)} documents are read …")
    return name


def _content_digest(documents: Sequence[Document], embeddings: str) -> str:
    digest = hashlib.sha256(embeddings.encode())
    for document in documents:
        content = document.path.read_bytes() if document.path else document.text.encode()
        digest.update(json.dumps([document.name, len(content)]).encode() + content)
    return digest.hexdigest()[:16]


def _write_page(document: Document, folder: Path) -> Path:
    path = folder / document.name
    path.write_text(json.dumps({"page": 1, "text": document.text}) + "\n", encoding="utf-8")
    return path
