"""Documents: pages with provenance, found by meaning and by words."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planweave.tools.documents.collection import (
        Added,
        Collection,
        Found,
        delete_collection,
        open_collection,
        usage,
    )
    from planweave.tools.documents.store import DocumentInfo, collections

__all__ = [
    "Added",
    "Collection",
    "DocumentInfo",
    "Found",
    "collections",
    "delete_collection",
    "open_collection",
    "usage",
]


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for: the process that parses needs no collection."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "store" if name in ("DocumentInfo", "collections") else "collection"
    return getattr(import_module(f"planweave.tools.documents.{home}"), name)
