"""Result files: runs and their samples, as JSON lines.

A file contains ``run`` lines (command, settings, machine) and ``sample`` lines; each sample line
belongs to the run line above it. If a key occurs twice, the later line counts.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, TypeAdapter

from planweave.benchmarks.core.lines import LineFile, read_lines
from planweave.benchmarks.core.record import Record


class Run(BaseModel, frozen=True):
    """One run of the command."""

    kind: Literal["run"] = "run"
    suite: str
    command: str  # the command line, without directories
    started: str
    models: list[str]
    settings: dict[str, JsonValue]  # of the context, without sources and secrets
    versions: dict[str, str]  # of planweave and of the packages that results depend on
    machine: dict[str, JsonValue]  # processor, cores, memory, platform
    commit: str = ""
    data: dict[str, JsonValue] = {}  # description of the data set


def name_in_file(model: str) -> str:
    """The name of a model as part of the name of its files."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", Path(model).name).strip("-")


_LINE: TypeAdapter[Run | Record] = TypeAdapter(Annotated[Run | Record, Field(discriminator="kind")])


@dataclass
class Results:
    """The contents of result files."""

    runs: list[Run] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)

    def add(self, line: Run | Record) -> None:
        """Add the next line."""
        if isinstance(line, Run):
            self.runs.append(line)
        else:
            self.records[line.key] = line


def read(path: Path) -> Results:
    """Read a result file, without an incomplete last line."""
    return read_all([path], lambda _: None)


def read_all(paths: Iterable[Path], notify: Callable[[str], None]) -> Results:
    """Read several result files as one; ``notify`` gets a sentence on each incomplete last line."""
    results = Results()
    for path in paths:
        parsed = read_lines(path, _LINE)
        if parsed.torn:
            notify(f"The last line of {path} is incomplete and was skipped.")
        for line in parsed.lines:
            results.add(line)
    return results


class ResultFile(LineFile[Run | Record]):
    """A result file open for appending by this process alone."""

    def __init__(self, path: Path, notify: Callable[[str], None]) -> None:
        super().__init__(path, _LINE, notify)
        self.results = Results()
        for line in self.lines:
            self.results.add(line)

    def append(self, line: Run | Record) -> None:
        """Write one line and wait until it is on the disk."""
        super().append(line)
        self.results.add(line)
