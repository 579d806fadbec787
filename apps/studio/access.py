"""Permissions on the studio's own routes."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from planweave import BadInput
from planweave.apps.service import Service, service
from planweave.tools.files.kept import path_of


@dataclass(frozen=True)
class Quota:
    """Storage limits of one person; None is no limit. The last document may exceed them."""

    documents: int | None = 1_000  # including uploaded databases and empty collections
    bytes: int | None = 2_000_000_000  # including vectors


@dataclass(frozen=True)
class Access:
    """What a server allows its callers."""

    owner: Callable[[Request], str | None] = lambda _: None  # None: the server has a single person
    service: Callable[[], Service] = service  # what the server offers by name
    quota: Callable[[Request], Quota] = lambda _: Quota()

    def offered(self, request: Request) -> dict[str, list[str]]:
        """The names that a caller may choose for each setting; empty for a single person."""
        return {} if self.owner(request) is None else self.service().offered

    def url(self, request: Request, name: str) -> str:
        """The URL of the database called ``name``; for a single person, the name itself."""
        owner = self.owner(request)
        if owner is None:
            return name
        if name.startswith(f"{owner}/"):
            return str(path_of(name.removeprefix(f"{owner}/"), owner))
        service = self.service()
        urls = {**service.graphs, **service.databases}
        if name not in urls:
            raise BadInput(
                f"There is no database {name!r} here.",
                fix=f"The databases are: {', '.join(urls) or 'none'}.",
            )
        return urls[name]

    def readable(self, request: Request, name: str) -> str:
        """The collection ``name``, if the caller may read it: their own, or an offered one."""
        if name in self.offered(request).get("collection", ()):
            return name
        return self.writable(request, name)

    def writable(self, request: Request, name: str) -> str:
        """The collection ``name``, if it is the caller's own."""
        owner = self.owner(request)
        if owner is not None and not name.startswith(f"{owner}/"):
            raise BadInput(
                f"The collection {name!r} is not yours.", fix=f"Name one such as {owner}/energy."
            )
        return name


ONE_PERSON = Access()
"""Access to a server of a single person."""
