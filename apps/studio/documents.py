"""Documents: collections are listed, uploaded to, read and deleted from."""

from dataclasses import asdict
from pathlib import Path

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave import BadInput
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import asked
from planweave.apps.studio.samples import sample_documents
from planweave.apps.studio.uploads import AT_ONCE, Turns, file_name, received, room
from planweave.tools.documents import Added, collections, delete_collection, open_collection
from planweave.tools.documents.pages import KINDS
from planweave.tools.documents.store import documents_folder, path_of, settings
from planweave.tools.example_questions import about_documents


class Documents:
    """The routes; ``access`` says whose collections a caller sees."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._turns = Turns()
        self._threads = CapacityLimiter(AT_ONCE)

    def listed(self, request: Request) -> JSONResponse:
        """All collections with their documents, the kinds of files that are read, and the limit."""
        owner = self._access.owner(request)
        names = collections(owner)
        return JSONResponse(
            {
                "collections": {
                    name: [asdict(info) for info in open_collection(name).documents()]
                    for name in names
                },
                "owner": owner or "",
                "kinds": KINDS,
                "most_bytes": settings().limits().bytes,
            }
        )

    async def upload(self, request: Request) -> JSONResponse:
        """Add the file that is the request's body to a collection, which is made if need be."""
        collection = self._access.writable(request, asked(request, "collection"))
        name = file_name(asked(request, "name"), KINDS)
        embeddings = request.query_params.get("embeddings") or None
        owner, quota = self._access.owner(request), self._access.quota(request)
        async with self._turns.of(owner or collection):
            most = await run_sync(room, owner, quota, limiter=self._threads)
            folder = await run_sync(_uploads, collection, limiter=self._threads)
            async with received(request, folder.parent, name, most) as path:
                added = await run_sync(
                    _add, collection, path, folder / name, embeddings, limiter=self._threads
                )
        return JSONResponse(asdict(added))

    def sample(self, request: Request) -> JSONResponse:
        """Make the collection of sample documents, if the caller does not have it."""
        return JSONResponse({"collection": sample_documents(self._access.owner(request))})

    def remove(self, request: Request) -> JSONResponse:
        """Take a document away, or a whole collection if none is named."""
        collection = self._access.writable(request, asked(request, "collection"))
        if document := request.query_params.get("name"):
            open_collection(collection).remove(document)
        else:
            delete_collection(collection)
        return JSONResponse({})

    def questions(self, request: Request) -> JSONResponse:
        """Questions that the documents can answer, made from their headings without a model."""
        collection = self._access.readable(request, asked(request, "collection"))
        return JSONResponse({"questions": about_documents(open_collection(collection))})

    def page(self, request: Request) -> JSONResponse:
        """The text of a page of a document."""
        collection = self._access.readable(request, asked(request, "collection"))
        number = asked(request, "page")
        if not number.isdecimal():
            raise BadInput(f"{number!r} is no number of a page.")
        text = open_collection(collection).page(asked(request, "name"), int(number))
        return JSONResponse({"text": text})


def _uploads(collection: str) -> Path:
    """The folder that an uploaded document is said to come from; files are received beside it."""
    path_of(collection)  # refuses what could lead out of the folder
    folder = documents_folder().parent / "uploads" / collection
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _add(collection: str, path: Path, original: Path, embeddings: str | None) -> Added:
    """Add a document; where the same name was uploaded before, this is its new version."""
    opened = open_collection(collection, embeddings=embeddings, create=True)
    return opened.add(path, original=original)[0]  # the collection keeps what it needs
