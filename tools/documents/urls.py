"""URLs: fetches a document from the public web only.

A host name may resolve to an address inside the user's own network, or to another address a moment
later. So it is resolved once, the addresses are checked, and the connection goes to the checked
address. Every redirect is treated like the first URL.
"""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from planweave import BadInput
from planweave.tools.documents.pages import KINDS, kind_of

_REDIRECTS = 5
_MAX_NAME_BYTES = 200  # bytes; file systems allow 255, and an ending may be added
_TIMEOUT = httpx.Timeout(20.0, connect=10.0)
_LATE = "The document at the URL did not arrive in time."
_IPV4_NETWORKS = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""The assigned part of IPv6."""
_KIND_OF_TYPE = {
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/plain": ".txt",
    "application/jsonl": ".jsonl",
    "application/x-ndjson": ".jsonl",
}
_GENERAL_TYPES = ("text/plain", "application/octet-stream", "application/gzip", "")


def is_url(source: str | Path) -> bool:
    """Whether a source is a web address, not a file."""
    return isinstance(source, str) and "://" in source


def fetch(
    url: str,
    folder: Path,
    *,
    max_bytes: int = 200_000_000,
    max_seconds: float = 120.0,
    private: bool = False,
) -> Path:
    """Fetch a document into ``folder``, under a name with the ending of its kind.

    ``private`` allows addresses of private networks and of this machine.
    """
    deadline = time.monotonic() + max_seconds
    try:
        for _ in range(_REDIRECTS + 1):
            with _request(url, deadline, private=private) as reply:
                if reply.has_redirect_location:
                    url = urljoin(url, reply.headers["location"])
                    continue
                if not reply.is_success:
                    raise BadInput(f"{_shown(url)} answers with status {reply.status_code}.")
                path = folder / _file_name(url, reply.headers.get("content-type", ""))
                _save(reply, path, max_bytes, deadline)
                return path
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        if time.monotonic() > deadline:
            raise BadInput(_LATE) from None
        raise BadInput(
            f"{_shown(url)} cannot be fetched ({type(error).__name__}).",
            fix="Check the address and the network.",
        ) from None
    raise BadInput(f"{_shown(url)} is redirected more than {_REDIRECTS} times.")


@contextmanager
def _request(url: str, deadline: float, *, private: bool) -> Iterator[httpx.Response]:
    """Request the URL from its checked address; the connection is cut off at the deadline."""
    place = _checked_url(url)
    address = _resolve(place.host, place.port or (443 if place.scheme == "https" else 80), private)
    headers = {
        "Host": place.netloc.decode("ascii"),
        "Accept-Encoding": "identity",  # a packed reply could unpack to any size
        "User-Agent": "planweave",
    }
    # No proxy of the environment: it would resolve the name again.
    with (
        _cut_off(deadline) as trace,
        httpx.Client(timeout=_TIMEOUT, trust_env=False) as client,
        client.stream(
            "GET",
            place.copy_with(host=address),
            headers=headers,
            extensions={"sni_hostname": place.host, "trace": trace},
        ) as reply,
    ):
        yield reply


@contextmanager
def _cut_off(deadline: float) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """Yield a listener that learns of the connection, which is shut down at the deadline.

    The time limit of each read would let a server send its headers for days, byte by byte.
    """
    sockets: list[socket.socket] = []

    def cut() -> None:
        for one in sockets:
            with suppress(OSError):  # it is closed, or has become part of an encrypted one
                one.shutdown(socket.SHUT_RDWR)

    def heard(event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            sockets.append(info["return_value"].get_extra_info("socket"))
            if time.monotonic() > deadline:
                cut()

    timer = Timer(max(deadline - time.monotonic(), 0), cut)
    timer.daemon = True
    timer.start()
    try:
        yield heard
    finally:
        timer.cancel()


def _checked_url(url: str) -> httpx.URL:
    place = httpx.URL(url)
    if place.scheme not in ("http", "https") or not place.host:
        raise BadInput(
            f"{_shown(url)} is no web address.",
            fix="Give an http:// or https:// URL, or a file.",
        )
    if place.userinfo:
        raise BadInput(
            "The URL of a document holds a user name or password, and would be stored with it.",
            fix="Fetch the file yourself and add it.",
        )
    return place


def _resolve(host: str, port: int, private: bool) -> str:
    """The address of ``host``; an error unless it is public or ``private`` allows it."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadInput(
            f"The host {host} cannot be found.", fix="Check the address and the network."
        ) from None
    addresses = [ipaddress.ip_address(str(entry[4][0])) for entry in found]
    if not private and not all(map(_is_public, addresses)):
        raise BadInput(
            f"The host {host} is an address of a private network or of this machine.",
            fix="Fetch the file yourself and add it, or set PLANWEAVE_PRIVATE_URLS=true.",
        )
    return str(addresses[0])


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and (inner := _embedded_ipv4(address)):
        return _is_public(inner)
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False  # such as 64:ff9b:1::/48 and ::ffff:0:0:0/96, which lead to IPv4 addresses
    return address.is_global and not address.is_multicast


def _embedded_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to."""
    if any(address in network for network in _IPV4_NETWORKS):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _file_name(url: str, content_type: str) -> str:
    """A file name from the URL, with the ending for the content type."""
    place = urlsplit(url)
    last = _shorten_name(Path(unquote(place.path)).name) or place.hostname or "page"
    kind = content_type.partition(";")[0].strip().lower()
    known = kind_of(Path(last))
    if known and kind in _GENERAL_TYPES:
        return last
    ending = _KIND_OF_TYPE.get(kind)
    if ending is None:
        raise BadInput(
            f"{_shown(url)} is of the type {kind or 'unknown'}, which cannot be read.",
            fix=f"Known are {', '.join(KINDS)}.",
        )
    return last if known == ending else f"{last}{ending}"


def _shorten_name(name: str) -> str:
    """A name, or its end, that a file system accepts."""
    plain = name.replace("\0", "")
    return plain.encode("utf-8", "replace")[-_MAX_NAME_BYTES:].decode("utf-8", "ignore")


def _save(reply: httpx.Response, path: Path, max_bytes: int, deadline: float) -> None:
    size = 0
    with path.open("wb") as file:
        for block in reply.iter_raw():
            size += len(block)
            if size > max_bytes:
                raise BadInput(f"The document at the URL has more than {max_bytes / 1e6:,.0f} MB.")
            file.write(block)
    if time.monotonic() > deadline:  # it may have been cut off
        raise BadInput(_LATE)


def _shown(url: str) -> str:
    """The URL without its query and fragment."""
    return url.partition("?")[0].partition("#")[0]
