"""Groups of options: a command takes a dataclass, whose fields are the options."""

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args

Command = Callable[..., None]


def grouped(**defaults: object) -> Callable[[Command], Command]:
    """Decorate a command that takes dataclasses: each field is an option, declared as for typer.

    The help shows the options at the position of the dataclass, in the panel ``panel`` if the class
    has one.
    """

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True)
        groups: dict[str, type[Any]] = {
            name: one.annotation
            for name, one in own.parameters.items()
            if isinstance(one.annotation, type) and is_dataclass(one.annotation)
        }

        @wraps(command)
        def run(**given: Any) -> None:
            for name, group in groups.items():
                given[name] = group(
                    **{field.name: given.pop(field.name) for field in fields(group)}
                )
            command(**given)

        options: list[inspect.Parameter] = []
        for name, one in own.parameters.items():
            options += _group_options(groups[name]) if name in groups else [one]
        changed = [one.replace(default=defaults.get(one.name, one.default)) for one in options]
        run.__signature__ = own.replace(parameters=changed)  # type: ignore[attr-defined]
        return run

    return decorate


def _group_options(group: type[Any]) -> list[inspect.Parameter]:
    """The fields of a group as parameters."""
    fields = inspect.signature(group, eval_str=True).parameters.values()
    title = getattr(group, "panel", None)
    return [one.replace(annotation=_in_panel(one.annotation, title)) for one in fields]


def _in_panel(annotation: Any, title: str | None) -> Any:
    kind, option = get_args(annotation)
    option = copy(option)
    option.rich_help_panel = title
    return Annotated[kind, option]
