"""Completions that a shell offers for option values; quick, so nothing heavy is imported."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from planweave import BadInput


def methods(incomplete: str) -> Iterator[str]:
    """Names of methods."""
    from planweave.graphs import METHODS

    return _matching(incomplete, METHODS.names())


def models(incomplete: str) -> Iterator[str]:
    """Names of models that every installation has; a server may have any others."""
    return _matching(incomplete, ("embedded", "embedded:0.5b", "embedded:1.5b", "openai:"))


def collections(incomplete: str) -> Iterator[str]:
    """Names of the document collections on this machine."""
    from planweave.tools.documents.store import collections as collection_names

    with suppress(BadInput):  # an error would appear in the middle of a line
        yield from _matching(incomplete, collection_names())


def threads(incomplete: str) -> Iterator[str]:
    """Names of threads, newest first."""
    from planweave.apps.threads import newest_files

    with suppress(BadInput):
        yield from _matching(incomplete, (file.stem for file in newest_files()))


def _matching(incomplete: str, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name.startswith(incomplete))
