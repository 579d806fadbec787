"""File-system rules that a process applies to itself (Landlock)."""

import os
import struct
from collections.abc import Sequence
from contextlib import suppress

from planweave.tools.sandbox import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on all machines
_VERSION = 3  # Linux 6.2: the first version that guards truncation
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_ALL = (1 << 15) - 1  # everything of version 3
_EXECUTE, _DEVICES = 1, 1 << 6 | 1 << 11  # character and block devices
_OF_FILES = 1 << 0 | 1 << 1 | _READ_FILE | 1 << 14
_TCP = 0b11  # bind and connect
_SCOPES = 0b11  # abstract Unix sockets, signals


def version() -> int:
    """The kernel's version of Landlock; 0 if it has none."""
    try:
        return kernel.syscall(_CREATE, None, 0, 1)
    except OSError:
        return 0


def restrict(readable: Sequence[str], writable: Sequence[str]) -> None:
    """Allow reading below ``readable``, everything below ``writable``, and no other file.

    If the kernel can, it also blocks TCP, signals to others and abstract Unix sockets.
    """
    found = version()
    if found < _VERSION:
        raise OSError(f"Landlock {found} is older than {_VERSION}")
    parts = [_ALL, *([_TCP] if found >= 4 else []), *([_SCOPES] if found >= 6 else [])]
    attributes = struct.pack(f"{len(parts)}Q", *parts)
    rules = kernel.syscall(_CREATE, attributes, len(attributes), 0)
    try:
        for path in readable:
            _allow(rules, path, _READ_FILE | _READ_FOLDER)
        for path in writable:
            _allow(rules, path, _ALL & ~_EXECUTE & ~_DEVICES)
        kernel.syscall(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights &= _ALL if os.path.isdir(path) else _OF_FILES
            kernel.syscall(_ADD, rules, 1, struct.pack("=Qi", rights, place), 0)
        finally:
            os.close(place)
