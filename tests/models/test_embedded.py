"""The embedded model: the real runtime, and the real 0.5b weights where they are."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Literal

import httpx
import pytest
from cases import cases
from command_line import in_process, user_environment
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from planweave.models import (
    ModelSettings,
    ModelUnavailable,
    achat_model,
    ask,
    call,
    chance_of_yes,
    chat_model,
    several_replies,
)
from planweave.models.embedded import SLOTS, physical_cores, serve, shut_down
from planweave.models.reading import PromptProgress, reading_heard
from planweave.models.weights import resolve
from planweave.nodes.acting.actor import Act, limit_to_actions

MODEL = "embedded:0.5b"
FIRST_PAGE = Path(__file__).parents[2] / "docs" / "index.md"


@pytest.fixture
def weighted(model_settings: ModelSettings) -> ModelSettings:
    """Settings with the user's own weights directory; skips where the weights are not in it."""
    pytest.importorskip("xllamacpp", reason="the extra `embedded` is not installed")
    try:
        gguf = resolve(MODEL)
    except ModelUnavailable as error:
        pytest.skip(str(error))
    return model_settings.model_copy(update={"weights_dir": gguf.parent, "timeout": 240.0})


class Verdict(BaseModel):
    thought: str = Field(max_length=30)
    replan: Literal["Y", "N"]


@pytest.mark.model
async def test_structured_reply(weighted: ModelSettings) -> None:
    model = await achat_model(MODEL, settings=weighted, max_tokens=60)
    rules = SystemMessage("You judge whether a plan must change. Think in five words.")
    failed = HumanMessage("The query failed: no such table.")
    reply = await ask(model, [rules, failed], Verdict, role="replanner")
    assert isinstance(reply.value, Verdict)
    (record,) = reply.calls
    assert record.input_tokens > record.cached_tokens
    assert record.output_tokens > 0
    assert (record.dollars, record.model) == (0.0, MODEL)


@pytest.mark.model
async def test_the_chance_of_yes_is_read(weighted: ModelSettings) -> None:
    model = await achat_model(MODEL, settings=weighted)
    asked = "Is Paris a city in {}? Reply with yes or no only."
    france, japan = [
        (await chance_of_yes(model, [HumanMessage(asked.format(country))])).yes
        for country in ("France", "Japan")
    ]
    assert 0 < japan < france < 1


@pytest.mark.model
async def test_more_replies_than_the_server_writes_at_once(weighted: ModelSettings) -> None:
    model = await achat_model(MODEL, settings=weighted, max_tokens=6, temperature=1.5, seed=3)
    found = await several_replies(model, [HumanMessage("Name any animal.")], SLOTS + 2)
    assert (len(found.replies), len(found.records)) == (SLOTS + 2, 2)
    assert {*found.replies[SLOTS:]} - {*found.replies[:SLOTS]}


@pytest.mark.model
@cases(
    (["go to desk 1", "go to shelf 2"], r"go to (desk 1|shelf 2)"),
    (["Search[…]", "Finish[…]"], r"(Search|Finish)\[[^…]+\]"),
)
async def test_actions_are_possible(
    possible: list[str], fits: str, weighted: ModelSettings
) -> None:
    model = await achat_model(MODEL, settings=weighted, max_tokens=60)
    task = HumanMessage("Sing a song. Reply with your thought in five words and an action.")
    reply = await ask(model, [task], limit_to_actions(Act, possible))
    assert reply.value
    assert re.fullmatch(fits, reply.value.action)


@pytest.mark.model
async def test_roles_that_take_turns_keep_their_prefix(weighted: ModelSettings) -> None:
    model = chat_model(MODEL, settings=weighted, max_tokens=4)
    cached = []
    for text in ("one", "two"):
        for role in ("You plan and plan again. " * 12, "Queries are your only trade. " * 12):
            done = await call(model, [SystemMessage(role), HumanMessage(text)])
            cached.append(done.record.cached_tokens)
    assert min(cached[2:]) > 60


@pytest.mark.model
def test_server_outlives_event_loops_serves_threads_and_starts_again(
    weighted: ModelSettings, capfd: pytest.CaptureFixture[str]
) -> None:
    model = chat_model(MODEL, settings=weighted, max_tokens=4)
    for _ in range(2):
        assert asyncio.run(call(model, [HumanMessage("Say hi.")])).text
    assert model.invoke("Say hi.").text
    shut_down()
    assert model.invoke("Hi again").text
    assert capfd.readouterr() == ("", "")


