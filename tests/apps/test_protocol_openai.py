"""Chat completions in OpenAI's shape, asked by OpenAI's own client."""

import json
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from threading import Event
from typing import Any
from uuid import uuid4

import httpx
import openai
import pytest
from cases import cases
from endpoints import QUERY, Operator, followed_up, whole_run
from langchain_core.tools import tool
from openai import OpenAI
from openai.types.chat import ChatCompletion
from scripted import Prompt, Replies, Reply, act, decide, only, plan
from waiting import wait_until

from planweave import PlanweaveError
from planweave.tools.bound import TOOLS

ASKED: Any = [{"role": "user", "content": "Which offer is cheapest?"}]


@pytest.fixture
def client(address: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client


def ask(
    client: OpenAI, messages: Any = ASKED, *, model: str = "planrag", **more: Any
) -> ChatCompletion:
    """The answer to a question that is no stream."""
    done: ChatCompletion = client.chat.completions.create(model=model, messages=messages, **more)
    return done


def extra(completion: ChatCompletion) -> dict[str, Any]:
    """What the answer holds besides OpenAI's fields."""
    found: dict[str, Any] = (completion.model_extra or {})["planweave"]
    return found


def request(completion: ChatCompletion) -> Any:
    """The call in which a person is asked."""
    assert completion.choices[0].finish_reason == "tool_calls"
    return only(completion.choices[0].message.tool_calls or [])


def said(completion: ChatCompletion, text: str) -> Any:
    """The messages with which a person answers that."""
    answer = {"role": "tool", "tool_call_id": request(completion).id, "content": text}
    return [*ASKED, answer]


def test_a_method_is_a_model(client: OpenAI, operator: Operator) -> None:
    operator.offers(whole_run(), more={"methods": ["planrag", "rat"]})
    assert [model.id for model in client.models.list()] == ["planrag", "rat"]
    assert client.models.retrieve("rat").owned_by == "planweave"
    with pytest.raises(openai.NotFoundError, match=r"no method 'gpt'.*planrag, rat"):
        client.models.retrieve("gpt")
    with pytest.raises(openai.NotFoundError, match="no method 'gpt-4o'") as refused:
        ask(client, model="gpt-4o")
    assert refused.value.code == "model_not_found"


def test_a_completion(client: OpenAI, offered: Replies) -> None:
    nulls = ("stream", "stream_options", "n", "temperature", "seed", "context", "thread", "tools")
    completion = ask(client, extra_body=dict.fromkeys(nulls))
    (choice,) = completion.choices
    assert choice.finish_reason == "stop"
    assert choice.message.content == "**birch**\n\nIt is best. [1]"
    assert completion.usage is not None
    sent = (sum(len(one.text) for one in prompt.messages) // 4 for prompt in offered.prompts)
    assert completion.usage.prompt_tokens == sum(sent)  # as the scripted model counts them
    assert completion.usage.total_tokens > completion.usage.completion_tokens > 0
    assert extra(completion)["answer"]["decision"] == "birch"
    assert extra(completion)["answer"]["verdict"]["kind"] == "supported"
    (fact,) = extra(completion)["facts"]
    assert QUERY in fact["source"]
    assert "5.25" in fact["text"]


@pytest.mark.usefixtures("offered")
def test_a_stream_tells_the_steps_first(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="planrag", messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    steps = "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas)
    assert steps.index("Find the cheapest offer.") < steps.index(QUERY) < steps.index("[1] name")
    said = [delta.content for delta in deltas if delta.content]
    assert said == ["It ", "is ", "best.", " [1]\n\n**birch**"]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens > 0


def test_a_follow_up_is_read_in_its_talk(client: OpenAI, operator: Operator, offers: str) -> None:
    script = Replies(
        interpret=[{"follows_up": True, "question": "Which offer is dearest?"}],
        action=[act("sql", QUERY.replace("price LIMIT", "price DESC LIMIT"))],
        decide=[decide("ash", 1)],
    )
    operator.offers(script, database=offers)
    told = [{"role": "system", "content": "Be brief."}, *ASKED]
    told += [{"role": "assistant", "content": "birch"}]
    told += [{"role": "user", "content": [{"type": "text", "text": "And the dearest?"}]}]
    assert extra(ask(client, told, model="single_rag"))["answer"]["decision"] == "ash"
    assert "birch" in script.prompts[0].text
    assert "Be brief." in script.prompts[-1].text


def test_questions_of_a_thread_take_turns(client: OpenAI, operator: Operator, offers: str) -> None:
    script, asked, goes_on = followed_up(), list[str](), Event()

    def model(prompt: Prompt) -> Reply:
        asked.append(prompt.task)
        goes_on.wait(60)
        return script(prompt)

    operator.offers(model, database=offers)
    thread = {"thread": str(uuid4())}
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, client, model="react", extra_body=thread)
        wait_until(lambda: asked)
        question = [{"role": "user", "content": "How cheap is it?"}]
        second = pool.submit(ask, client, question, model="react", extra_body=thread)
        assert not wait([second], timeout=0.4).done
        assert len(asked) == 1
        goes_on.set()
        answers = [extra(one.result()) for one in (first, second)]
    assert [one["answer"]["decision"] for one in answers] == ["birch", "5.25"]
    assert {one["thread"] for one in answers} == {thread["thread"]}
    assert "5.25" in script.prompts[-1].text


@cases(
    ("Yes.", "Find the cheapest offer."),
    ('{"type": "approve"}', "Find the cheapest offer."),
    ('{"type": "edit", "plan": ["Mine."]}', "Mine."),
)
def test_a_plan_is_approved_as_a_call(
    decision: str, carried_out: str, client: OpenAI, offered: Replies
) -> None:
    settings: Any = {"extra_body": {"context": {"approve": True}}}
    with client.chat.completions.stream(model="planrag", messages=ASKED, **settings) as stream:
        asking = stream.get_final_completion()
    message = asking.choices[0].message
    assert "Carry out this plan?" in (message.content or "")
    assert json.loads(request(asking).function.arguments) == {"plan": ["Find the cheapest offer."]}
    *earlier, answer = said(asking, decision)
    asked = message.model_dump(include={"role", "content", "tool_calls"})
    done = ask(client, [*earlier, asked, answer], **settings)
    assert extra(done)["answer"]["decision"] == "birch"
    acted = next(prompt for prompt in offered.prompts if prompt.task == "action")
    assert f"1. {carried_out}" in acted.text


def test_another_plan_is_asked_for(client: OpenAI, operator: Operator, offers: str) -> None:
    script = whole_run()
    script.left["plan"].append(plan("Another."))
    operator.offers(script, database=offers, approve=True)
    first = ask(client)
    second = ask(client, said(first, "Shorter, please."))
    assert "Shorter, please." in script.prompts[1].text
    late = ask(client, said(first, "yes"))  # to the plan that is no more
    assert "Another." in (late.choices[0].message.content or "")
    assert request(late).id == request(second).id
    done = ask(client, said(late, "yes"))
    assert extra(done)["answer"]["decision"] == "birch"


def test_a_call_of_a_bound_tool_is_approved_too(
    client: OpenAI, operator: Operator, offers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @tool
    def stock(name: str) -> int:
        """How many there are of an offer."""
        return len(name)

    monkeypatch.setattr(TOOLS, "_known", {"stock": stock})
    script = Replies(action=[act("stock", "birch"), act("finish")], decide=[decide("birch")])
    settings: dict[str, Any] = {"tools": ["stock"], "approve_tools": True}
    operator.offers(script, database=offers, more={"methods": ["iter_rag"]}, **settings)
    asking = ask(client, model="iter_rag")
    called = request(asking).function
    assert (called.name, called.arguments) == ("stock", '{"name": "birch"}')
    done = ask(client, said(asking, "Not now."), model="iter_rag")
    assert done.choices[0].finish_reason == "stop"
    assert "A person refused this call: Not now." in script.prompts[1].text


@cases(
    ({"context": {"database": "/etc/passwd"}}, "names nothing that this server offers"),
    ({"context": {"owner": "ann"}}, "A caller may not choose"),
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "assistant", "content": "x"}]}, "not a question"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "image_url"),
    ({"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]}, "no call 'x'"),
    (
        {"messages": [{"role": "tool", "tool_call_id": f"call_{'0' * 64}", "content": "y"}]},
        "Nothing waits",
    ),
    ({"n": 2}, "n"),
    ({"thread": "mine"}, "thread"),
)
def test_what_cannot_be_asked_is_told_in_openais_shape(
    body: dict[str, object], words: str, address: str, operator: Operator
) -> None:
    operator.offers(Replies())
    asked = {"model": "planrag", "messages": ASKED, **body}
    reply = httpx.post(f"{address}/v1/chat/completions", json=asked, timeout=60)
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert words in reply.json()["error"]["message"]


@cases(b"{", b"[]", b"[" * 100_000, b'{"x": "' + b"y" * 4_000_001)
def test_a_body_that_is_none(body: bytes, address: str, operator: Operator) -> None:
    operator.offers(Replies())
    headers = {"content-type": "application/json"}
    reply = httpx.post(f"{address}/v1/chat/completions", content=body, headers=headers, timeout=60)
    assert reply.status_code == 400


@cases(("v1/chat/completions", 400), ("a2a/planrag", 200), ("mcp", 400))
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_page_may_send_unasked_starts_nothing(
    endpoint: str, status: int, address: str, offered: Replies, kind: str
) -> None:
    message = {"parts": [{"text": "x"}]}
    call = {"jsonrpc": "2.0", "method": "SendMessage", "params": {"message": message}}
    body = json.dumps({"model": "planrag", "messages": ASKED, **call})
    headers = {"content-type": kind, "origin": "https://evil.example"}
    reply = httpx.post(f"{address}/{endpoint}", content=body, headers=headers, timeout=60)
    assert reply.status_code == status
    assert "json" in reply.text.lower() or "content-type" in reply.text.lower()
    assert "result" not in reply.text
    assert offered.prompts == []


def test_an_error_ends_a_stream_with_a_sentence(client: OpenAI, operator: Operator) -> None:
    operator.offers(Replies(), database="nowhere.sql")
    stream = client.chat.completions.create(model="planrag", messages=ASKED, stream=True)
    with pytest.raises(openai.APIError, match="nowhere"):
        list(stream)
    with pytest.raises(openai.InternalServerError, match="nowhere") as refused:
        ask(client)
    assert refused.value.status_code == 502


def test_what_nobody_outside_can_fix_is_not_shown(
    client: OpenAI, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str, **_: object) -> None:
        raise ZeroDivisionError("secret")

    operator.offers(Replies())
    monkeypatch.setattr("planweave.apps.protocols.runs.graph", broken)
    with pytest.raises(openai.InternalServerError) as failed:
        ask(client)
    assert "secret" not in str(failed.value)
    assert not isinstance(failed.value, PlanweaveError)


@cases(True, False)
def test_a_caller_who_goes_away_ends_the_run(
    streams: bool, address: str, operator: Operator, offers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, goes_on, ended = list[str](), Event(), Event()

    def waiting(prompt: Prompt) -> Reply:
        asked.append(prompt.task)
        goes_on.wait(60 * (len(asked) > 1))
        return act("sql", f"SELECT {len(asked)} AS n FROM offer")

    @asynccontextmanager
    async def memory() -> AsyncIterator[None]:
        try:
            yield
        finally:
            ended.set()

    monkeypatch.setattr("planweave.apps.protocols.runs.long_term_memory", memory)
    operator.offers(waiting, database=offers)
    caller = HTTPConnection(address.removeprefix("http://"))
    body = json.dumps({"model": "iter_rag", "messages": ASKED, "stream": streams})
    caller.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
    wait_until(lambda: len(asked) == 2)
    caller.close()
    assert ended.wait(60)
    goes_on.set()
    assert len(asked) == 2


def test_an_ensemble_has_its_best_facts(client: OpenAI, operator: Operator, offers: str) -> None:
    script = Replies(action=[act("sql", QUERY)], decide=[decide("birch", 1)])
    operator.offers(script, database=offers, ensemble_of="single_rag", ensemble_runs=1)
    completion = ask(client, model="ensemble")
    (fact,) = extra(completion)["facts"]
    assert QUERY in fact["source"]
    assert completion.usage is not None
    assert completion.usage.prompt_tokens > 0
