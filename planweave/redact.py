"""Secrets in URLs: found, and hidden from what is shown or kept."""

import re

HIDDEN = "***"

# Greedy up to the last @: a password may itself hold one, or a slash, or a colon.
_LOGIN = re.compile(r"(\b[a-z][\w+.-]*:/+[^\s:/@]*:)(?!\$\{\w+\}@)\S+(?=@)", re.IGNORECASE)
_PARAMETER = re.compile(
    r"([?&][\w-]*(?:password|passwd|pwd|secret|token)[\w-]*=)(?!\$\{\w+\}(?:[&\s]|\Z))[^&\s]+",
    re.IGNORECASE,
)


def without_passwords(text: str) -> str:
    """Hide the password of every URL in ``text``; ``${NAME}`` in its place is left as it is."""
    return _PARAMETER.sub(rf"\1{HIDDEN}", _LOGIN.sub(rf"\1{HIDDEN}", text))


def holds_secret(url: str) -> bool:
    """Whether a URL names a user or holds a query, in either of which a secret may be."""
    place = url.partition("#")[0]
    authority = url.partition("//")[2].partition("/")[0]
    return "@" in place + authority or "?" in place
