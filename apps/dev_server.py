"""Who may speak to ``langgraph dev``: programs on this machine and the chat pages made for it.

The server asks for no password, and a browser lets any web page send requests to this machine:
without this door, a page that is open in some tab could start runs, name databases and models of
its choice, and read what they answer.
"""

from urllib.parse import urlsplit

from langgraph_sdk import Auth

_PAGES = {
    "https://smith.langchain.com",
    "https://eu.smith.langchain.com",
    "https://agentchat.vercel.app",
}
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}

auth = Auth()


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> str:
    """Admit requests that come from no web page, from a known one, or from one served here.

    Raises:
        Auth.exceptions.HTTPException: 403 for every other web page.
    """
    origin = headers.get(b"origin", b"").decode("latin-1")
    if origin and origin not in _PAGES and urlsplit(origin).hostname not in _THIS_MACHINE:
        raise Auth.exceptions.HTTPException(
            status_code=403, detail="This server does not answer web pages of other sites."
        )
    return "the person at this machine"
