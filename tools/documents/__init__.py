"""Documents: pages with provenance, found by meaning and by words."""

from tools.documents.collection import (
    Added,
    Collection,
    Found,
    collections,
    delete_collection,
    open_collection,
)
from tools.documents.store import DocumentInfo

__all__ = [
    "Added",
    "Collection",
    "DocumentInfo",
    "Found",
    "collections",
    "delete_collection",
    "open_collection",
]
