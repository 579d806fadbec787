"""What a server offers its callers: default settings, and sources by name.

A caller who could set every field of the context could make the server open any file, connect to
any address and fill in any ``${NAME}``. So a caller chooses sources and models by names that the
operator has given them, may lower limits, and may set any field that only shapes the answer.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import SettingsConfigDict

from planweave import BadInput
from planweave.apps.options import context_of
from planweave.graphs import METHODS
from planweave.learning.queries.memory import OWN, SHIPPED
from planweave.memory import Context, callers
from planweave.records import read_object
from planweave.state import ProcessSettings


class ServiceSettings(ProcessSettings):
    """Path of the service file (``PLANWEAVE_SERVICE``)."""

    model_config = SettingsConfigDict(env_ignore_empty=True)

    service: Path | None = None


class Service(BaseModel, extra="forbid", frozen=True, hide_input_in_errors=True):
    """What a server offers; read from a JSON file, see ``docs/embedding.md``."""

    address: str = Field(
        default="",
        pattern=r"^(https?://[\w.:\[\]-]+(/[\w./-]*)?)?$",
        description="URL under which callers reach the server, as agent cards show it",
    )
    context: Context = Field(
        default_factory=Context, description="Settings of every run, and the highest limits"
    )
    methods: tuple[str, ...] = Field(
        default_factory=lambda: tuple(METHODS.usable()), description="Methods that may be called"
    )
    models: tuple[str, ...] = Field(default=(), description="Models that a caller may choose")
    databases: dict[str, str] = Field(
        default_factory=dict, description="Relational databases by name: their URLs"
    )
    graphs: dict[str, str] = Field(
        default_factory=dict, description="Graph databases by name: their URLs"
    )
    collections: tuple[str, ...] = Field(
        default=(), description="Document collections that a caller may choose"
    )

    @field_validator("methods")
    @classmethod
    def _check_methods(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [name for name in names if name not in METHODS]:
            raise ValueError(f"there is no method {unknown[0]!r}")
        return names

    @property
    def offered(self) -> dict[str, list[str]]:
        """The names that a caller may choose for each setting."""
        return {
            "database": [*self.databases],
            "graph": [*self.graphs],
            "collection": [*self.collections],
            "model": [*self.models],
        }

    def admit(self, settings: Mapping[str, Any], *, owner: str | None = None) -> Context:
        """Make the context of a run from a caller's settings, with the service's owner if unset."""
        experience = (SHIPPED,) if owner is None else (SHIPPED, OWN)
        chosen = {name: self._admit(name, value, experience) for name, value in settings.items()}
        if owner is not None:
            chosen["owner"] = owner
        context = context_of(self.context.model_dump() | chosen)
        for name in callers("lower") & settings.keys():
            self._check_limit(name, getattr(context, name))
        return context

    def trusted(self, settings: Mapping[str, Any]) -> Context:
        """Make the context of a run for a caller who may set everything, also by offered names."""
        urls: Mapping[str, Mapping[str, str]] = {"database": self.databases, "graph": self.graphs}
        named = {
            name: urls[name].get(str(settings[name])) for name in urls.keys() & settings.keys()
        }
        known = {name: url for name, url in named.items() if url}
        return context_of(self.context.model_dump() | {**settings, **known})

    def check_offered(self, method: str) -> None:
        """Check that a method may be called."""
        if method not in self.methods:
            raise BadInput(
                f"There is no method {method!r} here.",
                fix=f"The methods are: {', '.join(self.methods)}.",
            )

    def _admit(self, name: str, value: Any, experience: tuple[str, ...]) -> Any:
        offered: dict[str, Mapping[str, str] | tuple[str, ...]] = {
            "database": self.databases,
            "graph": self.graphs,
            "collection": self.collections,
            "experience": experience,
            "model": self.models,
            "models": self.models,
            "tools": self.context.tools,
            "ensemble_of": self.methods,
        }
        if name in callers("named"):
            if name == "models" and isinstance(value, Mapping):
                return {role: _one_of(self.models, name, model) for role, model in value.items()}
            if name == "tools" and isinstance(value, list | tuple):
                return tuple(_one_of(self.context.tools, name, tool) for tool in value)
            if value is None and Context.model_fields[name].default is None:
                return None
            return _one_of(offered[name], name, value)
        if name in callers("free", "lower"):
            return value
        raise BadInput(
            f"A caller may not choose the setting {name!r}.",
            fix=f"A caller may set {', '.join(sorted(callers('free', 'lower')))}, "
            f"and by name {', '.join(sorted(callers('named')))}.",
        )

    def _check_limit(self, name: str, value: float | None) -> None:
        highest = getattr(self.context, name)
        if highest is not None and (value is None or value > highest):
            raise BadInput(f"The setting {name} may be at most {highest} here.")


def _one_of(offered: Mapping[str, str] | tuple[str, ...], what: str, value: Any) -> str:
    """What the operator offers by the name ``value``; for a database, its URL."""
    if isinstance(value, str) and value in offered:
        return offered[value] if isinstance(offered, Mapping) else value
    raise BadInput(
        f"The setting {what} names nothing that this server offers.",
        fix=f"It offers: {', '.join(offered) or 'nothing'}.",
    )


@cache
def service() -> Service:
    """The service of the service file; with the default context only if there is none."""
    path = ServiceSettings().service
    fix = "Set PLANWEAVE_SERVICE to a JSON file as described in docs/embedding.md."
    return Service() if path is None else read_object(path, Service, fix=fix)
