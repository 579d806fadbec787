"""Measures what the bombs cost others.

Run it by ``PYTHONPATH=.:tests/support python tests/attacks/measure_document_bombs.py``.

One user of ``planweave serve`` uploads bomb after bomb over several connections; another asks for
small things meanwhile. Prints how each bomb ends, and the other's times at rest and beside them.
"""

import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from document_bombs import BOMBS
from serve import serving_planweave

DOCUMENTS = "/studio/api/documents"
NAMES = ("mallory", "mary", "alice")
REQUESTS = ("/ok", "/studio/api/methods", DOCUMENTS)
REST = 10.0  # seconds
EACH = 4  # bomb is tried; 1 tries all
CONNECTIONS = 2  # of each of the two attackers


def main() -> None:
    """Print the table and the ratio."""
    with TemporaryDirectory(prefix="planweave-bombs-") as folder:
        users = Path(folder, "users.json")
        keys = {name: {"keys": [hashlib.sha256(name.encode()).hexdigest()]} for name in NAMES}
        users.write_text(json.dumps(keys))
        with serving_planweave(Path(folder), "--users", str(users)) as served:
            clients = [
                httpx.Client(base_url=served.url, headers={"x-api-key": name}, timeout=600)
                for name in NAMES
            ]
            for line in measure(*clients):
                sys.stdout.write(f"{line}\n")


def measure(mallory: httpx.Client, mary: httpx.Client, alice: httpx.Client) -> Iterator[str]:
    """Time alice's requests alone, and while the others upload."""
    bombs = [(name, BOMBS[name]()) for name in [*BOMBS][::EACH]]
    yield upload(alice, "alice", ("note.txt", b"Losses fell."))
    end = time.monotonic() + REST
    rest = times(alice, lambda: time.monotonic() < end)
    with ThreadPoolExecutor(2 * CONNECTIONS) as threads:
        attackers = [(mallory, "mallory"), (mary, "mary")] * len(bombs)
        ends = [
            threads.submit(upload, client, name, bomb)
            for (client, name), bomb in zip(attackers, bombs, strict=False)
        ]
        beside = times(alice, lambda: not all(one.done() for one in ends))
    yield from (one.result() for one in ends)
    for name, taken in (("alone", rest), ("beside the bombs", beside)):
        slow = statistics.quantiles(taken, n=20)[-1]
        yield (
            f"{name}: {len(taken)} requests, median {statistics.median(taken) * 1e3:.1f} ms, "
            f"19 of 20 below {slow * 1e3:.1f} ms, longest {max(taken) * 1e3:.0f} ms"
        )
    yield f"ratio of the medians: {statistics.median(beside) / statistics.median(rest):.2f}"


def upload(client: httpx.Client, owner: str, bomb: tuple[str, bytes]) -> str:
    """How an upload ends, in one line."""
    name, content = bomb
    begun = time.monotonic()
    place = {"collection": f"{owner}/bombs", "name": name, "embeddings": "none"}
    reply = client.put(DOCUMENTS, params=place, content=content)
    told = reply.json()
    end = told.get("detail") or f"{told['pages']} pages"
    return (
        f"{time.monotonic() - begun:6.2f} s, waiting included  {reply.status_code}  {name}: {end}"
    )


def times(client: httpx.Client, going: Callable[[], bool]) -> list[float]:
    """Seconds of each of the small requests, asked for in turn."""
    taken = []
    while going():
        for path in REQUESTS:
            begun = time.monotonic()
            client.get(path).raise_for_status()
            taken.append(time.monotonic() - begun)
        time.sleep(0.02)
    return taken


if __name__ == "__main__":
    main()
