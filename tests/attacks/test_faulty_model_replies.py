"""Whatever a model's server sends, every method ends: with an answer, or with one sentence."""

import asyncio
import gc
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import nullcontext
from itertools import product
from typing import Any

import httpx
import pytest
from cases import cases
from faulty_model import FAULTS, TROUBLE, faulty
from langchain_core.messages import HumanMessage
from tally import RecordTried

from planweave import PlanweaveError
from planweave.graphs import METHODS
from planweave.memory import Context
from planweave.models import chat_model
from planweave.models.call import call
from planweave.models.settings import process_settings
from planweave.models.whole_replies import CheckedClient

_SECONDS = 60
_SAMPLE = 60
_MIXED = 1_700  # one fault after another, so that a run meets them midway


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setenv("PLANWEAVE_RETRIES", "0")
    monkeypatch.setenv("PLANWEAVE_TIMEOUT", "20")
    process_settings.cache_clear()
    yield monkeypatch
    process_settings.cache_clear()


# Work that is cancelled while it connects leaves its socket to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.timeout(3600)
async def test_every_method_ends_whatever_the_model_sends(
    impatient: pytest.MonkeyPatch,
    offers: str,
    attack_is_full: bool,
    attack_seed: int,
    record_tried: RecordTried,
) -> None:
    del impatient
    draw = random.Random(attack_seed)
    alone = [((fault,), name) for fault, name in product(FAULTS, METHODS)]
    names = [*METHODS]
    in_turn = [
        (tuple(draw.choices([*FAULTS, "sound"], k=3)), draw.choice(names)) for _ in range(_MIXED)
    ]
    every = alone + in_turn if attack_is_full else draw.sample(alone + in_turn, _SAMPLE)
    failed = [
        f"{name} with {', '.join(faults)}: {problem}"
        for faults, name in every
        if (problem := await _problem(faults, name, offers))
    ]
    gc.collect()  # here, where it is not an error, and in no later test
    record_tried(len(every), len(failed))
    assert not failed, "\n".join(failed)


async def _problem(faults: Sequence[str], name: str, database: str) -> str:
    """What went wrong, or nothing."""
    with faulty(*faults) as server:
        context = Context(model=server.model, database=database, max_iterations=3)
        try:
            async with asyncio.timeout(_SECONDS):
                graph: Any = METHODS.get(name).graph
                memory = await graph.ainvoke({"question": "Which is cheapest?"}, context=context)
        except PlanweaveError as error:
            return "" if "\n" not in str(error) else f"more than a sentence: {error}"
        except TimeoutError:
            return f"no end within {_SECONDS} s"
        except Exception as error:  # whatever it is, it would be a traceback
            return f"{type(error).__name__}: {str(error)[:200]}"
    return "" if memory["messages"][-1].text.strip() else "nothing is said"


@pytest.mark.parametrize("fault", TROUBLE)
async def test_trouble_of_a_server_is_tried_again(
    impatient: pytest.MonkeyPatch, fault: str
) -> None:
    impatient.setenv("PLANWEAVE_RETRIES", "2")
    process_settings.cache_clear()
    with faulty(fault, "sound") as server:
        done = await call(chat_model(server.model), [HumanMessage("Hello!")])
        assert (done.text, server.count) == ("hello", [2])


@cases(
    (b"", False),
    (b'data: {"choices": [{"delta": {"content": "hel"}, "finish_reason": null}]}\n\n', False),
    (b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n', True),
    (b"data: {}\n\ndata: [DONE]\n\n", True),
)
async def test_a_stream_that_breaks_off_is_no_reply(sent: bytes, whole: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield sent[:30]
        yield sent[30:]

    mock = httpx.MockTransport(lambda _: httpx.Response(200, content=pieces()))
    ended = nullcontext() if whole else pytest.raises(httpx.RemoteProtocolError, match="cut off")
    async with (
        CheckedClient(transport=mock) as client,
        client.stream("POST", "http://model/v1/chat/completions") as reply,
    ):
        with ended:
            assert await reply.aread() == sent


@cases("usage below nothing", "usage beyond all")
async def test_no_server_gives_budget_back(fault: str, impatient: pytest.MonkeyPatch) -> None:
    del impatient
    with faulty(fault) as server:
        done = await call(chat_model(server.model), [HumanMessage("Hello!")])
    assert done.record.usage.input_tokens >= 0
    assert done.record.usage.output_tokens >= 0
