"""Uploads: streamed to disk, one at a time for each person, within their quota."""

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
from planweave.apps.locks import NamedLocks
from planweave.apps.studio.access import Access, Quota
from planweave.learning.experience import experience_of
from planweave.state import is_file_name, private_folder
from planweave.tools.documents.collection import usage
from planweave.tools.documents.store import settings
from planweave.tools.files import kept as databases

Made = TypeVar("Made")

_MAX_CONCURRENT = 8  # in their own threads, so that no other request waits for them
_FILE_NAME = re.compile(r"[\w(][\w ()+,.&@'-]{0,119}")
_MAX_SILENT_SECONDS = 60.0  # without a byte; until then, the sender's next upload waits


class Uploads:
    """Receives uploads, one at a time for each person."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._locks = NamedLocks()
        self._threads = CapacityLimiter(_MAX_CONCURRENT)

    async def receive(
        self, request: Request, name: str, work: Callable[[Path], Made], place: str = ""
    ) -> Made:
        """Pass the request's body, a file, to ``work``, one at a time per owner or ``place``."""
        owner, quota = self._access.owner(request), self._access.quota(request)
        async with self._locks.get(owner or place):
            max_bytes = await run_sync(room, owner, quota, limiter=self._threads)
            folder = await run_sync(uploads_folder, limiter=self._threads)
            async with receive_file(request, folder, name, max_bytes) as path:
                return await run_sync(work, path, limiter=self._threads)


def uploads_folder() -> Path:
    """The folder for files during an upload; also the recorded origin of uploaded documents."""
    return private_folder(settings().data_dir / "uploads", "uploads", "PLANWEAVE_DATA_DIR")


def room(owner: str | None, quota: Quota) -> int:
    """Bytes that the next document or database of this person may have."""
    if owner is not None and quota.documents is not None:
        kept = usage(owner).documents + databases.usage(owner).databases
        if kept >= quota.documents:
            raise _quota_error(f"Your quota of documents ({quota.documents:,}) is used up.")
    return bytes_left(owner, quota)


def bytes_left(owner: str | None, quota: Quota) -> int:
    """Bytes that this person may send; their experience counts, too."""
    max_bytes = settings().limits().bytes
    if owner is None or quota.bytes is None:
        return max_bytes
    kept = usage(owner).bytes + databases.usage(owner).bytes + experience_of(owner).bytes
    if kept >= quota.bytes:
        raise _quota_error(f"Your quota for documents ({quota.bytes / 1e6:,.1f} MB) is used up.")
    return min(max_bytes, quota.bytes - kept)


def file_name(name: str, kinds: Collection[str]) -> str:
    """Check the name of an uploaded file, so that it leads to no other folder."""
    if not is_file_name(name, _FILE_NAME) or ".." in name:
        raise BadInput(
            f"{name!r} cannot be a file name.",
            fix="Use letters, digits, spaces and . - _ ( ), at most 120 of them (200 bytes).",
        )
    if not name.lower().endswith(tuple(kinds)):
        raise BadInput(
            f"{name} is not a kind of file that can be read.",
            fix=f"The kinds are: {', '.join(kinds)}.",
        )
    return name


@asynccontextmanager
async def receive_file(
    request: Request, folder: Path, name: str, max_bytes: int
) -> AsyncIterator[Path]:
    """Receive the body of a request as a file in a temporary folder."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise _size_error(max_bytes)
    place = await run_sync(partial(mkdtemp, dir=folder, prefix="upload-"))
    try:
        path = Path(place, name)
        async with await anyio.open_file(path, "wb") as file:
            await _receive(request, file, max_bytes)
        yield path
    finally:
        with anyio.CancelScope(shield=True):
            await run_sync(partial(rmtree, place, ignore_errors=True))


async def _receive(request: Request, file: "anyio.AsyncFile[bytes]", max_bytes: int) -> None:
    size = 0
    parts = request.stream()
    while True:
        try:
            async with asyncio.timeout(_MAX_SILENT_SECONDS):
                part = await anext(parts, None)
        except TimeoutError:
            raise BadInput(
                f"The upload sent nothing for {_MAX_SILENT_SECONDS:.0f} seconds.",
                fix="Send it again.",
            ) from None
        if part is None:
            return
        size += len(part)
        if size > max_bytes:
            raise _size_error(max_bytes)
        await file.write(part)


def _quota_error(problem: str) -> BadInput:
    return BadInput(
        problem, fix="Delete some of your files, or ask the operator to raise your quota."
    )


def _size_error(max_bytes: int) -> BadInput:
    return BadInput(f"The upload is larger than {max_bytes:,} bytes.", fix="Send less.")
