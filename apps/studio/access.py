"""Who may do what on the studio's own routes."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from planweave import BadInput
from planweave.apps.service import Service, service
from planweave.tools.files.kept import path_of


@dataclass(frozen=True)
class Quota:
    """What one person may keep; None is no limit. The document that reaches it may go over it."""

    documents: int | None = 1_000  # uploaded databases and empty collections among them
    bytes: int | None = 2_000_000_000  # vectors included


@dataclass(frozen=True)
class Access:
    """What a server lets its callers do."""

    owner: Callable[[Request], str | None] = lambda _: None  # None: there is one person alone
    service: Callable[[], Service] = service  # what is offered by name
    quota: Callable[[Request], Quota] = lambda _: Quota()

    def offered(self, request: Request) -> dict[str, list[str]]:
        """The names that a caller may choose from for a setting; nothing for the one person."""
        return {} if self.owner(request) is None else self.service().offered

    def url(self, request: Request, name: str) -> str:
        """The URL of the database that a caller means by ``name``; for the one person itself."""
        owner = self.owner(request)
        if owner is None:
            return name
        if name.startswith(f"{owner}/"):
            return str(path_of(name.removeprefix(f"{owner}/"), owner))
        offer = self.service()
        urls = {**offer.graphs, **offer.databases}
        if name not in urls:
            raise BadInput(
                f"There is no database {name!r} here.",
                fix=f"Offered are: {', '.join(urls) or 'none'}.",
            )
        return urls[name]

    def readable(self, request: Request, name: str) -> str:
        """The collection ``name``, if a caller may read it: their own, or one that is offered."""
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
"""A server that answers one person alone."""
