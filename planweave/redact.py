"""Secrets in URLs: found, and hidden from what is shown or kept."""

import re

HIDDEN = "***"
_LONG = 4
"""Characters from which on a secret is hidden within words, too."""

# Each is found in one pass: what is looked through may be megabytes that a caller has sent.
_RUN = re.compile(r"\S++")
_LOGIN = re.compile(r"\b[a-z][\w+.-]{0,60}:/+[^\s:/@]*:(?!\$\{\w+\}@)", re.IGNORECASE)
_PARAMETER = re.compile(
    r"((?<![^?&\s])(?=[\w-]*(?:password|passwd|pwd|secret|token))[\w-]*+=)"
    r"(?!\$\{\w+\}(?:[&\s]|\Z))[^&\s]+",
    re.IGNORECASE,
)


def without_passwords(text: str) -> str:
    """Hide the password of every URL in ``text``, and what follows ``password=``.

    ``${NAME}`` in its place is left as it is.
    """
    shown = _RUN.sub(_without_login, text) if "@" in text else text
    return _PARAMETER.sub(rf"\1{HIDDEN}", shown)


def _without_login(run: re.Match[str]) -> str:
    """What has no blank in it; a password may itself hold @, / or :, so the last @ ends it."""
    text, end = run[0], run[0].rfind("@")
    found = _LOGIN.search(text, 0, end + 1) if end > 0 else None
    if found is None or found.end() == end:
        return text
    return f"{text[: found.end()]}{HIDDEN}{text[end:]}"


def without(text: str, secret: str) -> str:
    """Hide a secret that a message may repeat; a short one only where it is no part of a word."""
    if len(secret) >= _LONG:
        return text.replace(secret, HIDDEN)
    return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text) if secret else text


def holds_secret(url: str) -> bool:
    """Whether a URL names a user or holds a query, in either of which a secret may be."""
    place = url.partition("#")[0]
    authority = url.partition("//")[2].partition("/")[0]
    return "@" in place + authority or "?" in place
