"""Linux system calls that Python 3.11 lacks."""

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITIES_V3 = 0x20080522


def syscall(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call by its number; bytes are passed by their address.

    Raises:
        OSError: The kernel refused it.
    """
    words = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    return _checked(int(_LIBC.syscall(ctypes.c_long(number), *words)))


def address(data: "ctypes.Array[ctypes.c_char]") -> int:
    """The address of a buffer; keep the buffer while the address is in use."""
    return ctypes.addressof(data)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system, or change a mount, by the flags of the manual page."""
    words = (os.fsencode(one) if one else None for one in (source, target, kind))
    _checked(_LIBC.mount(*words, ctypes.c_ulong(flags), data.encode() or None))


def pivot_root(root: str) -> None:
    """Make a mounted folder the root of the file system, and detach the old root."""
    os.chdir(root)
    _checked(_LIBC.pivot_root(b".", b"."))
    _checked(_LIBC.umount2(b".", 2))  # MNT_DETACH: the old root lies over the new one
    os.chdir("/")


def unshare(flags: int) -> None:
    """Move into new namespaces, by the flags of the manual page."""
    _checked(_LIBC.unshare(flags))


def set_host_name(name: str) -> None:
    """Set the host name in this namespace."""
    word = os.fsencode(name)
    _checked(_LIBC.sethostname(word, ctypes.c_size_t(len(word))))
    _checked(_LIBC.setdomainname(b"", ctypes.c_size_t(0)))


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def renounce() -> None:
    """Give up every capability, and the way to regain them through set-uid programs."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    _checked(_LIBC.capset(header, (ctypes.c_uint32 * 6)()))


def _prctl(option: int, value: int) -> None:
    words = (ctypes.c_ulong(one) for one in (value, 0, 0, 0))
    _checked(_LIBC.prctl(option, *words))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
