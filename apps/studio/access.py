"""Who may do what on the studio's own routes."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from planweave import BadInput


def _anybody(_: Request) -> None:
    return None


def _any_url(_: Request, name: str) -> str:
    return name


@dataclass(frozen=True)
class Access:
    """What a server lets its callers do; by itself all that its one user may do.

    Attributes:
        owner: Whose documents and experience a request is about; None: everybody's.
        url: The URL of the database that a caller names.
    """

    owner: Callable[[Request], str | None] = _anybody
    url: Callable[[Request, str], str] = _any_url

    def collection(self, request: Request, name: str) -> str:
        """The collection that a caller means by ``name``.

        Raises:
            BadInput: It belongs to somebody else.
        """
        owner = self.owner(request)
        if owner is not None and not name.startswith(f"{owner}/"):
            raise BadInput(
                f"The collection {name!r} is not yours.", mend=f"Name one such as {owner}/energy."
            )
        return name


ONE_PERSON = Access()
"""A server that answers one person alone."""
