"""One base class for every error that planweave raises on purpose."""

import logging
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pydantic import ValidationError


log = logging.getLogger(__name__)


class PlanweaveError(ValueError):
    """An error that a person can fix: one sentence states the problem, one the fix.

    The interfaces (command line, servers) print ``str(error)`` without a traceback; the command
    line exits with ``exit_code``. The base is ``ValueError``, because ``langgraph dev`` only passes
    on the texts of built-in errors. ``problem`` contains no secret; ``fix`` is empty if ``problem``
    already says what to do.
    """

    exit_code = 1
    elsewhere: ClassVar[str] = ""
    """A problem without a place, for callers who only know sources by name; empty if not needed."""

    def __init__(self, problem: str, *, fix: str = "") -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem} {self.fix}".strip()

    def without_address(self) -> "PlanweaveError":
        """The error for such callers; the operator finds the place of the source in the log."""
        if not self.elsewhere:
            return self
        log.error("what a caller named cannot be used: %s", self)
        return type(self)(self.elsewhere, fix="Ask the operator: the server's log says why.")

    def __reduce__(self) -> tuple[object, ...]:
        """Support other processes: pickle would pass ``fix`` without its name."""
        return partial(type(self), fix=self.fix), (self.problem,), self.__dict__


class BadInput(PlanweaveError):
    """The user's input (a file, a URL, a setting, a question) cannot be used."""


class StoreUnusable(BadInput):
    """Stored data that outlasts a run cannot be read or written."""

    elsewhere = "What is kept here cannot be used at present."


def require(what: str, extra: str, *packages: str) -> None:
    """Check that the packages for something are installed."""
    if missing := [name for name in packages if find_spec(name) is None]:
        raise BadInput(
            f"{what} needs the package {missing[0]}.",
            fix=f"Install it: pip install 'planweave[{extra}]'.",
        )


def first_problem(error: "ValidationError") -> str:
    """The place and reason of the first problem that pydantic found, without the value itself."""
    place, reason = place_and_reason(error)
    return ": ".join(filter(None, (".".join(map(str, place)), reason)))


def place_and_reason(error: "ValidationError") -> tuple[list[Any], str]:
    """The place and the reason separately; alternatives that pydantic tried are not in it."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = [part for part in first["loc"] if "[" not in str(part)]
    if first["type"] == "extra_forbidden":
        return place[:-1], f"there is no field {place[-1]!r}"
    return place, first["msg"].removeprefix("Value error, ")
