"""Samples to try planweave with: a database and three documents, all made up."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from planweave.models import ModelUnavailable
from planweave.tools.documents.collection import open_collection
from planweave.tools.documents.store import collections
from planweave.tools.files.kept import databases, keep

_HERE = Path(__file__).parent
_DATABASE = "bicycles"
_COLLECTION = "samples"


def sample_database(owner: str | None) -> str:
    """Make the sample database unless its owner has it; returns its name."""
    if _DATABASE not in {kept.name for kept in databases(owner)}:
        with tempfile.TemporaryDirectory(prefix="planweave-") as folder:
            made = Path(folder) / f"{_DATABASE}.db"
            with closing(sqlite3.connect(made)) as base:
                base.executescript((_HERE / f"{_DATABASE}.sql").read_text(encoding="utf-8"))
            keep(made, made.name, owner)
    return _DATABASE


def sample_documents(owner: str | None) -> str:
    """Make the sample collection unless its owner has it; returns its name."""
    name = f"{owner}/{_COLLECTION}" if owner else _COLLECTION
    if name not in collections(owner):
        try:
            _fill(name, None)
        except ModelUnavailable:  # without weights for meaning, words are searched
            _fill(name, "none")
    return name


def _fill(name: str, embeddings: str | None) -> None:
    opened = open_collection(name, embeddings=embeddings, create=True)
    for path in sorted(_HERE.glob("*.md")):
        opened.add(path)
