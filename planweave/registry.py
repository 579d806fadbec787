"""Objects of one kind by name: our own, registered ones, and those of installed packages."""

import logging
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from planweave.errors import BadInput

T = TypeVar("T")
_log = logging.getLogger(__name__)
_NONE: Mapping[str, str] = MappingProxyType({})


class Registry(Generic[T]):
    """All objects of one kind, such as ``method``, by name.

    Our own modules (by name, the module that registers the object) and installed packages are
    imported at their first use, so that listing names is quick. An installed package provides an
    object by an entry point of the group ``planweave.<kind>s``, after the last word of the kind.
    The entry point refers to the object, or to a module that registers it on import. ``accepts``
    says whether an object is of this kind.
    """

    def __init__(
        self, kind: str, *, accepts: Callable[[object], bool], own: Mapping[str, str] = _NONE
    ) -> None:
        self.kind = kind
        self.group = f"planweave.{kind.rsplit(maxsplit=1)[-1]}s"
        self._accepts = accepts
        self._own = own
        self._known: dict[str, T] = {}

    def add(self, name: str, thing: T) -> T:
        """Register an object under a name."""
        if self._known.setdefault(name, thing) is not thing:
            raise BadInput(f"There is already a {self.kind} {name!r}.", fix="Choose another name.")
        return thing

    def remove(self, name: str) -> None:
        """Remove a registered name."""
        self._known.pop(name, None)

    def get(self, name: str) -> T:
        """The object of that name."""
        if name not in self._known and name in self._own:
            import_module(self._own[name])
        if name not in self._known:
            for entry in entry_points(group=self.group, name=name):
                self._load(entry)
        if name not in self._known:
            raise BadInput(
                f"There is no {self.kind} {name!r}.",
                fix=f"The {self.kind}s are: {', '.join(self.names()) or 'none'}.",
            )
        return self._known[name]

    def names(self) -> tuple[str, ...]:
        """All names: our own in their order, registered ones, then those of installed packages."""
        installed = (entry.name for entry in entry_points(group=self.group))
        return tuple(dict.fromkeys((*self._own, *self._known, *installed)))

    def usable(self) -> dict[str, T]:
        """All objects by name; broken ones of installed packages are logged and omitted."""
        found = {}
        for name in self.names():
            try:
                found[name] = self.get(name)
            except BadInput as error:
                _log.warning("%s", error)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def _load(self, entry: EntryPoint) -> None:
        package = entry.dist.name if entry.dist else "that brings it"
        fix = f"Repair or uninstall the package {package}."
        try:
            found: Any = entry.load()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise BadInput(
                f"The {self.kind} {entry.value} cannot be loaded ({reason}).", fix=fix
            ) from error
        if self._accepts(found):
            self._known.setdefault(entry.name, found)
        elif entry.name not in self._known:
            raise BadInput(f"{entry.value} is no {self.kind}.", fix=fix)
