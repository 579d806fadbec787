"""Reads files of records, plain or packed, and writes files; reports errors in one sentence."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import TypeAdapter, ValidationError

from planweave.errors import BadInput, place_and_reason

Form = TypeVar("Form")

_UNPACK: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
_MOST = 1_000_000_000


def read_records(
    path: Path,
    form: type[Form],
    *,
    fix: str,
    opened: BinaryIO | None = None,
    most: int | None = None,
) -> list[Form]:
    """The records of a file: JSON lines, or one JSON array of objects.

    The file is packed if it ends in ``.gz`` or ``.xz``. Unpacked, it may have ``most`` bytes, by
    default a gigabyte. ``opened`` is read instead of ``path``, which then only gives the name.
    ``fix`` tells the user of an error which file to give.
    """
    text = read_text(path, fix=fix, opened=opened, most=most)
    if text.lstrip().startswith("["):
        every: TypeAdapter[list[Form]] = TypeAdapter(list[form])  # type: ignore[valid-type]
        return _validate(every, text, str(path), fix)
    one = TypeAdapter(form)
    return [
        _validate(one, line, f"Line {number} of {path}", fix)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def read_object(path: Path, form: type[Form], *, fix: str) -> Form:
    """The single JSON value of a file; see :func:`read_records`."""
    return _validate(TypeAdapter(form), read_text(path, fix=fix), str(path), fix)


def read_text(
    path: Path, *, fix: str, opened: BinaryIO | None = None, most: int | None = None
) -> str:
    """A whole file as text; see :func:`read_records`."""
    most = most or _MOST
    unpack = _UNPACK.get(path.suffix)
    try:
        with nullcontext(opened) if opened else path.open("rb") as packed:
            raw: bytes = (unpack(packed) if unpack else packed).read(most + 1)
        if len(raw) > most:
            raise BadInput(f"The file {path} holds more than {most // 10**6} MB.", fix="Split it.")
        return raw.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error, lzma.LZMAError) as error:
        kind = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "damaged"
        reason = getattr(error, "strerror", None) or f"it is {kind}"
        raise BadInput(f"The file {path} cannot be read ({reason}).", fix=fix) from None


@contextmanager
def writing(path: Path, *, fix: str = "Name another folder.") -> Iterator[None]:
    """Report in one sentence that a file or folder cannot be written in this block."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror}).", fix=fix) from None


def _validate(form: TypeAdapter[Form], text: str, where: str, fix: str) -> Form:
    try:
        return form.validate_json(text)
    except ValidationError as error:
        names, reason = place_and_reason(error)
        if names and isinstance(names[0], int):
            where = f"Record {names.pop(0) + 1} of {where}"
        field = ".".join(map(str, names)) or "record"
        raise BadInput(f"{where} is not as it should be ({field}: {reason}).", fix=fix) from None
