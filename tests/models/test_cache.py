"""The response cache: exact, marked, and never in the way."""

import asyncio
import logging
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration
from openai_server import Answer, serving
from pydantic import BaseModel

from planweave.models import Call, ModelSettings, ask, call, chat_model
from planweave.models.cache import FROM_CACHE, ResponseCache


class Note(BaseModel):
    text: str


class Memo(BaseModel):
    text: str


@pytest.fixture
def caching(model_settings: ModelSettings) -> ModelSettings:
    return model_settings.model_copy(update={"response_cache": "deterministic"})


async def once(
    name: str, settings: ModelSettings, text: str = "hi", temperature: float = 0.0, **more: Any
) -> Call:
    model = chat_model(name, settings=settings, temperature=temperature, **more)
    return await call(model, [HumanMessage(text)])


@cases((True, 100), (False, 0))
async def test_a_second_call_is_free(counts: bool, tokens: int, caching: ModelSettings) -> None:
    with serving(Answer("one", counts=counts), Answer("two")) as server:
        first, second = [await once(server.name, caching) for _ in range(2)]
    assert (first.text, second.text) == ("one", "one")
    assert [first.record.from_cache, second.record.from_cache] == [False, True]
    assert second.record.dollars == 0
    assert second.record.input_tokens == tokens
    assert len(server.requests) == 1


async def test_a_fresh_call_uses_no_kept_reply_and_keeps_its_own(caching: ModelSettings) -> None:
    with serving(Answer("one"), Answer("two")) as server:
        await once(server.name, caching)
        fresh = await once(server.name, caching, fresh=True)
        again = await once(server.name, caching)
    assert (fresh.text, fresh.record.from_cache) == ("two", False)
    assert (again.text, again.record.from_cache) == ("two", True)


async def test_any_change_of_the_request_misses(caching: ModelSettings) -> None:
    with serving(Answer()) as server, serving(Answer()) as other:
        await once(server.name, caching)
        await once(server.name, caching, text="hi!")
        await once(server.name, caching, max_tokens=5)
        await once(server.name, caching, seed=5)
        await once(server.name.replace("tiny", "huge"), caching)
        await once(other.name, caching)
    assert len(server.requests) + len(other.requests) == 6


async def test_schema_is_part_of_the_key(caching: ModelSettings) -> None:
    with serving(Answer('{"text": "x"}')) as server:
        model = chat_model(server.name, settings=caching)
        for schema in (Note, Memo, Note):
            reply = await ask(model, [HumanMessage("hi")], schema)
    assert reply.calls[0].from_cache
    assert len(server.requests) == 2


@cases(("off", 2), ("deterministic", 2), ("all", 1))
async def test_kept_samples_if_asked(mode: str, asked: int, model_settings: ModelSettings) -> None:
    settings = model_settings.model_copy(update={"response_cache": mode})
    with serving(Answer()) as server:
        for _ in range(2):
            await once(server.name, settings, temperature=0.7)
    assert len(server.requests) == asked


async def test_errors_are_not_kept(caching: ModelSettings) -> None:
    with serving(Answer(status=500, headers={"retry-after-ms": "1"}), Answer("well")) as server:
        assert (await once(server.name, caching)).text == "well"


def generation(text: str) -> list[ChatGeneration]:
    return [ChatGeneration(message=AIMessage(text))]


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    ResponseCache(tmp_path / "deep" / "r.sqlite", "m").update("p", "s", generation("x"))
    assert stat.S_IMODE((tmp_path / "deep" / "r.sqlite").stat().st_mode) == 0o600


def test_threads_share_it(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "r.sqlite", "m")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cache.update(str(n), "s", generation(str(n))), range(60)))
        found = list(pool.map(lambda n: cache.lookup(str(n), "s"), range(60)))
    assert [hit[0].text for hit in found if hit] == [str(n) for n in range(60)]
    for hit in found:
        for answer in hit or ():
            assert isinstance(answer, ChatGeneration)
            assert answer.message.response_metadata[FROM_CACHE]
    cache.clear()
    assert cache.lookup("1", "s") is None


def test_oldest_replies_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planweave.models.cache._KEPT", 3)
    cache = ResponseCache(tmp_path / "r.sqlite", "m")
    for n in range(5):
        cache.update(str(n), "s", generation(str(n)))
    assert [cache.lookup(str(n), "s") is not None for n in range(5)] == [False, False] + 3 * [True]


def test_damaged_file_is_moved_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "r.sqlite"
    path.write_bytes(b"not a database, surely" * 100)
    cache = ResponseCache(path, "m")
    with caplog.at_level(logging.WARNING):
        assert cache.lookup("p", "s") is None
    assert "damaged" in caplog.text
    assert path.with_suffix(".damaged").exists()
    cache.update("p", "s", generation("x"))
    assert cache.lookup("p", "s")


def test_damaged_row_is_a_miss(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "r.sqlite", "m")
    cache.update("p", "s", generation("x"))
    with sqlite3.connect(tmp_path / "r.sqlite") as database:
        database.execute('UPDATE replies SET reply = \'[{"type": "ai"\'')
    database.close()
    assert cache.lookup("p", "s") is None


def test_unwritable_place_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ResponseCache(tmp_path / "file" / "r.sqlite", "m")
    with caplog.at_level(logging.WARNING):
        cache.update("p", "s", generation("x"))
        assert asyncio.run(cache.alookup("p", "s")) is None
    assert len(caplog.records) == 1
