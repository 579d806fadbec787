"""Uploads: streamed to disk, one at a time for each person, within the room that they have."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TypeVar

import anyio
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request

from planweave import BadInput
from planweave.apps.studio.access import Access, Quota
from planweave.apps.turns import Turns
from planweave.learning.experience import experience_of
from planweave.state import private_folder
from planweave.tools.documents.collection import usage
from planweave.tools.documents.store import settings
from planweave.tools.files import kept as databases

Made = TypeVar("Made")

_AT_ONCE = 8  # uploads that threads of their own work on: no other request waits for one
_FILE_NAME = re.compile(r"[\w(][\w ()+,.&@'-]{0,119}")
_SILENCE = 60.0  # seconds without a byte: the sender is gone, and his next upload waits


class Uploads:
    """What people send: from each of them one file at a time, whatever becomes of it."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._turns = Turns()
        self._threads = CapacityLimiter(_AT_ONCE)

    async def taken(
        self, request: Request, name: str, work: Callable[[Path], Made], place: str = ""
    ) -> Made:
        """What ``work`` makes of the request's body, a file; uploads to a ``place`` take turns."""
        owner, quota = self._access.owner(request), self._access.quota(request)
        async with self._turns.of(owner or place):
            most = await run_sync(room, owner, quota, limiter=self._threads)
            folder = await run_sync(uploads_folder, limiter=self._threads)
            async with received(request, folder, name, most) as path:
                return await run_sync(work, path, limiter=self._threads)


def uploads_folder() -> Path:
    """Where files are received, and where an uploaded document is said to come from."""
    return private_folder(settings().data_dir / "uploads", "uploads", "PLANWEAVE_DATA_DIR")


def room(owner: str | None, quota: Quota) -> int:
    """Bytes that one more document or database of this person may have."""
    if owner is not None and quota.documents is not None:
        kept = usage(owner).documents + databases.usage(owner).databases
        if kept >= quota.documents:
            raise _full(f"Your quota of documents ({quota.documents:,}) is used up.")
    return bytes_left(owner, quota)


def bytes_left(owner: str | None, quota: Quota) -> int:
    """Bytes that this person may send at once; experience counts, too."""
    most = settings().limits().bytes
    if owner is None or quota.bytes is None:
        return most
    kept = usage(owner).bytes + databases.usage(owner).bytes + experience_of(owner).bytes
    if kept >= quota.bytes:
        raise _full(f"Your quota for documents ({quota.bytes / 1e6:,.1f} MB) is used up.")
    return min(most, quota.bytes - kept)


def file_name(name: str, kinds: Collection[str]) -> str:
    """The name of an uploaded file, once it is sure that it leads nowhere."""
    if not _FILE_NAME.fullmatch(name) or ".." in name:
        raise BadInput(
            f"{name!r} cannot be the name of a file.",
            fix="Use letters, digits, spaces and . - _ ( ), at most 120 of them.",
        )
    if not name.lower().endswith(tuple(kinds)):
        raise BadInput(
            f"{name} is of no kind that can be read.", fix=f"Known are {', '.join(kinds)}."
        )
    return name


@asynccontextmanager
async def received(request: Request, folder: Path, name: str, most: int) -> AsyncIterator[Path]:
    """The body of a request as a file, in a folder of its own that is deleted after."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise _too_large(most)
    place = await run_sync(partial(mkdtemp, dir=folder, prefix="upload-"))
    try:
        path = Path(place, name)
        async with await anyio.open_file(path, "wb") as file:
            await _receive(request, file, most)
        yield path
    finally:
        with anyio.CancelScope(shield=True):
            await run_sync(partial(rmtree, place, ignore_errors=True))


async def _receive(request: Request, file: "anyio.AsyncFile[bytes]", most: int) -> None:
    size = 0
    parts = request.stream()
    while True:
        try:
            async with asyncio.timeout(_SILENCE):
                part = await anext(parts, None)
        except TimeoutError:
            raise BadInput(
                f"Nothing of the upload came for {_SILENCE:.0f} seconds.", fix="Send it again."
            ) from None
        if part is None:
            return
        size += len(part)
        if size > most:
            raise _too_large(most)
        await file.write(part)


def _full(problem: str) -> BadInput:
    return BadInput(
        problem, fix="Delete some of what you keep, or ask the operator to raise your quota."
    )


def _too_large(most: int) -> BadInput:
    return BadInput(f"What was sent is larger than {most:,} bytes.", fix="Send less.")
