"""Errors between planweave and a language model, each reported in one sentence.

Every provider library has its own exception classes, but nearly all of them carry an HTTP status.
The mapping below reads the status first and the class name second, so it does not import any of
them.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

import httpx
from pydantic import ValidationError

from planweave import BadInput, PlanweaveError
from planweave.models.settings import process_settings
from planweave.redact import HIDDEN, holds_secret, without
from planweave.texts import shorten

if TYPE_CHECKING:
    from planweave.models.usage import CallRecord

Trouble: TypeAlias = Literal[
    "key",
    "missing",
    "slow",
    "limited",
    "server",
    "unreachable",
    "too_long",
    "rejected",
    "out_of_time",
    "unknown",
]

_KEYS = {"google_genai": "GOOGLE_API_KEY", "mistralai": "MISTRAL_API_KEY"}
_SECRET = re.compile(r"(?i)(bearer\s+|\b(?:sk|pk|key|token)[-_])\S+|(?<=://)[^/\s@]+@")


class ModelUnavailable(PlanweaveError):
    """A language model cannot be reached, refuses access, or does not exist."""

    def __init__(self, problem: str, *, fix: str = "", trouble: Trouble = "unknown") -> None:
        super().__init__(problem, fix=fix)
        self.trouble: Trouble = trouble
        self.calls: tuple[CallRecord, ...] = ()


class OutOfTime(PlanweaveError):
    """The time of a run ended during a request to a model."""


def key_variable(name: str) -> str:
    """The name of the environment variable that holds the key for the model called ``name``."""
    if name.startswith(("http://", "https://")):
        return "PLANWEAVE_API_KEY"
    provider = name.partition(":")[0]
    if provider in _KEYS:
        return _KEYS[provider]
    return f"{re.sub(r'[^A-Za-z0-9]', '_', provider).upper()}_API_KEY"


def server_of(name: str, what: str) -> tuple[str, str]:
    """The URL and the model in a name such as ``http://host:port/v1#model``."""
    url, _, model = name.partition("#")
    try:
        host = httpx.URL(url).host
    except httpx.InvalidURL:
        host = ""
    if holds_secret(name):
        raise BadInput(
            f"The URL of {what} holds a user name, a password or a query.",
            fix="Leave it out and put the key into PLANWEAVE_API_KEY.",
        )
    if not model or not host:
        raise BadInput(
            f"The name {name!r} is not a server and {what}.",
            fix="Write it as http://host:port/v1#model.",
        )
    return url, model


def no_package(what: str, module: str) -> ModelUnavailable:
    """The error for a package that ``what`` needs; ``what`` is such as "The model x:y"."""
    package = module.partition(".")[0].replace("_", "-")
    return ModelUnavailable(
        f"{what} needs the package {package}.",
        fix=f"Install it with `pip install {package}`.",
        trouble="missing",
    )


def no_key(what: str, name: str) -> ModelUnavailable:
    """The error for a model ``name`` without a key."""
    return ModelUnavailable(
        f"{what} {name} needs a key.",
        fix=f"Set {key_variable(name)} in the environment or in the file .env.",
        trouble="key",
    )


@contextmanager
def naming_what_lacks(what: str, name: str, unknown: ModelUnavailable) -> Iterator[None]:
    """Report what LangChain lacks to make the model ``name``: a package, a key, or the model."""
    try:
        yield
    except ImportError as error:
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        module = cause.name or f"langchain_{name.partition(':')[0]}"
        raise no_package(f"{what} {name}", module) from None
    except ValidationError:
        raise no_key(what, name) from None
    except ValueError:
        raise unknown from None
    except Exception as error:  # the provider's own error, such as for a missing key
        raise unavailable(error, name) from error


def unavailable(error: Exception, name: str) -> ModelUnavailable:
    """Translate an error of a model's client library."""
    cause: BaseException | None = error
    while cause is not None:  # client libraries wrap the errors of our own transport
        if isinstance(cause, ModelUnavailable):
            return cause
        if isinstance(cause, PlanweaveError):
            known: Trouble = "out_of_time" if isinstance(cause, OutOfTime) else "unknown"
            return ModelUnavailable(cause.problem, fix=cause.fix, trouble=known)
        cause = cause.__cause__
    trouble = _trouble(error)
    problem, fix = _TEXTS[trouble]
    detail = f"{type(error).__name__}: {_first_line(error)}"
    values = {"name": name, "variable": key_variable(name), "detail": detail}
    return ModelUnavailable(problem.format(**values), fix=fix.format(**values), trouble=trouble)


def _trouble(error: Exception) -> Trouble:
    status = getattr(error, "status_code", None)
    if status is None:
        status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return _trouble_of_status(status, str(error))
    names = " ".join(cls.__name__ for cls in type(error).__mro__)
    if "ContextOverflow" in names:
        return "too_long"
    if "Timeout" in names:
        return "slow"
    if "Connect" in names or "NetworkError" in names or "ProtocolError" in names:
        return "unreachable"
    return "unknown"


def _trouble_of_status(status: int, text: str) -> Trouble:
    exact: dict[int, Trouble] = {
        401: "key",
        403: "key",
        404: "missing",
        408: "slow",
        413: "too_long",
        429: "limited",
        501: "rejected",
    }
    if status in exact:
        return exact[status]
    if status >= 500:
        return "server"
    return "too_long" if re.search(r"(?i)context.{0,20}(size|length|window)", text) else "rejected"


def _first_line(error: Exception) -> str:
    line = (str(error).strip().splitlines() or [""])[0]
    for key in _keys():  # a server may repeat the key in its error
        line = without(line, key)
    return shorten(_SECRET.sub(HIDDEN, line), 300)


def _keys() -> list[str]:
    settings = process_settings()
    own = [key.get_secret_value() for key in (settings.api_key, settings.openai_api_key) if key]
    others = [value for name, value in os.environ.items() if name.endswith("_API_KEY")]
    return [key for key in own + others if key]


_TEXTS: dict[Trouble, tuple[str, str]] = {
    "key": (
        "The model {name} did not accept the key.",
        "Set {variable} to a valid key that may use this model.",
    ),
    "missing": (
        "The server knows no model {name}.",
        "Check the model's name, and for a server of your own that its URL ends in /v1.",
    ),
    "slow": (
        "The model {name} did not answer in time.",
        "Try again, or give it longer with PLANWEAVE_TIMEOUT (seconds).",
    ),
    "limited": (
        "The model {name} refused further requests: too many in a short time, or no credit left.",
        "Wait, check the account, or set PLANWEAVE_REQUESTS_PER_SECOND lower.",
    ),
    "server": (
        "The server of the model {name} failed ({detail}).",
        "Try again later, or choose another model.",
    ),
    "unreachable": (
        "The server of the model {name} cannot be reached.",
        "Check the address, the network, and that the server is running.",
    ),
    "too_long": (
        "The prompt is longer than the model {name} can read.",
        "Shorten the rules or the schema, or raise PLANWEAVE_N_CTX for the embedded model.",
    ),
    "rejected": (
        "The model {name} rejected the request ({detail}).",
        "Check that the model supports the settings of this run.",
    ),
    "unknown": (
        "The model {name} failed ({detail}).",
        "Run `planweave doctor`, or choose another model.",
    ),
}
