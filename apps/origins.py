"""Which web pages may call a server on this machine that asks for no password."""

import re

PAGES = frozenset(
    {
        "https://smith.langchain.com",
        "https://eu.smith.langchain.com",
        "https://agentchat.vercel.app",
    }
)
"""Pages of other sites that talk to a server on the user's own machine."""

THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})

# Matched as a whole: a URL parser finds ::1 in [::1].evil.example.
_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(rf"https?://{_HOST.pattern}", re.IGNORECASE)


def is_here(host: str) -> bool:
    """Whether a ``Host`` header names this machine."""
    return _HOST.fullmatch(host) is not None


def is_known(origin: str, host: str) -> bool:
    """Whether a request comes from no web page, from a known page, or from a page of this server.

    ``host`` is checked as well: a foreign domain name may resolve to this machine's address.
    """
    known = not origin or origin in PAGES or _ORIGIN.fullmatch(origin)
    return bool(known) and is_here(host)
