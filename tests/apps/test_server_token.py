"""The token of the one-person server: who has it comes in by every interface, and nobody else."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cases import cases
from serve import Served, serving_planweave
from waiting import wait_until

pytestmark = pytest.mark.server

TOKEN = "the-token-of-this-test"
HI: Any = {"messages": [{"role": "user", "content": "Hello!"}]}
SAID = {"message": {"parts": [{"text": "Hello!"}]}}
TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
STREAM = {"accept": "application/json, text/event-stream"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": SAID}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("token")
    with serving_planweave(folder, PLANWEAVE_SERVE_TOKEN=TOKEN) as server:
        yield server


@cases(
    ("GET", "/info"),
    ("GET", "/metrics"),
    ("POST", "/threads"),
    ("POST", "/runs/wait"),
    ("POST", "/store/items/search"),
    ("GET", "/v1/models"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/mcp"),
    ("POST", "/a2a/planrag"),
    ("GET", "/studio/api/methods"),
    ("POST", "/studio/api/databases"),
)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": "wrong"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": f"planweave={TOKEN}"},
    ],
)
def test_nobody_comes_in_without_it(
    method: str, path: str, server: Served, headers: dict[str, str]
) -> None:
    reply = httpx.request(method, f"{server.url}{path}", headers=headers, json={}, timeout=60)
    assert (reply.status_code, TOKEN in reply.text) == (401, False)


def test_the_page_is_open_and_its_link_brings_a_cookie(server: Served) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as browser:
        assert browser.get("/studio/").status_code == 200
        assert browser.get("/studio/?token=wrong").status_code == 200
        assert browser.get("/studio/api/methods").status_code == 401
        link = browser.get(f"/studio/?a=1&token={TOKEN}")
        assert (link.status_code, link.headers["location"]) == (303, "/studio/?a=1")
        cookie = link.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert browser.get("/studio/api/methods").status_code == 200
        assert browser.post("/runs/wait", json={"assistant_id": "rat", "input": HI}).is_success
        for page in (
            {"origin": "http://localhost:3000"},
            {"origin": "https://smith.langchain.com"},
            {"sec-fetch-site": "same-site"},
            {"sec-fetch-site": "cross-site"},
        ):  # a page of another port, to which the browser gives the cookie as well
            assert browser.get("/studio/api/methods", headers=page).status_code == 401
        for page in ({"origin": server.url}, {"sec-fetch-site": "same-origin"}):
            assert browser.get("/studio/api/methods", headers=page).status_code == 200
    assert TOKEN not in server.log.read_text()


def test_a_link_leads_to_no_other_host(server: Served) -> None:
    reply = httpx.get(f"{server.url}//evil.example/?token={TOKEN}", timeout=60)
    assert reply.headers["location"] == "/evil.example/"


@cases({"x-api-key": TOKEN}, {"authorization": f"Bearer {TOKEN}"})
def test_every_interface_takes_it(headers: dict[str, str], server: Served) -> None:
    with httpx.Client(base_url=server.url, headers=headers, timeout=60) as client:
        for path in ("/info", "/metrics", "/v1/models", "/studio/api/methods"):
            assert client.get(path).status_code == 200
        done = client.post("/runs/wait", json={"assistant_id": "planrag", "input": HI}).json()
        assert done["messages"][-1]["content"].startswith("Hello")
        sent = client.post("/a2a/planrag", json=CALL).json()
        assert sent["result"]["status"]["state"] == "completed"
        tools = client.post("/mcp", json=TOOLS, headers=STREAM)
        assert (tools.status_code, '"planrag"' in tools.text) == (200, True)


def test_the_page_is_opened_with_a_token_that_every_worker_has(tmp_path: Path) -> None:
    opened = tmp_path / "opened.txt"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o700)
    given = {"PLANWEAVE_SERVE_TOKEN": "", "BROWSER": f"{browser} %s"}
    with serving_planweave(tmp_path, "--open", "--workers", "2", **given) as server:
        wait_until(lambda: opened.exists() and opened.read_text())
        (page,) = re.findall(r"studio: (http\S+)", server.log.read_text())
        assert opened.read_text().strip() == page
        assert page.startswith(f"{server.url}/studio/?token=")
        with httpx.Client(base_url=server.url, follow_redirects=True, timeout=60) as caller:
            assert {caller.get("/info").status_code for _ in range(8)} == {401}
            assert caller.get(page).status_code == 200
            assert {caller.get("/info").status_code for _ in range(8)} == {200}
