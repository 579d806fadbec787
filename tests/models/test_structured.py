"""Asking for objects: over a real HTTP server, and with models that can only write text."""

import json
from collections import Counter
from typing import Literal

import pytest
from cases import cases
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from openai_server import Answer, Script, serving
from pydantic import BaseModel, Field, SecretStr

from planweave.models import ModelSettings, ModelUnavailable, StructuredReply, ask, chat_model
from planweave.models.structured import response_format

PROMPT = [SystemMessage("You decide."), HumanMessage("Go on?")]
GOOD = '{"thought": "look", "replan": "N"}'


class Verdict(BaseModel):
    thought: str
    replan: Literal["Y", "N"] = "N"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planweave.models.structured._plain_only", set())
    monkeypatch.setattr("planweave.models.structured._ignored", Counter())


async def served(
    settings: ModelSettings, *answers: Answer
) -> tuple[StructuredReply[Verdict], Script]:
    with serving(*answers) as server:
        model = chat_model(server.name, settings=settings)
        return await ask(model, PROMPT, Verdict, role="replanner"), server


async def test_native_schema_is_sent_once(model_settings: ModelSettings) -> None:
    reply, server = await served(model_settings, Answer(GOOD))
    assert reply.value == Verdict(thought="look", replan="N")
    assert reply.failure is None
    assert [(c.role, c.error) for c in reply.calls] == [("replanner", "")]
    assert server.requests[0]["response_format"] == response_format(Verdict)
    assert len(server.requests[0]["messages"]) == len(PROMPT)


