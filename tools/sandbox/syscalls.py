"""System calls that a confined program may not make (a seccomp filter).

There is no allow-list, since versions of the C library use different harmless calls. The filter
refuses calls that start processes, reach other processes, open sockets, or change more than this
program. It also refuses every call that is newer than the C library's fall-backs need.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Sequence
from typing import NamedTuple

from planweave.tools.sandbox import kernel

_MACHINES = {"x86_64": 0, "aarch64": 1, "arm64": 1}
_AUDIT = (0xC000003E, 0xC00000B7)
_SECCOMP = (317, 277)

# Numbers on x86_64 and aarch64, from the kernel's unistd.h; None: no such call.
_REFUSED: dict[str, tuple[int, int | None]] = {
    # other programs
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # the network
    "socket": (41, 198),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "prctl": (157, 167),  # would let it outlive its parent
    # the file system as a whole
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "fanotify_init": (300, 262),
    "inotify_init": (253, None),  # watches any path that it can name
    "inotify_init1": (294, 26),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # memory that outlives the program or escapes its limit
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "io_setup": (206, 0),  # takes from a small stock of the whole machine
    # the kernel
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "personality": (135, 92),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "acct": (163, 89),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
    "lookup_dcookie": (212, 18),
}
# Landlock does not cover these, so they are refused unless other files are hidden anyway.
_METADATA: dict[str, tuple[int, int | None]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}
_CLONE, _KILL, _TGKILL, _PRLIMIT = (56, 220), (62, 129), (234, 131), (302, 261)
_FCNTL, _IOCTL = (72, 25), (16, 29)
_FIRST_NEW = 424  # from here on numbers are the same on all machines
_NEW = (436, 439)  # close_range, faccessat2
_SEND_SIGNALS = (8, 10, 15)  # fcntl: F_SETOWN, F_SETSIG, F_SETOWN_EX
_IOCTLS = (0x5412, 0x541C, 0x8901, 0x8902)  # TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST = 0x15, 0x35
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24  # offsets in seccomp_data; little-endian arguments
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NOT_PERMITTED, _NO_SUCH_CALL = 0x00050001, 0x00050026  # EPERM, ENOSYS
_CLONE_THREAD = 0x10000
_X32 = 0x40000000


class _Step(NamedTuple):
    """One instruction of the filter: code, jump if true, jump if false, value."""

    code: int
    true: int
    false: int
    value: int


def refuse(*, metadata: bool, threads: bool) -> None:
    """Apply the filter permanently to this thread and all that it starts.

    Args:
        metadata: Allow changing modes, owners, times and attributes of files.
        threads: Allow starting threads.

    Raises:
        OSError: The kernel does not accept the filter.
    """
    machine = _MACHINES[platform.machine()]
    steps = _filter(machine, metadata=metadata, threads=threads)
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(steps), kernel.address(buffer))
    kernel.syscall(_SECCOMP[machine], 1, 0, program)  # SECCOMP_SET_MODE_FILTER


def _filter(machine: int, *, metadata: bool, threads: bool) -> list[_Step]:
    refused = [*_REFUSED.values(), *([] if metadata else _METADATA.values())]
    if not threads:
        refused.append(_CLONE)
    steps = [
        _Step(_LOAD, 0, 0, _ARCH),
        _Step(_EQUAL, 1, 0, _AUDIT[machine]),
        _Step(_RETURN, 0, 0, _KILL_PROCESS),
        _Step(_LOAD, 0, 0, _NUMBER),
        _Step(_AT_LEAST, 0, 1, _X32),
        _Step(_RETURN, 0, 0, _NO_SUCH_CALL),
        *(step for number in _NEW for step in _case(number, [_Step(_RETURN, 0, 0, _ALLOW)])),
        _Step(_AT_LEAST, 0, 1, _FIRST_NEW),
        _Step(_RETURN, 0, 0, _NO_SUCH_CALL),
    ]
    for pair in refused:
        number = pair[machine]
        if number is not None:
            steps += _case(number, [_Step(_RETURN, 0, 0, _NOT_PERMITTED)])
    steps += _case(
        _CLONE[machine],
        [
            _Step(_LOAD, 0, 0, _FIRST),
            _Step(_AND, 0, 0, _CLONE_THREAD),
            *_choice((_CLONE_THREAD,), then=_ALLOW, otherwise=_NOT_PERMITTED),
        ],
    )
    for pair, offset, values, then, otherwise in (
        (_KILL, _FIRST, (os.getpid(),), _ALLOW, _NOT_PERMITTED),
        (_TGKILL, _FIRST, (os.getpid(),), _ALLOW, _NOT_PERMITTED),
        (_PRLIMIT, _FIRST, (0,), _ALLOW, _NOT_PERMITTED),
        (_FCNTL, _SECOND, _SEND_SIGNALS, _NOT_PERMITTED, _ALLOW),
        (_IOCTL, _SECOND, _IOCTLS, _NOT_PERMITTED, _ALLOW),
    ):
        body = [_Step(_LOAD, 0, 0, offset), *_choice(values, then=then, otherwise=otherwise)]
        steps += _case(pair[machine], body)
    return [*steps, _Step(_RETURN, 0, 0, _ALLOW)]


def _case(number: int, body: list[_Step]) -> list[_Step]:
    """Run ``body``, which must return, for the call with this number."""
    return [_Step(_EQUAL, 0, len(body), number), *body]


def _choice(values: Sequence[int], *, then: int, otherwise: int) -> list[_Step]:
    """Return ``then`` if the loaded value is one of ``values``."""
    tests = [_Step(_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)]
    return [*tests, _Step(_RETURN, 0, 0, otherwise), _Step(_RETURN, 0, 0, then)]
