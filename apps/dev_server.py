"""What ``langgraph dev`` offers besides the graphs, and who may speak to it.

It offers the studio page and OpenAI's chat completions. It asks for no password, and a browser
lets any web page send requests to this machine: without a check, a page that is open in some tab
could start runs, name databases and models of its choice, and read what they answer. So it answers
programs on this machine, the chat pages made for it, and its own page.
"""

from langgraph_sdk import Auth, get_client
from starlette.applications import Starlette

from planweave.apps import studio
from planweave.apps.embed import openai_routes, over_protocol
from planweave.apps.origins import is_known
from planweave.apps.service import service

_offered = service()
_completions = openai_routes(over_protocol(lambda: get_client(api_key=None)), lambda: _offered)
app = Starlette(routes=[*studio.routes(), *_completions])
auth = Auth()


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> str:
    """Admit requests that come from no web page, from a known one, or from one served here."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_known(origin, host):
        raise Auth.exceptions.HTTPException(
            status_code=403, detail="This server does not answer web pages of other sites."
        )
    return "the person at this machine"
