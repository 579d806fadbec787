"""Groups of options: a command takes a dataclass, and its user an option for each field."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

Command = Callable[..., None]


def grouped(**defaults: object) -> Callable[[Command], Command]:
    """Let a command take dataclasses: each field is an option, declared as for typer.

    The help lists the options at the place of the dataclass among the parameters.

    Args:
        defaults: For options whose default differs from their group's in this command.
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
            grouping = inspect.signature(groups[name], eval_str=True) if name in groups else None
            options += grouping.parameters.values() if grouping else [one]
        changed = [one.replace(default=defaults.get(one.name, one.default)) for one in options]
        run.__signature__ = own.replace(parameters=changed)  # type: ignore[attr-defined]
        return run

    return decorate
