"""Errors of requests that do not concern their contents, with their HTTP status."""

from planweave import BadInput, PlanweaveError


class RequestRefused(PlanweaveError):
    """A request that the server refuses with ``status`` and one sentence."""

    status = 422


class NotFound(RequestRefused):
    """There is no such thing, or it belongs to another user."""

    status = 404


class Conflict(RequestRefused):
    """The thread is busy, or the name is taken."""

    status = 409


class TooLarge(RequestRefused):
    """The body is larger than the server reads."""

    status = 413


class TooMuch(RequestRefused):
    """A budget of the caller is used up."""

    status = 429


class NothingWaits(BadInput):
    """An answer on a thread that waits for none."""

    def __init__(
        self,
        problem: str = "Nothing waits for a decision on this thread.",
        *,
        fix: str = "Ask the question again.",
    ) -> None:
        super().__init__(problem, fix=fix)
