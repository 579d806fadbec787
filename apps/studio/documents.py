"""Documents: collections are listed, uploaded to, read and deleted from."""

import re
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from apps.studio.access import Access
from apps.studio.guard import asked, body
from planweave import BadInput
from tools.documents import Added, collections, delete_collection, open_collection
from tools.documents.pages import KINDS, kind_of
from tools.documents.store import documents_folder, path_of, settings

_FILE_NAME = re.compile(r"[\w(][\w ()+,.&@'-]{0,119}")
_adding = Lock()  # two uploads of one name would use one file


class Documents:
    """The routes; ``access`` says whose collections a caller sees."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def listed(self, request: Request) -> JSONResponse:
        """All collections with their documents, the kinds of files that are read, and the limit."""
        names = collections(self._access.owner(request))
        return JSONResponse(
            {
                "collections": {
                    name: [asdict(info) for info in open_collection(name).documents()]
                    for name in names
                },
                "kinds": KINDS,
                "most_bytes": settings().limits().bytes,
            }
        )

    async def upload(self, request: Request) -> JSONResponse:
        """Add the file that is the request's body to a collection, which is made if need be."""
        collection = self._access.writable(request, asked(request, "collection"))
        name = file_name(asked(request, "name"))
        content = await body(request, settings().limits().bytes)
        embeddings = request.query_params.get("embeddings") or None
        added = await run_in_threadpool(_add, collection, name, content, embeddings)
        return JSONResponse(asdict(added))

    def remove(self, request: Request) -> JSONResponse:
        """Take a document away, or a whole collection if none is named."""
        collection = self._access.writable(request, asked(request, "collection"))
        if document := request.query_params.get("name"):
            open_collection(collection).remove(document)
        else:
            delete_collection(collection)
        return JSONResponse({})

    def page(self, request: Request) -> JSONResponse:
        """The text of a page of a document."""
        collection = self._access.readable(request, asked(request, "collection"))
        number = asked(request, "page")
        if not number.isdecimal():
            raise BadInput(f"{number!r} is no number of a page.")
        text = open_collection(collection).page(asked(request, "name"), int(number))
        return JSONResponse({"text": text})


def file_name(name: str) -> str:
    """The name of an uploaded file, once it is sure that it leads nowhere.

    Raises:
        BadInput: It is no plain file name, or of a kind that is not read.
    """
    if not _FILE_NAME.fullmatch(name) or ".." in name:
        raise BadInput(
            f"{name!r} cannot be the name of a document.",
            mend="Use letters, digits, spaces and . - _ ( ), at most 120 of them.",
        )
    if kind_of(Path(name)) is None:
        raise BadInput(
            f"{name} is of no kind that can be read.", mend=f"Known are {', '.join(KINDS)}."
        )
    return name


def _add(collection: str, name: str, content: bytes, embeddings: str | None) -> Added:
    """Add a document; where the same name was uploaded before, this is its new version."""
    path_of(collection)  # refuses what could lead out of the folder
    folder = documents_folder().parent / "uploads" / collection
    with _adding:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / name
        try:
            path.write_bytes(content)
            opened = open_collection(collection, embeddings=embeddings, create=True)
            return opened.add(path)[0]
        finally:
            path.unlink(missing_ok=True)  # the collection keeps what it needs
