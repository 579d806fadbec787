"""Secrets in URLs: finds them, and hides them in texts that are shown or stored."""

import re

HIDDEN = "***"
_LONG = 4
"""From this length on, a secret is hidden inside words, too."""

# Each pattern matches in one pass: a caller may have sent megabytes of text.
_RUN = re.compile(r"\S++")
_LOGIN = re.compile(r"\b[a-z][\w+.-]{0,60}:/+[^\s:/@]*:(?!\$\{\w+\}@)", re.IGNORECASE)
_PARAMETER = re.compile(
    r"((?<![^?&\s])(?=[\w-]*(?:password|passwd|pwd|secret|token))[\w-]*+=)"
    r"(?!\$\{\w+\}(?:[&\s]|\Z))[^&\s]+",
    re.IGNORECASE,
)


def without_passwords(text: str) -> str:
    """Hide the password of every URL in ``text``, and the value of ``password=``.

    ``${NAME}`` in place of a password stays.
    """
    shown = _RUN.sub(_without_login, text) if "@" in text else text
    return _PARAMETER.sub(rf"\1{HIDDEN}", shown)


def _without_login(run: re.Match[str]) -> str:
    """Hide the login in a run without blanks; passwords may contain @, so the last @ ends them."""
    text, end = run[0], run[0].rfind("@")
    found = _LOGIN.search(text, 0, end + 1) if end > 0 else None
    if found is None or found.end() == end:
        return text
    return f"{text[: found.end()]}{HIDDEN}{text[end:]}"


def without(text: str, secret: str) -> str:
    """Hide a secret that a message may repeat; a short secret only if it is not part of a word."""
    if len(secret) >= _LONG:
        return text.replace(secret, HIDDEN)
    return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text) if secret else text


def holds_secret(url: str) -> bool:
    """Whether a URL has a user or a query, either of which may contain a secret."""
    place = url.partition("#")[0]
    authority = url.partition("//")[2].partition("/")[0]
    return "@" in place + authority or "?" in place
