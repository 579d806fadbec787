"""Sentence vectors with a progress bar and a cache."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from planweave.learning import SentenceVectors
from planweave.learning.trained import EMBEDDINGS
from planweave.models import embedding_id, embeddings, process_settings

_KEEP = 200_000  # a corpus and its queries: 1.5 KB each
_SMALL = 1000  # number of texts that needs no progress bar


@contextmanager
def sentence_vectors(console: Console, *, kept: bool = True) -> Iterator[SentenceVectors]:
    """Load the embedding model of the plan assessor; long work shows a progress bar.

    Do not keep vectors (``kept``) of texts that a person may want to delete.
    """
    name = embedding_id(EMBEDDINGS).replace("#", "-")
    folder = process_settings().cache_dir / "vectors" / name if kept else None
    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("embedding", visible=False)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=_SMALL < total != done)

        yield SentenceVectors(embeddings(EMBEDDINGS), keep=_KEEP, folder=folder, progress=show)
