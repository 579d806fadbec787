"""URLs: fetches a document from the web, and from nowhere else.

A name may stand for an address inside the user's own network, and may stand for another one a
moment later. So it is resolved once, the addresses are checked, and the connection goes to the
address that was checked; every redirect is treated like the first URL.
"""

import ipaddress
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from planweave import BadInput
from planweave.tools.documents.pages import KINDS, kind_of

_REDIRECTS = 5
_LONGEST_NAME = 200  # bytes; file systems allow 255, and an ending may be added
_PATIENCE = httpx.Timeout(20.0, connect=10.0)
_AROUND_IPV4 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that is given out of IPv6."""
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
    """Whether a source names a place in the web, not a file."""
    return isinstance(source, str) and "://" in source


def fetch(
    url: str,
    folder: Path,
    *,
    max_bytes: int = 200_000_000,
    max_seconds: float = 120.0,
    private: bool = False,
) -> Path:
    """Fetch a document into ``folder``, under a name that says its kind.

    Only if ``private`` may the address be one of a private network or of this machine.
    """
    deadline = time.monotonic() + max_seconds
    try:
        for _ in range(_REDIRECTS + 1):
            with _get(url, private=private) as reply:
                if reply.has_redirect_location:
                    url = urljoin(url, reply.headers["location"])
                    continue
                if not reply.is_success:
                    raise BadInput(f"{_shown(url)} answers with status {reply.status_code}.")
                path = folder / _name(url, reply.headers.get("content-type", ""))
                _save(reply, path, max_bytes, deadline)
                return path
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise BadInput(
            f"{_shown(url)} cannot be fetched ({type(error).__name__}).",
            fix="Check the address and the network.",
        ) from None
    raise BadInput(f"{_shown(url)} is redirected more than {_REDIRECTS} times.")


@contextmanager
def _get(url: str, *, private: bool) -> Iterator[httpx.Response]:
    """Ask the checked address, under the name that the URL gives it."""
    place = _checked_url(url)
    address = _address(place.host, place.port or (443 if place.scheme == "https" else 80), private)
    headers = {
        "Host": place.netloc.decode("ascii"),
        "Accept-Encoding": "identity",  # packed replies could unpack to anything
        "User-Agent": "planweave",
    }
    # No proxy of the environment either: it would resolve the name once more.
    with (
        httpx.Client(timeout=_PATIENCE, trust_env=False) as client,
        client.stream(
            "GET",
            place.copy_with(host=address),
            headers=headers,
            extensions={"sni_hostname": place.host},
        ) as reply,
    ):
        yield reply


def _checked_url(url: str) -> httpx.URL:
    place = httpx.URL(url)
    if place.scheme not in ("http", "https") or not place.host:
        raise BadInput(
            f"{_shown(url)} is no web address.", fix="Give an http:// or https:// URL, or a file."
        )
    if place.userinfo:
        raise BadInput(
            "The URL of a document holds a user name or password, and would be stored with it.",
            fix="Fetch the file yourself and add it.",
        )
    return place


def _address(host: str, port: int, private: bool) -> str:
    """The address that ``host`` stands for, if it is one of the public internet."""
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
    if isinstance(address, ipaddress.IPv6Address) and (inner := _inner(address)):
        return _is_public(inner)
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False  # such as 64:ff9b:1::/48 and ::ffff:0:0:0/96, which lead to IPv4 addresses
    return address.is_global and not address.is_multicast


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to."""
    if any(address in network for network in _AROUND_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _name(url: str, content_type: str) -> str:
    """A file name from the URL, with the ending that the content type asks for."""
    place = urlsplit(url)
    last = _fitting(Path(unquote(place.path)).name) or place.hostname or "page"
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


def _fitting(name: str) -> str:
    """A name, or its end, as a file system takes it."""
    plain = name.replace("\0", "")
    return plain.encode("utf-8", "replace")[-_LONGEST_NAME:].decode("utf-8", "ignore")


def _save(reply: httpx.Response, path: Path, max_bytes: int, deadline: float) -> None:
    size = 0
    with path.open("wb") as file:
        for block in reply.iter_raw():
            size += len(block)
            if size > max_bytes:
                raise BadInput(f"The document at the URL has more than {max_bytes / 1e6:,.0f} MB.")
            if time.monotonic() > deadline:
                raise BadInput("The document at the URL did not arrive in time.")
            file.write(block)


def _shown(url: str) -> str:
    """The URL without what may be secret in it."""
    return url.partition("?")[0].partition("#")[0]
