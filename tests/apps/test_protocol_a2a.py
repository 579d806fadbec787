"""The methods as A2A agents: both versions of the protocol, streams, contexts, approval."""

import json
from typing import Any

import httpx
import pytest
from cases import cases
from endpoints import QUERY, Operator, followed_up, whole_run
from scripted import Replies

MODERN, OLD = ("SendMessage", "SendStreamingMessage"), ("message/send", "message/stream")
Json = dict[str, Any]


def call(method: str, text: str, **more: Any) -> Json:
    message = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": text}], **more}
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": message}}


def send(address: str, body: Json, name: str = "planrag") -> Json:
    reply = httpx.post(f"{address}/a2a/{name}", json=body, timeout=30)
    assert reply.status_code == 200
    answered: Json = reply.json()
    assert answered["id"] == body.get("id")
    return answered


def test_the_card_tells_where_both_versions_answer(address: str, operator: Operator) -> None:
    operator.offers(Replies(), more={"methods": ["planrag"]})
    card = httpx.get(f"{address}/a2a/planrag/.well-known/agent-card.json", timeout=60).json()
    assert card["url"] == f"{address}/a2a/planrag"
    assert [one["protocolVersion"] for one in card["supportedInterfaces"]] == ["1.0", "0.3"]
    assert card["skills"][0]["id"] == "planrag"
    other = f"{address}/a2a/rat/.well-known/agent-card.json"
    assert httpx.get(other, timeout=60).status_code == 404


@pytest.mark.usefixtures("offered")
@cases((MODERN, "TASK_STATE_COMPLETED", {}), (OLD, "completed", {"kind": "text"}))
def test_a_message_is_answered(
    version: tuple[str, str], state: str, kind: Json, address: str
) -> None:
    nulls = dict.fromkeys(("contextId", "taskId", "metadata"))
    result = send(address, call(version[0], "Which is cheapest?", **nulls))["result"]
    assert version == MODERN or result["kind"] == "task"
    task = result["task"] if version == MODERN else result
    assert task["status"]["state"] == state
    said, data = task["artifacts"][0]["parts"]
    assert said == kind | {"text": "**birch**\n\nIt is best. [1]"}
    assert data["data"]["answer"]["decision"] == "birch"
    assert data["data"]["answer"]["verdict"]["kind"] == "supported"
    assert QUERY in data["data"]["facts"][0]["source"]


@pytest.mark.usefixtures("offered")
@cases(MODERN[1], OLD[1])
def test_a_stream_tells_the_steps(method: str, address: str) -> None:
    events = []
    body = call(method, "Which is cheapest?")
    with httpx.stream("POST", f"{address}/a2a/planrag", json=body, timeout=30) as reply:
        for line in reply.iter_lines():
            if line.startswith("data: "):
                result = json.loads(line.removeprefix("data: "))["result"]
                kind = result.pop("kind", "")
                events.append((kind, result) if kind else next(iter(result.items())))
    kinds = [kind.replace("-u", "U") for kind, _ in events]
    assert kinds[0] == "task"
    assert kinds[-2:] == ["artifactUpdate", "statusUpdate"]
    steps = [event["status"]["message"]["parts"][0]["text"] for _, event in events[1:-2]]
    assert any("Find the cheapest offer." in step for step in steps)
    assert any("5.25" in step for step in steps)
    last = events[-1][1]
    assert last["status"]["state"] in ("TASK_STATE_COMPLETED", "completed")
    assert last.get("final", True)


@cases("", "a context of the caller's")
def test_a_context_keeps_facts(context: str, address: str, operator: Operator, offers: str) -> None:
    operator.offers(followed_up(), database=offers)
    named = {"contextId": context} if context else {}
    first = send(address, call("SendMessage", "Which is cheapest?", **named), "react")
    task = first["result"]["task"]
    assert context in ("", task["contextId"])
    further = call("SendMessage", "How cheap is it?", contextId=task["contextId"])
    second = send(address, further, "react")["result"]["task"]
    assert second["id"] != task["id"]
    assert second["artifacts"][0]["parts"][1]["data"]["answer"]["decision"] == "5.25"


