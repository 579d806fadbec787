"""No user reads, finds, changes or ends what is another's, by whatever interface."""

import json
from collections.abc import Iterator
from typing import Any

import other_users
import pytest
from other_users import OWNER, SECRET, SPACE, THIEVES, Things
from starlette.testclient import TestClient
from tally import RecordTried

from planweave.apps.server.app import create_app
from planweave.apps.server.people import digest
from planweave.apps.server.routes import routes
from planweave.apps.server.settings import server_settings


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("served")
    users = {name: {"keys": [digest(f"key of {name}")]} for name in (OWNER, *THIEVES)}
    (folder / "users.json").write_text(json.dumps(users))
    with pytest.MonkeyPatch.context() as patch:
        for name, file in (("URL", "serve.sqlite"), ("USERS", "users.json")):
            patch.setenv(f"PLANWEAVE_SERVE_{name}", str(folder / file))
        patch.setenv("PLANWEAVE_STATE_DIR", str(folder / "state"))
        server_settings.cache_clear()
        with TestClient(create_app(), raise_server_exceptions=False) as page:
            yield page
    server_settings.cache_clear()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", THIEVES)
def test_nobody_gets_at_anothers_things(
    page: TestClient, record_tried: RecordTried, name: str
) -> None:
    owner, thief = ({"x-api-key": f"key of {one}"} for one in (OWNER, name))
    things = _things(page, owner)
    before = _told_to_the_owner(page, owner, things)
    assert before.count(SECRET) >= 4
    every, failed = other_users.tries(things, routes()), list[str]()
    for one in every:
        headers = thief | dict(one.headers or {})
        reply = page.request(
            one.method, one.path, json=one.json, params=one.params, headers=headers
        )
        if SECRET in reply.text or reply.status_code >= 500:
            failed.append(f"{reply.status_code}: {one}")
    record_tried(len(every), len(failed))
    assert not failed, "\n".join(failed[:20])
    assert _told_to_the_owner(page, owner, things) == before


def _things(page: TestClient, owner: dict[str, str]) -> Things:
    made = page.post("/threads", json={"metadata": {"secret": SECRET}}, headers=owner).json()
    thread = made["thread_id"]
    messages = [
        {"role": "user", "content": f"My secret is {SECRET}."},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "Hi!"},
    ]
    asked = {"assistant_id": "planrag", "input": {"messages": messages}}
    run = page.post(f"/threads/{thread}/runs", json=asked, headers=owner).json()["run_id"]
    assert page.get(f"/threads/{thread}/runs/{run}/join", headers=owner).is_success
    state = page.get(f"/threads/{thread}/state", headers=owner).json()
    item = {"namespace": SPACE, "key": "k", "value": {"secret": SECRET}}
    assert page.put("/store/items", json=item, headers=owner).is_success
    turn = {"tool": "sql", "input": "SELECT 1", "facts": [1], "problem": ""}
    judged = {"thread": thread, "task": "a", "question": SECRET, "turns": [turn], "right": True}
    kept = page.post("/studio/api/experience", json=judged, headers=owner).json()
    return Things(thread, run, state["checkpoint_id"], kept["key"])


def _told_to_the_owner(page: TestClient, owner: dict[str, str], things: Things) -> str:
    """All that the owner has, as text."""
    told: list[Any] = [
        page.get(path, headers=owner, params=params).json()
        for path, params in (
            (f"/threads/{things.thread}", None),
            (f"/threads/{things.thread}/state", None),
            (f"/threads/{things.thread}/history", None),
            (f"/threads/{things.thread}/runs/{things.run}", None),
            ("/store/items", {"namespace": ".".join(SPACE), "key": "k"}),
            ("/studio/api/experience", None),
        )
    ]
    told.append(page.post("/threads/count", json={}, headers=owner).json())
    return json.dumps(told)
