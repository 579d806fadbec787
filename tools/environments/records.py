"""Files of data: JSON lines, plain or packed."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from planweave import BadInput

Model = TypeVar("Model", bound=BaseModel)

_OPEN: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
_MOST = 1 << 30  # bytes of a file, unpacked


def read_records(path: Path, model: type[Model]) -> list[Model]:
    """The records of a file with a JSON object a line; ``.gz`` and ``.xz`` are unpacked.

    Raises:
        BadInput: The file cannot be read, or a line is no such record.
    """
    text = read_text(path)
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(model.model_validate_json(line))
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, wrong["loc"])) or "record"
            raise BadInput(
                f"Line {number} of {path} is not as it should be ({field}: {wrong['msg']}).",
                mend="Compare it with the format in docs/instruct-rag.md.",
            ) from None
    return records


def read_text(path: Path) -> str:
    """A whole file as text, unpacked.

    Raises:
        BadInput: It cannot be read, or holds more than a gigabyte.
    """
    try:
        with _OPEN.get(path.suffix, open)(path, "rb") as file:
            raw: bytes = file.read(_MOST + 1)
        if len(raw) > _MOST:
            raise BadInput(f"The file {path} holds more than a gigabyte.", mend="Split it.")
        return raw.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise BadInput(
            f"The file {path} cannot be read ({reason}).",
            mend="Name the data of the environment with --data.",
        ) from None
