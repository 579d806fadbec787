"""Files of JSON lines: reads published ones, and appends to our own safely, line by line."""

import fcntl
import json
import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import platformdirs
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from planweave import BadInput
from planweave.records import read_records, writing
from planweave.texts import digest

Line = TypeVar("Line", bound=BaseModel)


def read_published(path: Path) -> list[dict[str, Any]]:
    """Read the records of a published file, with any fields; see :func:`read_records`."""
    fix = "Give a published file of JSON lines, plain or with gzip, or its folder."
    return read_records(path, dict[str, Any], fix=fix)


def cache_script(name: str, text: str, ending: str) -> Path:
    """Write the script of a database to the cache folder, unless it is there; return its path."""
    folder = platformdirs.user_cache_path("planweave") / "bench"
    path = folder / f"{name}-{digest(text)}.{ending}"
    if not path.exists():
        part = path.with_suffix(f".{os.getpid()}.part")
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8")
            part.replace(path)
    return path


class Parsed(NamedTuple, Generic[Line]):
    """The contents of a file."""

    lines: list[Line]
    torn: bytes  # bytes of an incomplete last line; empty if there is none
    complete: int  # length in bytes of the part before it


def read_lines(path: Path, form: TypeAdapter[Line]) -> Parsed[Line]:
    """Read a file of lines of one form."""
    try:
        return parse(path, path.read_bytes(), form)
    except OSError as error:
        raise BadInput(
            f"The file {path} cannot be read ({error.strerror}).", fix="Check the path."
        ) from None


def parse(path: Path, data: bytes, form: TypeAdapter[Line]) -> Parsed[Line]:
    """Parse lines of one form."""
    read: list[Line] = []
    complete = 0
    lines = data.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            read.append(form.validate_json(line))
        except ValidationError:
            if number == len(lines):
                return Parsed(read, line, complete)
            raise BadInput(
                f"The file {path} is damaged in line {number}; nothing was changed.",
                fix="Restore the file, or move that line elsewhere and run again to redo it.",
            ) from None
        complete += len(line)
    return Parsed(read, b"", complete)


class LineFile(Generic[Line]):
    """A file of lines that only this process appends to; created if missing."""

    def __init__(self, path: Path, form: TypeAdapter[Line], notify: Callable[[str], None]) -> None:
        self.path = path
        self._file = _open(path)
        try:
            parsed = parse(path, self._file.read(), form)
            if parsed.torn:
                self._move_incomplete_line(parsed, notify)
            self._end_with_newline()
        except BaseException:
            self._file.close()
            raise
        self.lines = parsed.lines

    def append(self, line: Line) -> None:
        """Write one line and wait until it is on the disk."""
        rest = _to_json(line) + b"\n"
        while rest:
            rest = rest[self._file.write(rest) :]
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, so that other processes may write it."""
        self._file.close()

    def _move_incomplete_line(self, parsed: Parsed[Line], notify: Callable[[str], None]) -> None:
        """Move an incomplete last line to a file next to this one."""
        aside = self.path.with_name(f"{self.path.name}.torn")
        with aside.open("ab") as torn:
            torn.write(parsed.torn + b"\n")
            torn.flush()
            os.fsync(torn.fileno())
        self._file.truncate(parsed.complete)
        notify(f"The last line of {self.path} was incomplete; it is now in {aside}, and is redone.")

    def _end_with_newline(self) -> None:
        end = self._file.seek(0, os.SEEK_END)
        if end:
            self._file.seek(end - 1)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")


def _to_json(line: BaseModel) -> bytes:
    """A line as JSON; lone surrogates, which UTF-8 cannot encode, are replaced."""
    try:
        return line.model_dump_json().encode()
    except PydanticSerializationError:
        return json.dumps(line.model_dump(mode="json"), ensure_ascii=False).encode(errors="replace")


def _open(path: Path) -> FileIO:
    with writing(path, fix="Choose another place for it (--out; --votes in the arena)."):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(path, "a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise BadInput(
            f"Another process is writing {path}.",
            fix="Wait until it is done, or choose another place (--out; --votes in the arena).",
        ) from None
    file.seek(0)
    return file
