"""Who calls: identified by an API key or by the operator's function."""

import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from urllib.parse import parse_qsl, urlencode

from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from planweave import BadInput
from planweave.apps.server.settings import ServerSettings, User, UserLimits, read_users, write_users
from planweave.memory import LOCAL

Hook = Callable[[Mapping[str, str]], Awaitable[str | None]]
"""Returns the user's name for the headers of a request; None if the user is not admitted."""

_OWNER = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

_KEY_NEEDED = "A key is needed: send it as x-api-key."
_LINK_NEEDED = (
    "A token is needed: open the link that planweave serve has printed, or send its token as "
    "x-api-key."
)


@dataclass(frozen=True)
class Person:
    """Who makes a request."""

    name: str
    limits: UserLimits
    shared: bool = False  # the server has users, and offers its sources by name

    @property
    def owner(self) -> str:
        """The name as part of names of collections and of memory, unique for each person.

        A user called ``local`` gets another one than the single person of a server without users.
        """
        plain = _OWNER.fullmatch(self.name) and not self.name.startswith("u-")
        if plain and not (self.shared and self.name == LOCAL):
            return self.name
        return f"u-{hashlib.sha256(self.name.encode()).hexdigest()[:32]}"


class Gate:
    """Identifies callers.

    Without users and without a hook, the caller is the single person of this machine, identified by
    the token in the link that the server printed. Other users of the machine, and web pages of
    other programs on it, do not have the token.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._shared = settings.shared
        self._token = "" if settings.shared else settings.token.get_secret_value()
        self.asks = _LINK_NEEDED if self._token else _KEY_NEEDED
        self._cookie = f"planweave_{digest(self._token)[:12]}"
        self._limits = settings.limits
        self._users = read_users(settings.users) if settings.users else {}
        self._names = {key: name for name, user in self._users.items() for key in user.keys}
        self._hook = _load(settings.auth) if settings.auth else None

    @property
    def has_no_users(self) -> bool:
        """Whether nobody can be admitted: there is no key and no hook."""
        return self._shared and not self._names and self._hook is None

    def limits(self, name: str) -> UserLimits:
        """The limits of a person."""
        return self._users.get(name, self._limits)

    async def person(self, headers: Mapping[str, str]) -> Person | None:
        """The person that the headers identify; None if nobody is admitted."""
        if not self._shared:
            known = not self._token or self._has_token(headers)
            return Person(LOCAL, self._limits) if known else None
        name = self._names.get(digest(_key(headers)))
        if name is None and self._hook is not None:
            name = await self._hook(headers)
        if not name:
            return None
        return Person(name, self.limits(name), shared=True)

    def redirect_without_token(self, scope: Scope) -> Response | None:
        """Redirect a link with the right token to the page without it; set the token as a cookie.

        So the token is neither in the browser's history nor in the page's address.
        """
        if not self._token or scope["method"] != "GET" or b"token=" not in scope["query_string"]:
            return None
        sent = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == "token" and self._is_token(value) for name, value in sent):
            return None
        rest = urlencode([pair for pair in sent if pair[0] != "token"])
        path = f"/{scope['path'].lstrip('/')}"  # two slashes would lead to another host
        reply = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        reply.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        return reply

    def _has_token(self, headers: Mapping[str, str]) -> bool:
        """Whether a request has the token, as a key or in the cookie of this server's pages.

        A browser also sends the cookie for pages of other ports, so the origin is checked.
        """
        if self._is_token(_key(headers)):
            return True
        origin, host = headers.get("origin", ""), headers.get("host", "")
        own = origin in ("", f"http://{host}", f"https://{host}")
        if not own or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return False
        cookies = cookie_parser(headers.get("cookie", ""))
        return self._is_token(cookies.get(self._cookie, ""))

    def _is_token(self, sent: str) -> bool:
        return secrets.compare_digest(sent.encode(), self._token.encode())


def digest(key: str) -> str:
    """The stored hash of a key. Keys are random and long, so one round of SHA-256 hides them."""
    return hashlib.sha256(key.encode()).hexdigest()


def new_key(settings: ServerSettings, name: str) -> str:
    """Make a key for a user, save its hash, and return the key, which cannot be shown again."""
    if settings.users is None:
        raise BadInput(
            "There is no file of users.", fix="Name one: planweave serve --users users.json."
        )
    if not name.strip():
        raise BadInput("The name of the user is empty.", fix="Write it after --new-key.")
    users = read_users(settings.users)
    user = users.get(name, User())
    key = f"pw_{secrets.token_urlsafe(32)}"
    users[name] = user.model_copy(update={"keys": (*user.keys, digest(key))})
    write_users(settings.users, users)
    return key


def _key(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return headers.get("x-api-key", "") or (token.strip() if scheme.lower() == "bearer" else "")


def _load(path: str) -> Hook:
    module, _, name = path.partition(":")
    try:
        hook: Hook = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadInput(
            f"The hook {path!r} cannot be loaded ({error}).",
            fix="Name an async function as module:function.",
        ) from None
    return hook