@pytest.mark.model
async def test_a_long_prompt_is_read_in_pieces(weighted: ModelSettings) -> None:
    """Between two of them the reading is reported, and a call that nobody waits for ends."""
    model = chat_model(MODEL, settings=weighted, max_tokens=2)
    seen: list[PromptProgress] = []
    with reading_heard(seen.append):
        assert [piece async for piece in model.astream([HumanMessage("word " * 400)])]
    assert [one.read for one in seen] == sorted({one.read for one in seen})
    assert len(seen) > 2


@pytest.mark.model
async def test_prompt_longer_than_the_context(weighted: ModelSettings) -> None:
    settings = weighted.model_copy(update={"n_ctx": 512})
    model = chat_model(MODEL, settings=settings, max_tokens=4)
    with pytest.raises(ModelUnavailable, match="PLANWEAVE_N_CTX") as caught:
        await call(model, [HumanMessage("word " * 2000)])
    assert caught.value.trouble == "too_long"


@pytest.mark.model
def test_processes_side_by_side_end_cleanly(weighted: ModelSettings, tmp_path: Path) -> None:
    ask_it = f"chat_model({MODEL!r}, max_tokens=4).invoke('Hi').text"
    code = f"from planweave.models import chat_model; print({ask_it})"
    environment = {
        **os.environ,
        "PLANWEAVE_WEIGHTS_DIR": str(weighted.weights_dir),
        "PLANWEAVE_CACHE_DIR": str(tmp_path),
        "PLANWEAVE_RESPONSE_CACHE": "off",
    }
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(2)
    ]
    for process in running:
        out, err = process.communicate(timeout=240)
        assert (process.returncode, err) == (0, "")
        assert out.strip()


@pytest.mark.model
def test_only_this_process_may_ask(weighted: ModelSettings) -> None:
    endpoint = serve(resolve(MODEL, settings=weighted), weighted)
    assert endpoint.url.host == "127.0.0.1"
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    for headers in ({}, {"authorization": "Bearer none"}):
        for path in ("/v1/chat/completions", "/completion", "/slots", "/props"):
            reply = httpx.post(endpoint.url.join(path), json=body, headers=headers, timeout=60)
            assert reply.status_code == httpx.codes.UNAUTHORIZED
    assert endpoint.key not in repr(weighted)


@pytest.mark.model
def test_the_first_question_of_the_documentation_has_a_green_answer(
    weighted: ModelSettings, tmp_path: Path
) -> None:
    lines = FIRST_PAGE.read_text("utf-8").splitlines()
    table, asked = (
        shlex.split(next(line for line in lines if line.startswith(f"$ {command} ")))[2:]
        for command in ("printf", "planweave ask")
    )
    (tmp_path / "sales.csv").write_text(table[0].replace("\\n", "\n"))
    environment = user_environment(tmp_path) | {
        "PLANWEAVE_WEIGHTS_DIR": str(weighted.weights_dir),
        "PLANWEAVE_TIMEOUT": "240",
    }
    planweave = in_process(tmp_path, environment)
    run = planweave(*asked, "--model", MODEL, "--setting", "seed=0", "--json")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)["answer"]
    assert (answer["decision"], answer["verdict"]["kind"]) == ("South", "supported")


async def test_file_that_is_no_model_is_told(model_settings: ModelSettings, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the extra `embedded` is not installed")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 1000)
    model = chat_model(f"embedded:{path}", settings=model_settings)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        await call(model, [HumanMessage("Hi")])


async def test_missing_runtime_is_told(
    model_settings: ModelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "any.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    model = chat_model(f"embedded:{path}", settings=model_settings)
    with pytest.raises(ModelUnavailable, match=r"planweave\[embedded\]"):
        await call(model, [HumanMessage("Hi")])


def test_cores_are_counted() -> None:
    assert 1 <= physical_cores() <= (os.cpu_count() or 1)


LEAVES_A_CALL_OPEN = """
import socket, sys, time
from pathlib import Path
from planweave.models import ModelSettings
from planweave.models.embedded import serve

endpoint = serve(Path(sys.argv[1]), ModelSettings(n_ctx=8192))
call = socket.create_connection((endpoint.url.host, endpoint.url.port))
body = b'{"prompt": "One, two,", "n_predict": 8000, "ignore_eos": true}'
head = f"POST /completion HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {endpoint.key}\\r\\n"
head += f"Content-Type: application/json\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n"
call.sendall(head.encode() + body)
time.sleep(1)
leftover = [call]
leftover.append(leftover)  # only the garbage collector closes it
del call, leftover
"""


@pytest.mark.model
def test_a_call_that_was_left_open_does_not_keep_the_process(weighted: ModelSettings) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_A_CALL_OPEN, str(resolve(MODEL, settings=weighted))],
        check=False,
        timeout=60,  # the call itself takes minutes
    )
    assert done.returncode == 0
