"""Security headers and JSON errors for every reply of the studio."""

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planweave import BadInput, PlanweaveError
from planweave.apps.studio.access import Access

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """Adds the headers to every reply, and returns errors that a person can fix as ``detail``."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        except PlanweaveError as error:
            is_shared = self._access.owner(Request(scope)) is not None
            detail = str(error.without_address() if is_shared else error)
            await JSONResponse({"detail": detail}, status_code=400)(
                scope, receive, send_with_headers
            )


def parameter(request: Request, name: str) -> str:
    """A required parameter of the request's URL."""
    if not (value := request.query_params.get(name, "")):
        raise BadInput(f"The parameter {name} is missing.")
    return value
