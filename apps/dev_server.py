"""Routes that ``langgraph dev`` serves in addition to the graphs, and the check of its callers.

The routes are the studio page and OpenAI's chat completions. The server asks for no password, and
a browser lets any web page send requests to this machine. Without a check, a page in some tab could
start runs, choose databases and models, and read the answers. So the server only answers programs
on this machine, known chat pages, and its own page.
"""

from langgraph_sdk import Auth, get_client
from starlette.applications import Starlette

from planweave.apps import studio
from planweave.apps.origins import is_known
from planweave.apps.protocols import openai_routes, over_protocol
from planweave.apps.service import service

_service = service()
_completions = openai_routes(over_protocol(lambda: get_client(api_key=None)), lambda: _service)
app = Starlette(routes=[*studio.routes(), *_completions])
auth = Auth()


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> str:
    """Admit requests that come from no web page, a known one, or one of this server."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_known(origin, host):
        raise Auth.exceptions.HTTPException(
            status_code=403, detail="This server does not answer web pages of other sites."
        )
    return "the person at this machine"