async def test_openai_gets_no_limits_of_strings(
    model_settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Short(BaseModel):
        thought: str = Field(max_length=9, pattern="^l")
        decision: str | None = Field(max_length=9)

    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    settings = model_settings.model_copy(update={"openai_api_key": SecretStr("sk-none")})
    with serving(Answer('{"thought": "look", "decision": null}')) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        model = chat_model("openai:gpt-4.1", settings=settings)
        reply = await ask(model, PROMPT, Short)
    assert reply.value == Short(thought="look", decision=None)
    sent = json.dumps(server.requests[0]["response_format"])
    for limit in ("maxLength", "pattern"):
        assert limit in json.dumps(response_format(Short))
        assert limit not in sent
    assert '"strict": true' in sent


async def test_retry_shows_the_reply_and_the_error(model_settings: ModelSettings) -> None:
    bad = '{"thought": "look", "replan": "perhaps"}'
    reply, server = await served(model_settings, Answer(bad), Answer(GOOD))
    assert reply.value == Verdict(thought="look", replan="N")
    assert "'Y' or 'N'" in reply.calls[0].error
    assert server.requests[1]["messages"][2]["content"] == bad
    assert "'Y' or 'N'" in server.requests[1]["messages"][3]["content"]
    assert '"thought"' in server.requests[1]["messages"][3]["content"]
    assert server.requests[1]["messages"][:2] == server.requests[0]["messages"]


@cases(
    (Answer("no idea"), "no_json", 2),
    (Answer(""), "empty", 2),
    (Answer('{"thought": "look", "replan": "N"', finish="length"), "cut_off", 2),
    (Answer(status=400, message="context length exceeded"), "prompt_too_long", 1),
)
async def test_bad_replies_are_a_typed_failure(
    answer: Answer, kind: str, calls: int, model_settings: ModelSettings
) -> None:
    reply, server = await served(model_settings, answer)
    assert reply.value is None
    assert reply.failure is not None
    assert reply.failure.kind == kind
    assert len(reply.calls) == len(server.requests) == calls
    assert all(call.error for call in reply.calls)
    if kind != "prompt_too_long":
        assert {call.error for call in reply.calls} == {reply.failure.message}


async def test_server_without_schemas_is_asked_in_plain_text(model_settings: ModelSettings) -> None:
    refusal = Answer(status=400, message="response_format is not supported")
    with serving(refusal, Answer(GOOD)) as server:
        model = chat_model(server.name, settings=model_settings)
        first = await ask(model, PROMPT, Verdict)
        second = await ask(model, PROMPT, Verdict)
    assert first.value == second.value == Verdict(thought="look")
    assert ["response_format" in request for request in server.requests] == [True, False, False]
    assert '"thought"' in server.requests[1]["messages"][1]["content"]
    assert len(first.calls) == 2
    assert "not supported" in first.calls[0].error


@cases((1, [False]), (3, [True, True]))
async def test_only_a_server_that_ignores_schemas_three_times_is_asked_in_plain_text(
    ignored: int, plain: list[bool], model_settings: ModelSettings
) -> None:
    with serving(*[Answer("Let me think."), Answer(GOOD)] * ignored, Answer(GOOD)) as server:
        model = chat_model(server.name, settings=model_settings)
        for _ in range(ignored + 1):
            assert (await ask(model, PROMPT, Verdict)).value == Verdict(thought="look")
    asked = ["response_format" not in request for request in server.requests]
    assert asked == [False] * (len(asked) - len(plain)) + plain


async def test_transport_failure_keeps_the_records(model_settings: ModelSettings) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        await served(model_settings, Answer("no idea"), Answer(status=401))
    assert [bool(call.error) for call in caught.value.calls] == [True, True]
    assert caught.value.calls[0].input_tokens == 100


async def test_second_failure_is_not_mistaken_for_the_first(model_settings: ModelSettings) -> None:
    with serving(Answer(status=401)) as one, serving(Answer(status=404)) as two:
        models = [chat_model(server.name, settings=model_settings) for server in (one, two)]
        try:
            await ask(models[0], PROMPT, Verdict)
        except ModelUnavailable:
            with pytest.raises(ModelUnavailable) as caught:
                await ask(models[1], PROMPT, Verdict)
    assert caught.value.trouble == "missing"


async def test_model_that_only_generates() -> None:
    reply = await ask(FakeListChatModel(responses=["hm", f"Well: {GOOD}"]), PROMPT, Verdict)
    assert reply.value == Verdict(thought="look", replan="N")
    first, second = reply.calls
    assert '"thought"' in first.prompt[-1].content
    assert second.prompt[-1].content.count("JSON schema") == 1
    assert first.model == second.model == "fake-list-chat-model"


async def test_broken_characters_are_replaced() -> None:
    model = FakeListChatModel(responses=['{"thought": "a\ud800b"}'])
    reply = await ask(model, [HumanMessage("half \udc00")], Verdict)
    assert reply.value == Verdict(thought="a?b")
    assert "half ?" in reply.calls[0].model_dump_json()


class NativeElsewhere(FakeListChatModel):
    """A provider whose structured output comes back as LangChain's raw-and-parsed dict."""

    def with_structured_output(self, schema: object, **options: object) -> object:  # type: ignore[override]
        assert options == {"method": "json_schema", "include_raw": True}
        verdict = Verdict(thought="native", replan="Y")
        return self | (lambda message: {"raw": AIMessage(""), "parsed": verdict})


async def test_structured_output_of_other_providers() -> None:
    reply = await ask(NativeElsewhere(responses=["unused"]), PROMPT, Verdict)
    assert reply.value == Verdict(thought="native", replan="Y")


class Look(BaseModel):
    kind: Literal["look"]
    table: str | None = None


class Finish(BaseModel):
    kind: Literal["finish"]
    answer: str


class Action(BaseModel):
    action: Look | Finish = Field(discriminator="kind")


class Loose(BaseModel):
    values: dict[str, int]


def test_response_format_is_strict_where_it_can_be() -> None:
    schema = response_format(Action)["json_schema"]
    assert isinstance(schema, dict)
    assert schema["strict"] is True
    look = schema["schema"]["$defs"]["Look"]
    assert look["required"] == ["kind", "table"]
    assert look["additionalProperties"] is False
    assert set(schema["schema"]["properties"]["action"]) == {"anyOf"}
    loose = response_format(Loose)["json_schema"]
    assert isinstance(loose, dict)
    assert loose["strict"] is False
