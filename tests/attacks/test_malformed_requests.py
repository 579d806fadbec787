"""No request, however wrong, hangs, ends in an error of the server's, or leaves a run behind."""

import asyncio
import re
from collections.abc import Iterator

import httpx
import malformed
import pytest
from serve import Served, serving_planweave
from tally import RecordTried

pytestmark = pytest.mark.server

_SAMPLE = 677
_AT_ONCE = 8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving_planweave(tmp_path_factory.mktemp("malformed")) as server:
        yield server


@pytest.mark.timeout(3600)
async def test_malformed_requests_are_refused(
    server: Served, attack_is_full: bool, attack_seed: int, record_tried: RecordTried
) -> None:
    every = malformed.requests(attack_seed, None if attack_is_full else _SAMPLE)
    async with httpx.AsyncClient(base_url=server.url, timeout=malformed.SECONDS) as client:
        waiting, failed = iter(every), list[str]()

        async def caller() -> None:
            asked = {"metadata": {"graph_id": "planrag"}}
            thread = (await client.post("/threads", json=asked)).json()["thread_id"]
            for request in waiting:
                if problem := await malformed.attempt(client, thread, request):
                    failed.append(problem)

        await asyncio.gather(*(caller() for _ in range(_AT_ONCE)))
        record_tried(len(every), len(failed))
        assert not failed, "\n".join(failed[:40])
        await _nothing_is_left(client)


@pytest.mark.parametrize("wrong", malformed.WIRE)
async def test_what_is_no_request_for_this_server_is_refused(server: Served, wrong: str) -> None:
    port = int(server.url.rpartition(":")[2])
    assert not await malformed.refused("127.0.0.1", port, malformed.WIRE[wrong])
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{server.url}/ok", timeout=60)).is_success


async def _nothing_is_left(client: httpx.AsyncClient) -> None:
    """What was begun in the background ends soon."""
    async with asyncio.timeout(120):
        while True:
            figures = (await client.get("/metrics")).text
            left = re.findall(r'planweave_runs\{status="\w+"\} (\d+)', figures)
            if not any(map(int, map(float, left))):
                return
            await asyncio.sleep(0.2)
