"""Which web pages may speak to a server on this machine that asks for no password."""

from urllib.parse import urlsplit

PAGES = frozenset(
    {
        "https://smith.langchain.com",
        "https://eu.smith.langchain.com",
        "https://agentchat.vercel.app",
    }
)
"""Pages of other sites that are made to talk to a server on one's own machine."""

THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


def is_known(origin: str, host: str) -> bool:
    """Whether a request comes from no web page, from a known one, or from one served here.

    Args:
        origin: The request's ``Origin`` header; empty if it comes from no page.
        host: Its ``Host`` header: a page may have this machine's address given to its own name.
    """
    known = not origin or origin in PAGES or urlsplit(origin).hostname in THIS_MACHINE
    return known and urlsplit(f"//{host}").hostname in THIS_MACHINE
