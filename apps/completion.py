"""What a shell offers for the value of an option; quick, so nothing heavy is imported."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from planweave import BadInput


def methods(incomplete: str) -> Iterator[str]:
    """Names of methods."""
    from planweave.graphs import METHODS

    return _beginning(incomplete, METHODS.names())


def models(incomplete: str) -> Iterator[str]:
    """Models by the names that every installation has; a server's have no end."""
    return _beginning(incomplete, ("embedded", "embedded:0.5b", "embedded:1.5b", "openai:"))


def collections(incomplete: str) -> Iterator[str]:
    """Names of the collections that are kept here."""
    from planweave.tools.documents.store import collections as kept

    with suppress(BadInput):  # an error would appear in the middle of a line
        yield from _beginning(incomplete, kept())


def threads(incomplete: str) -> Iterator[str]:
    """Names of threads, the newest first."""
    from planweave.apps.threads import newest

    with suppress(BadInput):
        yield from _beginning(incomplete, (file.stem for file in newest()))


def _beginning(incomplete: str, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name.startswith(incomplete))
