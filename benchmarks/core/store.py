"""Result files: what was run and what came of it, as JSON lines.

A file holds ``run`` lines (who ran what, on what machine) and ``sample`` lines; each sample line
belongs to the run line above it. Where a key occurs twice, the later line counts.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, TypeAdapter

from planweave.benchmarks.core.lines import LineFile, read_lines
from planweave.benchmarks.core.record import Record


class Run(BaseModel, frozen=True):
    """One start of the command."""

    kind: Literal["run"] = "run"
    suite: str
    command: str  # what was typed, without directories
    started: str
    models: list[str]
    settings: dict[str, JsonValue]  # the context's settings; sources and secrets are never in it
    versions: dict[str, str]  # of planweave and of what results depend on
    machine: dict[str, JsonValue]  # processor, cores, memory, platform
    commit: str = ""
    data: dict[str, JsonValue] = {}  # what is known of the data set


_LINE: TypeAdapter[Run | Record] = TypeAdapter(Annotated[Run | Record, Field(discriminator="kind")])


@dataclass
class Results:
    """What result files hold."""

    runs: list[Run] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)

    def take(self, line: Run | Record) -> None:
        """Take up a line that is below the others."""
        if isinstance(line, Run):
            self.runs.append(line)
        else:
            self.records[line.key] = line


def read(path: Path) -> Results:
    """Read a result file, without an incomplete last line."""
    return merged([path], lambda _: None)


def merged(paths: Iterable[Path], notify: Callable[[str], None]) -> Results:
    """Several result files as one; ``notify`` gets a sentence on incomplete last lines."""
    together = Results()
    for path in paths:
        parsed = read_lines(path, _LINE)
        if parsed.torn:
            notify(f"The last line of {path} is incomplete and was left out.")
        for line in parsed.lines:
            together.take(line)
    return together


class ResultFile(LineFile[Run | Record]):
    """A result file open for appending by this process alone."""

    def __init__(self, path: Path, notify: Callable[[str], None]) -> None:
        super().__init__(path, _LINE, notify)
        self.results = Results()
        for line in self.lines:
            self.results.take(line)

    def append(self, line: Run | Record) -> None:
        """Write one line and wait until it is on the disk."""
        super().append(line)
        self.results.take(line)
