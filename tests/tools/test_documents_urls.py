"""URLs: fetched from the web, and from nowhere inside the user's network."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from http_server import Handler, listening

from planweave import BadInput
from planweave.tools.documents import urls
from planweave.tools.documents.collection import open_collection
from planweave.tools.documents.pages import read
from planweave.tools.documents.urls import fetch

PAGES = {
    "/report.txt": ("text/plain", b"One\fTwo"),
    "/page": ("text/html; charset=utf-8", b"<h1>Title</h1><p>Text</p>"),
    "/data.csv": ("application/octet-stream", b"a,b\n1,2"),
    "/wrong.pdf": ("text/html", b"<p>No PDF</p>"),
    "/picture": ("image/png", b"\x89PNG"),
    "/large.txt": ("text/plain", b"x" * 300_000),
    f"/{'%E6%B0%A2' * 100}.html": ("text/html", b"<p>Hydrogen</p>"),
    "/nothing%00.html": ("text/html", b"<p>Nothing</p>"),
}


class _Handler(Handler):
    def answer(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/to/"):
            self.reply(status=302, location=self.path.removeprefix("/to/"))
        elif path == "/loop":
            self.reply(status=302, location="/loop")
        elif path == "/slow":  # headers without end, a byte at a time
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
            with suppress(OSError):
                for _ in range(40):
                    time.sleep(0.1)
                    self.wfile.write(b"x")
        elif path == "/nowhere":
            self.reply(status=304)
        elif path in PAGES:
            kind, body = PAGES[path]
            self.reply(body, kind=kind)
        else:
            self.reply(status=404)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with listening(_Handler) as url:
        yield url


@pytest.fixture
def resolving(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let every name stand for these addresses."""

    def resolve(*addresses: str) -> None:
        def answer(host: str, port: int, **_: object) -> list[object]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", answer)

    return resolve


@cases(
    ("/report.txt", "report.txt", "One"),
    ("/page", "page.html", "# Title\nText"),
    ("/data.csv", "data.csv", "a | b\n1 | 2"),
    ("/wrong.pdf", "wrong.pdf.html", "No PDF"),
    ("/to//report.txt", "report.txt", "One"),
    ("/to//to//page", "page.html", "# Title\nText"),
)
def test_content_types_count(path: str, name: str, text: str, server: str, tmp_path: Path) -> None:
    fetched = fetch(server + path, tmp_path, private=True)
    assert fetched == tmp_path / name
    assert read(fetched).pages[0].text == text


@cases(
    ("{}/none", "answers with status 404"),
    ("{}/nowhere", "answers with status 304"),
    ("{}/picture", "is of the type image/png, which cannot be read"),
    ("{}/loop", "redirected more than 5 times"),
    ("{}/to/ftp://127.0.0.1/x", "is no web address"),
    ("{}/to/file:///etc/passwd", "is no web address"),
    ("ftp://example.com/a.txt", "is no web address"),
    ("file:///etc/passwd", "is no web address"),
    ("http://", "is no web address"),
    ("https://user:secret@example.com/a.txt", "holds a user name or password"),
    ("http://127.0.0.1:1/a.txt?token=secret", r"cannot be fetched \(ConnectError\)"),
)
def test_what_is_no_document(address: str, problem: str, server: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=problem) as raised:
        fetch(address.format(server), tmp_path, private=True)
    assert "secret" not in str(raised.value)


@cases(*(path for path in PAGES if "%" in path))
def test_a_name_that_no_file_can_have_is_cut(path: str, server: str, tmp_path: Path) -> None:
    fetched = fetch(server + path, tmp_path, private=True)
    assert read(fetched).pages[0].text in ("Hydrogen", "Nothing")
    assert fetched.parent == tmp_path


@cases(
    ("/large.txt", {"max_bytes": 1000}, "has more than 0 MB"),
    ("/large.txt", {"max_seconds": 0}, "did not arrive in time"),
    ("/slow", {"max_seconds": 0.3}, "did not arrive in time"),
)
def test_limits(
    path: str, limit: dict[str, Any], problem: str, server: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=problem):
        fetch(server + path, tmp_path, private=True, **limit)


@cases(
    *("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.9", "169.254.169.254", "0.0.0.0"),
    *("100.64.0.1", "224.0.0.1", "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::"),
    *("2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "::127.0.0.1", "::ffff:0:7f00:1"),
)
def test_addresses_inside_are_refused(
    address: str, resolving: Callable[..., None], tmp_path: Path
) -> None:
    resolving(address)
    with pytest.raises(BadInput, match="address of a private network or of this machine"):
        fetch("http://documents.example/report.txt", tmp_path)
    resolving("93.184.215.14", address)  # one of several is enough
    with pytest.raises(BadInput, match="address of a private network"):
        fetch("https://documents.example/report.txt", tmp_path)


@cases("127.0.0.1", "localhost", "[::1]", "2130706433", "127.1")
def test_this_machine_is_refused_however_it_is_written(host: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"private network|cannot be found"):
        fetch(f"http://{host}/report.txt", tmp_path)


@cases("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c")
def test_addresses_of_the_internet_are_none_of_ours(address: str) -> None:
    assert urls._is_public(ipaddress.ip_address(address))


def test_a_redirect_inside_is_refused(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [True, False]
    monkeypatch.setattr(urls, "_is_public", lambda _: answers.pop(0))
    with pytest.raises(BadInput, match="private network"):
        fetch(f"{server}/to//report.txt", tmp_path)
    assert not answers


def test_the_checked_address_is_the_one_that_is_asked(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def once(host: str, port: int, *_: object, **__: object) -> list[object]:
        asked.append(host)
        return [*real("127.0.0.1", port, type=socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", once)
    address = server.replace("127.0.0.1", "documents.example")
    assert fetch(f"{address}/report.txt", tmp_path, private=True).read_bytes() == b"One\fTwo"
    assert asked.count("documents.example") == 1


def test_a_url_is_added_to_a_collection(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word_search: None
) -> None:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path))
    web = open_collection("web", embeddings="words:1", create=True)
    with pytest.raises(BadInput, match="PLANWEAVE_PRIVATE_URLS"):
        web.add(f"{server}/page")
    monkeypatch.setenv("PLANWEAVE_PRIVATE_URLS", "true")
    assert [added.document for added in web.add(f"{server}/page")] == ["page.html"]
    assert web.add(f"{server}/page")[0].status == "unchanged"
    assert web.search("title")[0].text == "# Title\nText"
