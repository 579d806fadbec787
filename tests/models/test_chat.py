"""The chat factory against a real HTTP server on loopback."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest
from cases import cases
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai.chat_models.base import BaseChatOpenAI
from openai_server import Answer, serving
from pydantic import BaseModel

from planweave import BadInput
from planweave.models import (
    Call,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
    achat_model,
    ask,
    call,
    chance_of_yes,
    chat_model,
    name_of,
    process_settings,
    register_provider,
    several_replies,
)
from planweave.usage import End, ending

PROMPT = [HumanMessage("hi")]


class Verdict(BaseModel):
    replan: Literal["Y", "N"]


async def ask_once(name: str, settings: ModelSettings, **options: Any) -> Call:
    return await call(chat_model(name, settings=settings, **options), PROMPT, role="planner")


def changed(settings: ModelSettings, **update: object) -> ModelSettings:
    return settings.model_copy(update=update)


async def test_reply_is_recorded(model_settings: ModelSettings) -> None:
    with serving(Answer("four", cached=60)) as server:
        done = await ask_once(server.name, model_settings)
        await ask_once(server.name, model_settings, temperature=0.5, max_tokens=7, seed=3)
    record = done.record
    assert done.text == record.reply == "four"
    assert (record.role, record.model) == ("planner", server.name)
    assert (record.input_tokens, record.output_tokens, record.cached_tokens) == (100, 10, 60)
    assert record.dollars is None
    assert [(m.role, m.content) for m in record.prompt] == [("human", "hi")]
    assert record == type(record).model_validate_json(record.model_dump_json())
    assert {"max_tokens": 512, "temperature": 0.0}.items() <= server.requests[0].items()
    wanted = {"model": "tiny", "temperature": 0.5, "max_tokens": 7, "seed": 3}
    assert wanted.items() <= server.requests[1].items()


def test_same_arguments_same_model(model_settings: ModelSettings) -> None:
    one = chat_model("http://h/v1#m", settings=model_settings)
    assert chat_model("http://h/v1#m", settings=model_settings) is one
    assert chat_model("http://h/v1#m", settings=model_settings, seed=1) is not one
    assert name_of(one) == "http://h/v1#m"


def test_a_model_is_asked_from_several_event_loops(model_settings: ModelSettings) -> None:
    async def asks(name: str) -> set[str]:
        replies = await asyncio.gather(*(ask_once(name, model_settings) for _ in range(8)))
        return {reply.text for reply in replies}

    with serving(Answer("x")) as server, ThreadPoolExecutor(8) as threads:
        work = [threads.submit(asyncio.run, asks(server.name)) for _ in range(8)]
        assert [done.result() for done in work] == [{"x"}] * 8
        assert asyncio.run(asks(server.name)) == {"x"}  # after those have ended


SOON = {"retry-after-ms": "20"}


@cases(
    *((Answer(status=status, headers=SOON), 20, 0.0) for status in (408, 429, 500, 503)),
    (Answer(status=429, headers={"retry-after": "1"}), 20, 0.95),
    (Answer(delay=120), 0.3, 0.3),
    ids=["408", "429", "500", "503", "after a second", "slow"],
)
async def test_passing_trouble_is_retried(
    trouble: Answer, patience: float, wait: float, model_settings: ModelSettings
) -> None:
    settings = changed(model_settings, timeout=patience)
    with serving(trouble, Answer(status=500, headers=SOON), Answer("at last")) as server:
        assert (await ask_once(server.name, settings)).text == "at last"
    assert len(server.requests) == 3
    assert server.times[1] - server.times[0] >= wait


@cases(
    (Answer(status=401, message="bad sk-abc123"), "key", "PLANWEAVE_API_KEY"),
    (Answer(status=403), "key", "did not accept the key"),
    (Answer(status=404), "missing", "knows no model"),
    (Answer(status=400, message="no temperature here"), "rejected", "no temperature here"),
    (Answer(status=400, message="exceeds the available context size"), "too_long", "longer"),
    (Answer(status=429, headers={"retry-after-ms": "1"}), "limited", "too many"),
    (Answer(status=500, headers={"retry-after-ms": "1"}), "server", "failed"),
)
async def test_lasting_trouble_is_one_sentence(
    answer: Answer, trouble: str, words: str, model_settings: ModelSettings
) -> None:
    settings = ModelSettings(**{**dict(model_settings), "api_key": "sk-very-secret"})
    with serving(answer) as server, pytest.raises(ModelUnavailable, match=words) as caught:
        await ask_once(server.name, settings)
    error = caught.value
    assert error.trouble == trouble
    assert server.keys[0] == "Bearer sk-very-secret"
    assert "sk-" not in str(error) + repr(error) + error.calls[0].model_dump_json()
    assert error.calls[0].error == str(error)
    retried = trouble in ("limited", "server")
    assert len(server.requests) == (1 + model_settings.retries if retried else 1)


async def test_a_call_is_cut_off_with_the_time_of_its_run(model_settings: ModelSettings) -> None:
    with serving(Answer(delay=3600)) as server:
        model = chat_model(server.name, settings=model_settings)
        now = time.monotonic()
        with ending(End(now + 1.5, "It is late.")), ending(End(now + 3600, "Later.")):
            found = [await ask(model, PROMPT, Verdict, role="judge") for _ in range(2)]
        assert len(server.requests) == 1  # the second is not asked any more
    failures = [reply.failure for reply in found]
    assert [f and (f.kind, f.message) for f in failures] == [("out_of_time", "It is late.")] * 2
    assert [len(reply.calls) for reply in found] == [1, 0]
    assert found[0].calls[0].seconds > 0


async def test_samples_end_with_the_time_of_their_run(model_settings: ModelSettings) -> None:
    with serving(Answer("one"), Answer(delay=120)) as server:
        model = chat_model(server.name, settings=model_settings)
        with ending(End(time.monotonic() + 1.5, "It is late.")):
            found = await several_replies(model, PROMPT, 3)
            chance = await chance_of_yes(model, PROMPT)
    assert (chance.yes, chance.records) == (1.0, ())
    assert found.replies == ("one",)
    assert [record.error for record in found.records] == ["", "It is late."]


@cases(("Yes.", 1), (" no", 0), ("Maybe", 1))
async def test_yes_or_no_in_words(reply: str, yes: float, model_settings: ModelSettings) -> None:
    with serving(Answer(reply)) as server:
        model = chat_model(server.name, settings=model_settings)
        found = await chance_of_yes(model, PROMPT, role="judge")
    assert found.yes == yes
    assert [record.role for record in found.records] == ["judge"]


async def test_chances_that_a_server_leaves_out_are_read_off_the_reply() -> None:
    token = {"token": "No", "logprob": 0.0, "top_logprobs": None}
    reply = AIMessage("No", response_metadata={"logprobs": {"content": [token]}})
    model = GenericFakeChatModel(messages=iter([reply]))
    assert (await chance_of_yes(model, PROMPT)).yes == 0


async def test_time_out_is_told(model_settings: ModelSettings) -> None:
    with serving(Answer(delay=120)) as server:
        settings = changed(model_settings, timeout=0.2, retries=0)
        with pytest.raises(ModelUnavailable, match="PLANWEAVE_TIMEOUT") as caught:
            await ask_once(server.name, settings)
    assert caught.value.trouble == "slow"


def test_a_stream_may_be_silent_as_long_as_a_reply(model_settings: ModelSettings) -> None:
    settings = changed(model_settings, timeout=900)
    model = chat_model("http://127.0.0.1:1/v1#m", settings=settings)
    assert isinstance(model, BaseChatOpenAI)
    assert model.stream_chunk_timeout == 900


async def test_unreachable_server_is_told(model_settings: ModelSettings) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
        await ask_once("http://127.0.0.1:1/v1#m", changed(model_settings, retries=0))
    assert caught.value.trouble == "unreachable"


async def test_rate_is_limited_over_all_models_of_a_server(model_settings: ModelSettings) -> None:
    with serving(Answer()) as server:
        settings = changed(model_settings, requests_per_second=10.0)
        started = time.monotonic()
        await asyncio.gather(*(ask_once(server.name, settings, seed=n) for n in range(4)))
    assert server.times[-1] - started >= 0.3


@cases(
    ("openai:gpt-4.1", "OPENAI_API_KEY"),
    ("ollama:qwen3", "pip install langchain-ollama"),
    ("anthropic:claude-sonnet-4-5", "pip install langchain-anthropic"),
    ("nonsense:model", "no model provider"),
    ("nonsense", "no model provider"),
    ("", "no model provider"),
    ("openai", "no model provider"),
    ("embedded:9b", "no embedded model '9b'"),
    ("embedded:0.5b", "planweave models pull 0.5b"),
    ("embedded", "1117 MB"),
    ("embedded:/nowhere/x.gguf", "cannot be read"),
    *((name, "http://host:port/v1#model") for name in ("http://host:1/v1", "http://", "http:")),
    ("https://:x/#m", "http://host:port/v1#model"),
)
def test_model_that_cannot_be_had(name: str, words: str, model_settings: ModelSettings) -> None:
    error = BadInput if name.startswith("http") else ModelUnavailable
    with pytest.raises(error, match=words):
        chat_model(name, settings=model_settings)


def test_password_in_a_url_is_refused_and_not_repeated(model_settings: ModelSettings) -> None:
    with pytest.raises(BadInput) as caught:
        chat_model("http://me:hunter2@host/v1#m", settings=model_settings)
    assert "hunter2" not in str(caught.value)


def test_keys_are_not_shown(model_settings: ModelSettings) -> None:
    settings = ModelSettings(**{**dict(model_settings), "openai_api_key": "sk-hidden"})
    model = chat_model("openai:gpt-4.1-mini", settings=settings)
    assert "sk-hidden" not in repr(settings) + repr(model) + str(settings.model_dump())


def test_openai_key_does_not_go_to_other_servers(
    model_settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    with serving(Answer()) as server:
        asyncio.run(ask_once(server.name, model_settings))
    assert server.keys == ["Bearer none"]


def test_a_redirect_takes_no_key_along(model_settings: ModelSettings) -> None:
    settings = ModelSettings(**{**dict(model_settings), "api_key": "hidden"})
    with serving(Answer()) as foreign:
        there = {"location": f"{foreign.url}/v1/chat/completions"}
        with serving(Answer(status=307, headers=there)) as server:
            asyncio.run(ask_once(server.name, settings))
    assert server.keys == ["Bearer hidden"]
    assert foreign.keys == [None]


async def test_registered_provider(model_settings: ModelSettings) -> None:
    asked: list[ModelRequest] = []

    def factory(request: ModelRequest) -> FakeListChatModel:
        asked.append(request)
        return FakeListChatModel(responses=[request.model])

    register_provider("scripted", factory)
    model = await achat_model("scripted:a:b", settings=model_settings, max_tokens=9)
    done = await call(model, PROMPT)
    assert (done.text, done.record.model) == ("a:b", "scripted:a:b")
    assert (asked[0].name, asked[0].max_tokens) == ("scripted:a:b", 9)


@pytest.fixture
def fresh_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    process_settings.cache_clear()
    yield monkeypatch
    process_settings.cache_clear()


def test_wrong_setting_is_told_without_its_value(fresh_settings: pytest.MonkeyPatch) -> None:
    fresh_settings.setenv("PLANWEAVE_RETRIES", "swordfish")
    with pytest.raises(BadInput, match="PLANWEAVE_RETRIES") as caught:
        process_settings()
    assert "swordfish" not in str(caught.value)
