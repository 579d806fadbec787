"""Documents: how fast they are indexed and searched, and how often the right page is found.

Three parts, each with the command, machine, date and commit that it was measured with, kept in
one JSON file: a part that is measured again takes the place of what it was.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pydantic import BaseModel, JsonValue

from planweave import BadInput
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.metrics import Rate, Spread
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.documents.quality import (
    HotpotQuestion,
    PageQuestion,
    Quality,
    hotpot_quality,
    page_quality,
)
from planweave.benchmarks.suites.documents.speed import (
    Indexing,
    Speed,
    indexing,
    vector_speeds,
    word_speed,
)
from planweave.records import read_records
from planweave.tools.documents.collection import WORDS_ONLY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = ("indexing", "vectors", "words", "quality")
REPORT = "docs/iea_global_hydrogen_review_2024_pages.jsonl.gz"
QUESTIONS = "docs/questions.jsonl"
HOTPOTQA = "hotpotqa/dev_distractor_subset.jsonl.gz"

_PACKAGES = ("faiss-cpu", "bm25s", "onnxruntime", "tokenizers", "numpy")
_QUERY = "What does low-emissions hydrogen cost?"

Line: TypeAlias = Indexing | Speed | Quality
Record = TypeVar("Record", bound=BaseModel)


class _Page(BaseModel):
    text: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is measured.

    Attributes:
        data: Folder of the published data sets.
        embeddings: Name of the embedding model.
        sizes: Numbers of vectors or texts.
        queries: Queries at each size.
        rerankers: Names of the rerankers that are tried.
        seed: Of the synthetic vectors and texts.
    """

    data: Path
    embeddings: str = "minilm"
    sizes: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000)
    queries: int = 200
    rerankers: Sequence[str] = ()
    seed: int = 1


def measure(part: str, asked: Asked) -> Iterator[Line]:
    """The lines of one of :data:`PARTS`, each as soon as it is known.

    Raises:
        BadInput: The data are not there.
        ModelUnavailable: The embedding model is not available.
    """
    if part == "indexing":
        yield from indexing(_there(asked.data, REPORT), _QUERY, (WORDS_ONLY, asked.embeddings))
    elif part == "vectors":
        for size in asked.sizes:
            yield from vector_speeds(size, asked.queries, asked.seed)
    elif part == "words":
        texts = [page.text for page in _records(asked.data, REPORT, _Page)]
        for size in asked.sizes:
            yield word_speed(texts, size, asked.queries, asked.seed)
    else:
        report, questions = (
            _there(asked.data, REPORT),
            _records(asked.data, QUESTIONS, PageQuestion),
        )
        yield from page_quality(report, questions, asked.embeddings, asked.rerankers)
        hotpot = _records(asked.data, HOTPOTQA, HotpotQuestion)
        yield from hotpot_quality(hotpot, asked.embeddings, asked.rerankers)


def head(command: Sequence[str], model: str) -> dict[str, JsonValue]:
    """With what and where a part is measured, to be asked for before it is."""
    return {
        "command": machine.command(command),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": model,
        "machine": machine.machine() | {"load": round(os.getloadavg()[1], 1)},
        "versions": {**machine.versions(), **{name: version(name) for name in _PACKAGES}},
        "commit": machine.commit(),
    }


def keep(path: Path, part: str, about: Mapping[str, JsonValue], lines: Sequence[Line]) -> None:
    """Write a part into the result file, in the place of what it held of that part.

    Raises:
        BadInput: The file is damaged, or cannot be written.
    """
    found = {**about, "result": [_plain(line) for line in lines]}
    try:
        kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept | {part: found}, indent=1) + "\n", "utf-8")
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(
            f"The result file {path} cannot be used ({type(error).__name__}).",
            fix="Move it away, or name another folder with --out.",
        ) from None


def table(part: str, lines: Sequence[Line]) -> Table:
    """The lines of a part, to be shown."""
    titles = {
        "indexing": "A report indexed",
        "vectors": "Search by vectors",
        "words": "Search by words",
        "quality": "Retrieval quality",
    }
    first = lines[0].__dataclass_fields__
    return Table(
        title=titles[part],
        columns=tuple(name.replace("_", " ") for name in first),
        rows=[tuple(getattr(line, name) for name in first) for line in lines],
    )


def picture(path: Path, speeds: Sequence[Speed]) -> bool:
    """Draw CPU time per query, and for building, over size; False if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    search, build = figure.subplots(1, 2)
    _curves(search, speeds, lambda speed: speed.search_cpu_ms, "CPU milliseconds per query")
    _curves(build, speeds, lambda speed: speed.build_cpu_seconds, "CPU seconds to build")
    search.legend(fontsize=8)
    figure.savefig(path, dpi=130)
    return True


def _curves(
    axis: "Axes", speeds: Sequence[Speed], value: Callable[[Speed], float], label: str
) -> None:
    for name in dict.fromkeys(speed.index for speed in speeds):
        own = [speed for speed in speeds if speed.index == name]
        axis.loglog([s.size for s in own], [max(value(s), 1e-4) for s in own], "o-", label=name)
    axis.set_xlabel("vectors")
    axis.set_ylabel(label)
    axis.grid(alpha=0.3)


def _plain(line: Line) -> dict[str, JsonValue]:
    cells = {name: getattr(line, name) for name in asdict(line)}
    return {
        name: dict(cell._asdict()) if isinstance(cell, Rate | Spread) else cell
        for name, cell in cells.items()
    }


def _there(data: Path, name: str) -> Path:
    path = data / name
    if not path.is_file():
        raise BadInput(
            f"There is no file {path}.", fix="Name the folder of the data sets with --data."
        )
    return path


def _records(data: Path, name: str, kind: type[Record]) -> list[Record]:
    return read_records(_there(data, name), kind, fix="Fetch it again.")
