"""The document collection that the questions of a benchmark are about, made once."""

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
    """Make the collection of these documents, or find that it is there; gives its name.

    The name holds a digest of what is in it, so that other documents make another collection and
    a killed run goes on where it stopped.
    """
    name = f"bench/agents-{_digest(documents, embeddings)}"
    collection = open_collection(name, embeddings=embeddings, create=True)
    there = {info.name for info in collection.documents()}
    with TemporaryDirectory() as folder:
        for number, document in enumerate(documents, start=1):
            if document.name not in there:
                collection.add(document.path or _written(document, Path(folder)))
            status(f"{number} of {len(documents)} documents are read …")
    return name


def _digest(documents: Sequence[Document], embeddings: str) -> str:
    digest = hashlib.sha256(embeddings.encode())
    for document in documents:
        content = document.path.read_bytes() if document.path else document.text.encode()
        digest.update(json.dumps([document.name, len(content)]).encode() + content)
    return digest.hexdigest()[:16]


def _written(document: Document, folder: Path) -> Path:
    path = folder / document.name
    path.write_text(json.dumps({"page": 1, "text": document.text}) + "\n", encoding="utf-8")
    return path
