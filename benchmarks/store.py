"""Result files: JSON lines, appended and synced one by one, safe against kill and power loss.

A file holds ``run`` lines (who ran what, on what machine) and ``sample`` lines; each sample line
belongs to the run line above it. Where a key occurs twice, the later line counts.
"""

import fcntl
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from benchmarks.record import Record
from planweave import BadInput


class Run(BaseModel):
    """One start of the command.

    Attributes:
        suite: Name of the suite.
        command: What was typed, without directories.
        started: ISO time.
        models: Names of the models in use.
        settings: The context's settings; sources and secrets are never in it.
        versions: Of planweave and of what results depend on.
        machine: Processor, cores, memory, platform.
        commit: Git commit of the code, empty if it is not known.
        data: What is known of the data set.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["run"] = "run"
    suite: str
    command: str
    started: str
    models: list[str]
    settings: dict[str, JsonValue]
    versions: dict[str, str]
    machine: dict[str, JsonValue]
    commit: str = ""
    data: dict[str, JsonValue] = {}


_LINE: TypeAdapter[Run | Record] = TypeAdapter(Annotated[Run | Record, Field(discriminator="kind")])


@dataclass
class Results:
    """What result files hold.

    Attributes:
        runs: The run lines, in order.
        records: The sample lines by key.
        torn: Bytes of an incomplete last line; empty if there is none.
        complete: Length in bytes of the part before it.
    """

    runs: list[Run] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    torn: bytes = b""
    complete: int = 0


def read(path: Path) -> Results:
    """Read a result file.

    Raises:
        BadInput: The file cannot be read, or a line other than the last is damaged.
    """
    try:
        return _parse(path, path.read_bytes())
    except OSError as error:
        raise BadInput(
            f"The result file {path} cannot be read ({error.strerror}).", mend="Check the path."
        ) from None


def merged(paths: Iterable[Path], tell: Callable[[str], None]) -> Results:
    """Several result files as one; ``tell`` hears, in a sentence, of incomplete last lines.

    Raises:
        BadInput: See :func:`read`.
    """
    together = Results()
    for path in paths:
        found = read(path)
        if found.torn:
            tell(f"The last line of {path} is incomplete and was left out.")
        together.runs += found.runs
        together.records |= found.records
    return together


def _parse(path: Path, data: bytes) -> Results:
    results = Results()
    lines = data.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            parsed = _LINE.validate_json(line)
        except ValidationError:
            if number == len(lines):
                results.torn = line
                return results
            raise BadInput(
                f"The result file {path} is damaged in line {number}; nothing was changed.",
                mend="Restore the file, or move that line elsewhere and run again to redo it.",
            ) from None
        results.complete += len(line)
        if isinstance(parsed, Run):
            results.runs.append(parsed)
        else:
            results.records[parsed.key] = parsed
    return results


class ResultFile:
    """A result file open for appending by this process alone.

    Args:
        path: The file; made with its folder if need be.
        tell: Told, in a sentence, of what was mended.

    Raises:
        BadInput: Another process writes it, it is damaged, or it cannot be written.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self.path = path
        self._file = _open(path)
        try:
            self.results = _parse(path, self._file.read())
            if self.results.torn:
                self._set_aside(tell)
            self._end_with_newline()
        except BaseException:
            self._file.close()
            raise

    def append(self, line: Run | Record) -> None:
        """Write one line and wait until it is on the disk.

        Raises:
            OSError: The disk is full or broken; what was written before is unharmed.
        """
        rest = line.model_dump_json().encode() + b"\n"
        while rest:
            rest = rest[self._file.write(rest) :]
        os.fsync(self._file.fileno())
        if isinstance(line, Record):
            self.results.records[line.key] = line
        else:
            self.results.runs.append(line)

    def close(self) -> None:
        """Close the file, so that others may write it."""
        self._file.close()

    def _set_aside(self, tell: Callable[[str], None]) -> None:
        """Move an incomplete last line into a file beside this one."""
        aside = self.path.with_name(f"{self.path.name}.torn")
        with aside.open("ab") as torn:
            torn.write(self.results.torn + b"\n")
            torn.flush()
            os.fsync(torn.fileno())
        self._file.truncate(self.results.complete)
        tell(f"The last line of {self.path} was incomplete; it is now in {aside}, and is redone.")

    def _end_with_newline(self) -> None:
        end = self._file.seek(0, os.SEEK_END)
        if end:
            self._file.seek(end - 1)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")


def _open(path: Path) -> FileIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(path, "a+")
    except OSError as error:
        raise BadInput(
            f"The result file {path} cannot be written ({error.strerror}).",
            mend="Name another folder with --out.",
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise BadInput(
            f"Another process is writing {path}.",
            mend="Wait until it is done, or name another folder with --out.",
        ) from None
    file.seek(0)
    return file
