"""The endpoints of ``planweave serve``: each caller's runs are his own, counted as all others."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from offers import SCRIPT, WHOLE_RUN, scripted
from openai import OpenAI
from openai_server import Script
from serve import serving_planweave

from planweave.apps.server.people import digest

pytestmark = pytest.mark.server

KEYS = {name: f"key-of-{name}-with-enough-letters" for name in ("ann", "bob", "poor")}
ASKED: Any = [{"role": "user", "content": "Which offer is cheapest?"}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: Script) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("doors")
    (folder / "offers.sql").write_text(SCRIPT)
    context = {"model": model.name, "database": str(folder / "offers.sql")}
    (folder / "service.json").write_text(json.dumps({"context": context}))
    users: dict[str, dict[str, Any]] = {n: {"keys": [digest(key)]} for n, key in KEYS.items()}
    users["poor"]["max_tokens_a_day"] = 1
    (folder / "users.json").write_text(json.dumps(users))
    variables = {"PLANWEAVE_SERVICE": str(folder / "service.json")}
    options = ("--users", str(folder / "users.json"))
    with serving_planweave(folder, *options, **variables) as served:
        yield served.url


def client(server: str, name: str) -> OpenAI:
    return OpenAI(base_url=f"{server}/v1", api_key=KEYS.get(name, name), max_retries=0)


def test_a_completion_of_a_caller(server: str, model: Script) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    with client(server, "ann") as ann:
        stream = ann.chat.completions.create(model="planrag", messages=ASKED, stream=True)
        said = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert said == "It costs least. [1]\n\n**Birch**"


def test_another_callers_plan_cannot_be_approved(server: str, model: Script) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    settings = {"context": {"approve": True}}
    with client(server, "ann") as ann, client(server, "bob") as bob:
        asking = ann.chat.completions.create(model="planrag", messages=ASKED, extra_body=settings)
        assert asking.choices[0].message.tool_calls
        (call,) = asking.choices[0].message.tool_calls
        answer: Any = [*ASKED, {"role": "tool", "tool_call_id": call.id, "content": "yes"}]
        before = len(model.requests)
        with pytest.raises(openai.NotFoundError):
            bob.chat.completions.create(model="planrag", messages=answer, extra_body=settings)
        thread = str(asking.model_extra and asking.model_extra["planweave"]["thread"])
        with pytest.raises(openai.NotFoundError):
            bob.chat.completions.create(
                model="planrag", messages=ASKED, extra_body={"thread": thread}
            )
        assert len(model.requests) == before
        done = ann.chat.completions.create(model="planrag", messages=answer, extra_body=settings)
        assert "Birch" in (done.choices[0].message.content or "")
        with pytest.raises(openai.BadRequestError, match="Nothing waits"):
            ann.chat.completions.create(model="planrag", messages=answer, extra_body=settings)


def test_a_budget_holds_at_every_door(server: str, model: Script) -> None:
    model.answers[:] = scripted(*WHOLE_RUN)
    with client(server, "poor") as poor:
        poor.chat.completions.create(model="planrag", messages=ASKED)
        with pytest.raises(openai.RateLimitError):
            poor.chat.completions.create(model="planrag", messages=ASKED)
    message = {"messageId": "1", "role": "user", "parts": [{"text": "Which?"}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    reply = httpx.post(
        f"{server}/a2a/planrag", json=call, headers={"x-api-key": KEYS["poor"]}, timeout=60
    )
    assert "error" in reply.json()


def test_what_is_wrong_in_a_run_is_for_the_caller_to_fix(server: str) -> None:
    settings = {"context": {"collection": "ann/never-made"}}
    with client(server, "ann") as ann, pytest.raises(openai.BadRequestError, match="never-made"):
        ann.chat.completions.create(model="planrag", messages=ASKED, extra_body=settings)


def test_two_callers_may_name_a_context_alike(server: str, model: Script) -> None:
    message = {"contextId": "offers", "parts": [{"text": "Which offer is cheapest?"}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    for name in ("ann", "bob"):
        model.answers[:] = scripted(*WHOLE_RUN)
        headers = {"x-api-key": KEYS[name]}
        reply = httpx.post(f"{server}/a2a/planrag", json=call, headers=headers, timeout=60).json()
        assert reply["result"]["contextId"] == "offers"
        assert reply["result"]["status"]["state"] == "completed"