@pytest.mark.usefixtures("offered")
@cases(MODERN[0], OLD[0])
def test_a_plan_is_approved(method: str, address: str) -> None:
    settings = {"metadata": {"context": {"approve": True}}}
    asked = send(address, call(method, "Which is cheapest?", **settings))["result"]
    task = asked.get("task", asked)
    assert task["status"]["state"] in ("TASK_STATE_INPUT_REQUIRED", "input-required")
    assert "Carry out this plan?" in task["status"]["message"]["parts"][0]["text"]
    done = send(address, call(method, "yes", taskId=task["id"], **settings))["result"]
    done = done.get("task", done)
    assert done["id"] == task["id"]
    assert "birch" in done["artifacts"][0]["parts"][0]["text"]


def test_a_late_answer_approves_no_later_plan(
    address: str, operator: Operator, offers: str
) -> None:
    script = whole_run()
    script.left["plan"] *= 2
    operator.offers(script, database=offers)
    settings = {"context": {"approve": True}}

    def answered(text: str, approval: str = "", **more: Any) -> Json:
        metadata = settings | ({"approval": approval} if approval else {})
        return send(address, call("SendMessage", text, metadata=metadata, **more))

    def approval(reply: Json) -> str:
        return str(reply["result"]["task"]["status"]["message"]["metadata"]["approval"])

    first = answered("Which is cheapest?")
    task = {"taskId": first["result"]["task"]["id"]}
    second = answered("Look at the rules, too.", approval(first), **task)
    assert approval(second) != approval(first)
    late = answered("yes", approval(first), **task)
    assert approval(late) == approval(second)  # it still waits, and is shown
    assert "is not the id of a request" in answered("yes", "x", **task)["error"]["message"]
    done = answered("yes", approval(second), **task)["result"]["task"]
    assert done["status"]["state"] == "TASK_STATE_COMPLETED"


@cases(
    ({"jsonrpc": "2.0", "id": 1, "method": "tasks/get"}, -32601, "tasks/get"),
    ({"jsonrpc": "1.0", "id": None, "method": "SendMessage"}, -32600, "jsonrpc"),
    ({}, -32600, "jsonrpc"),
    ([], -32600, "not a JSON object"),
    ("{", -32700, "not valid JSON"),
    ({"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}, -32602, "message"),
    (call("SendMessage", " "), -32602, "no text"),
    (call("SendMessage", "yes", taskId="0.1"), -32001, "no task '0.1'"),
    (call("SendMessage", "x", metadata={"context": 1}), -32602, "not an object"),
    (call("SendMessage", "x", metadata={"context": {"model": "gpt"}}), -32602, "offers"),
    (call("SendMessage", "x"), -32603, "nowhere"),
)
def test_what_cannot_be_done_is_an_error(
    body: Json | str, code: int, words: str, address: str, operator: Operator
) -> None:
    operator.offers(Replies(), database="nowhere.sql")
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"content-type": "application/json"}
    url = f"{address}/a2a/planrag"
    error = httpx.post(url, content=content, headers=headers, timeout=60).json()["error"]
    assert error["code"] == code
    assert words in error["message"]


@cases(("0.2", -32009), ("1.0", -32602), ("0.3.0", -32602))
def test_a_version_that_is_not_spoken_is_refused(
    version: str, code: int, address: str, operator: Operator
) -> None:
    operator.offers(Replies())
    headers = {"a2a-version": version}
    body = call("SendMessage", " ")
    reply = httpx.post(f"{address}/a2a/planrag", json=body, headers=headers, timeout=60).json()
    assert (reply["id"], reply["error"]["code"]) == (7, code)


def test_an_error_ends_a_stream(address: str, operator: Operator) -> None:
    operator.offers(Replies(), database="nowhere.sql")
    reply = httpx.post(f"{address}/a2a/planrag", json=call("SendStreamingMessage", "x"), timeout=60)
    last = json.loads(reply.text.strip().splitlines()[-1].removeprefix("data: "))
    status = last["result"]["statusUpdate"]["status"]
    assert status["state"] == "TASK_STATE_FAILED"
    assert "nowhere" in status["message"]["parts"][0]["text"]
