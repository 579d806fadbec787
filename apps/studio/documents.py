"""Documents: list collections, upload, read and delete their documents."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave import BadInput
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import parameter
from planweave.apps.studio.samples import sample_documents
from planweave.apps.studio.uploads import Uploads, file_name, uploads_folder
from planweave.texts import shorten
from planweave.tools.documents.collection import Added, delete_collection, open_collection
from planweave.tools.documents.pages import KINDS
from planweave.tools.documents.store import collections, path_of, settings
from planweave.tools.example_questions import about_documents


class Documents:
    """The routes; ``access`` says whose collections a caller sees."""

    def __init__(self, access: Access, uploads: Uploads) -> None:
        self._access = access
        self._uploads = uploads

    def listed(self, request: Request) -> JSONResponse:
        """All collections with their documents, and the kinds and size of files for upload."""
        owner = self._access.owner(request)
        found: dict[str, Any] = {}
        problems: list[str] = []
        for name in collections(owner):
            try:
                found[name] = [asdict(info) for info in open_collection(name).documents()]
            except BadInput as error:  # the collection is damaged
                problems.append(str(error if owner is None else error.without_address()))
        return JSONResponse(
            {
                "collections": found,
                "problems": problems,
                "owner": owner or "",
                "kinds": KINDS,
                "most_bytes": settings().limits().bytes,
            }
        )

    async def upload(self, request: Request) -> JSONResponse:
        """Add the request's body, a file, to a collection, which is made if it does not exist."""
        collection = self._access.writable(request, parameter(request, "collection"))
        name = file_name(parameter(request, "name"), KINDS)
        embeddings = request.query_params.get("embeddings") or None
        path_of(collection)  # refuses names that lead out of the folder
        work = partial(_add, collection, name, embeddings)
        return JSONResponse(asdict(await self._uploads.receive(request, name, work, collection)))

    def sample(self, request: Request) -> JSONResponse:
        """Make the collection of sample documents unless the caller has it."""
        return JSONResponse({"collection": sample_documents(self._access.owner(request))})

    def remove(self, request: Request) -> JSONResponse:
        """Delete a document, or the whole collection if no document is named."""
        collection = self._access.writable(request, parameter(request, "collection"))
        if document := request.query_params.get("name"):
            open_collection(collection).remove(document)
        else:
            delete_collection(collection)
        return JSONResponse({})

    def questions(self, request: Request) -> JSONResponse:
        """Example questions to the documents, made from their headings without a model."""
        collection = self._access.readable(request, parameter(request, "collection"))
        return JSONResponse({"questions": about_documents(open_collection(collection))})

    def page(self, request: Request) -> JSONResponse:
        """The text of a page of a document."""
        collection = self._access.readable(request, parameter(request, "collection"))
        number = parameter(request, "page")
        if not number.isdecimal() or len(number) > 9:
            raise BadInput(f"{shorten(number, 20)!r} is not a page number.")
        text = open_collection(collection).page(parameter(request, "name"), int(number))
        return JSONResponse({"text": text})


def _add(collection: str, name: str, embeddings: str | None, path: Path) -> Added:
    """Add a document, or a new version if the same name was uploaded before."""
    opened = open_collection(collection, embeddings=embeddings, create=True)
    original = uploads_folder() / collection / name
    return opened.add(path, original=original)[0]  # the collection copies what it needs
