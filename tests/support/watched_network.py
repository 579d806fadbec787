"""Runs a program in a network of its own, where all it sends is seen and nothing leaves it.

The network is a namespace (Linux) whose only device is loopback, to which every IPv4 address is
routed. Of IPv6 only the look-ups of names are seen: there is no route for the rest.
"""

import ctypes
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_UNSHARE = ("unshare", "--user", "--map-root-user", "--net")
_SET_FLAGS, _ADD_ROUTE = 0x8914, 0x890B  # SIOCSIFFLAGS, SIOCADDRT
_UP_AND_RUNNING, _ROUTE_UP = 0x41, 0x1
_ALL_PACKETS, _IPV4, _IPV6 = 3, 0x0800, 0x86DD
_TRANSPORT = {6: "tcp", 17: "udp"}
_ENOUGH = "PLANWEAVE_WATCH_ENOUGH"
_NAMES = 53  # the port of name servers
_LINGER = 0.2  # seconds for packets that are under way


@dataclass(frozen=True)
class Watched:
    """How a program ended, what it printed, and where it sent something beyond loopback."""

    code: int
    output: str
    sent: list[str]


def why_not() -> str:
    """Why no program can be watched here; empty if one can."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return "network namespaces need Linux and the program unshare"
    tried = subprocess.run(
        [*_UNSHARE, sys.executable, __file__, os.devnull, "true"],
        check=False,
        capture_output=True,
        text=True,
    )
    return f"no network namespace can be made here: {tried.stderr[-300:]}" * bool(tried.returncode)


def watched(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    seconds: float = 240,
    enough: str = "",
) -> Watched:
    """Run a program to its end.

    Args:
        command: The program and its arguments.
        folder: Its working folder.
        environment: All its variables.
        seconds: How long it may take.
        enough: It is ended when it has sent something to where this name is part of.
    """
    seen = folder / "sent.json"
    run = subprocess.run(
        [*_UNSHARE, sys.executable, __file__, str(seen), *command],
        check=False,
        cwd=folder,
        env={**environment, _ENOUGH: enough},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )
    return Watched(run.returncode, run.stdout, json.loads(seen.read_text()))


def main() -> None:
    """Inside the namespace: watch what a command sends, and write it to a file."""
    _open_loopback()
    sent: dict[str, None] = {}
    device = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PACKETS))
    threading.Thread(target=_watch, args=(device, sent), daemon=True).start()
    enough = os.environ.pop(_ENOUGH, "")
    with subprocess.Popen(sys.argv[2:]) as process:
        while process.poll() is None:
            time.sleep(0.05)
            if enough and enough in " ".join([*sent]):
                process.kill()
    time.sleep(_LINGER)
    Path(sys.argv[1]).write_text(json.dumps([*sent]))
    sys.exit(process.returncode)


def _open_loopback() -> None:
    name = ctypes.create_string_buffer(b"lo", 16)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))
        nowhere = struct.pack("H14x", socket.AF_INET)
        route = struct.pack(
            "L16s16s16sHhLPhPLLH",
            *(0, nowhere, nowhere, nowhere, _ROUTE_UP, 0, 0, 0, 0),
            *(ctypes.addressof(name), 0, 0, 0),
        )
        fcntl.ioctl(control, _ADD_ROUTE, route)


def _watch(device: socket.socket, sent: dict[str, None]) -> None:
    while True:
        packet, (_, protocol, *_) = device.recvfrom(65_535)
        if told := _told(packet, protocol):
            sent[told] = None


def _told(packet: bytes, protocol: int) -> str:
    """What a packet is that goes beyond loopback or asks for a name; empty for others."""
    if protocol == _IPV4:
        kind, target, rest = packet[9], packet[16:20], packet[(packet[0] & 15) * 4 :]
        is_near = target[0] == 127
        address = socket.inet_ntop(socket.AF_INET, target)
    elif protocol == _IPV6:
        kind, target, rest = packet[6], packet[24:40], packet[40:]
        address = socket.inet_ntop(socket.AF_INET6, target)
        is_near = address == "::1"
    else:
        return ""
    if kind not in _TRANSPORT or len(rest) < 4:
        return ""
    port = int.from_bytes(rest[2:4])
    if port != _NAMES and is_near:
        return ""
    asked = f" {_name(rest[8:])}" if kind == 17 and port == _NAMES else ""
    return f"{_TRANSPORT[kind]} {address} {port}{asked}"


def _name(question: bytes) -> str:
    """The name that a name server is asked for."""
    labels, place = [], 12
    while place < len(question) and (length := question[place]):
        labels.append(question[place + 1 : place + 1 + length].decode("latin-1"))
        place += 1 + length
    return ".".join(labels)


if __name__ == "__main__":
    main()
