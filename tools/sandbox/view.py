"""A confined program's view of the machine: its own namespaces and file system."""

import os
import struct
import sys
from contextlib import suppress

from planweave.tools.sandbox import kernel

_NEW_NAMESPACES = (
    0x00020000  # mounts
    | 0x02000000  # control groups
    | 0x04000000  # host name
    | 0x08000000  # System V IPC
    | 0x20000000  # process numbers, for the next child
    | 0x40000000  # network: not even loopback is up
)
_NEW_USERS = 0x10000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXECUTION, _REMOUNT = 1, 2, 4, 8, 32
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_RECURSIVE, _AT_FDCWD = 442, 0x8000, -100
HOST = "sandbox"
"""The host name that the program sees."""
DEVICES = ("/dev/null", "/dev/urandom")
WORK = "/tmp"  # noqa: S108 - a file system of the program's own, not the machine's


def runtime() -> list[str]:
    """The files of Python, its standard library, and the system's libraries."""
    paths = {
        *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/nix/store"),
        "/usr/share/zoneinfo",
        os.path.join(sys.base_prefix, "lib"),
        *(path for path in sys.path if os.path.isabs(path)),
    }
    return sorted(path for path in paths if os.path.exists(path))


def enter(root: str, size: int, entries: int) -> None:
    """Leave the machine's namespaces; children started afterwards get new process numbers.

    ``/``, mounted on the empty folder ``root``, then contains the runtime, read-only, and
    :data:`WORK`, a file system in memory of ``size`` bytes and ``entries``.

    Raises:
        OSError: The kernel does not let this user make namespaces.
    """
    _leave_namespaces()
    kernel.set_host_name(HOST)
    kernel.mount(None, "/", None, _RECURSIVE | _PRIVATE)
    kernel.mount("tmpfs", root, "tmpfs", _NO_SETUID | _NO_DEVICES, "size=1m,mode=755")
    for path in runtime():
        _show(root, path)
    for path in DEVICES:
        _bind(path, root + path)
    os.mkdir(root + WORK)
    kernel.mount(
        *("tmpfs", root + WORK, "tmpfs", _NO_SETUID | _NO_DEVICES | _NO_EXECUTION),
        f"size={size},nr_inodes={entries},mode=777",
    )
    kernel.pivot_root(root)
    kernel.mount(None, "/", None, _REMOUNT | _BIND | _READ_ONLY | _NO_SETUID | _NO_DEVICES)
    os.chdir(WORK)


def _leave_namespaces() -> None:
    """Leave the namespaces; root needs no user namespace, and can then change its user."""
    with suppress(PermissionError):
        kernel.unshare(_NEW_NAMESPACES)
        return
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(_NEW_NAMESPACES | _NEW_USERS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _show(root: str, path: str) -> None:
    """Show ``path`` read-only below ``root``; a link appears as a link, with its target."""
    real = os.path.realpath(path)
    if real != path and not os.path.lexists(root + path):
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        os.symlink(real, root + path)
    if not os.path.exists(root + real):
        _bind(real, root + real)
        attributes = struct.pack("4Q", _READ_ONLY | _NO_SETUID | _NO_DEVICES, 0, 0, 0)
        words = (os.fsencode(root + real), _AT_RECURSIVE, attributes, len(attributes))
        kernel.syscall(_MOUNT_SETATTR, _AT_FDCWD, *words)


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "x"):
            pass
    kernel.mount(source, target, None, _BIND | _RECURSIVE)
