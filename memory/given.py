"""Checks what callers write into the working memory, before a run reads it."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from langchain_core.messages import convert_to_messages
from pydantic import TypeAdapter, ValidationError

from planweave import BadInput
from planweave.errors import first_problem, place_and_reason
from planweave.memory.working_memory import Input, WorkingMemory
from planweave.texts import shorten
from planweave.usage import Usage

_OVERWRITE = "__overwrite__"
"""The only key of an object with which LangGraph replaces a field instead of adding to it."""
_USAGE = TypeAdapter(dict[str, Usage])


def check_input(values: Mapping[str, Any]) -> None:
    """Check the input of a run."""
    _check_fields(values, "input", Input, removes=False)


def check_state(values: Mapping[str, Any], place: str = "values", *, removes: bool = True) -> None:
    """Check what a caller writes into a state.

    Usage can only grow: a state with less than was spent would lift the limits.

    Args:
        values: The fields and their values.
        place: The name of ``values`` in the request, for the error.
        removes: Whether messages of the conversation may be removed.
    """
    if _is_overwrite(values.get("usage")):
        raise _unusable_field(f"{place}.usage", "it cannot be replaced")
    _check_fields(values, place, WorkingMemory, removes=removes)


def _check_fields(values: Mapping[str, Any], place: str, schema: type, *, removes: bool) -> None:
    adapters = _adapters(schema)
    for name, value in values.items():
        given = value[_OVERWRITE] if _is_overwrite(value) else value
        if name == "messages":
            _check_messages(given, f"{place}.messages", removes=removes)
        elif name in adapters:
            _check_value(adapters[name], given, f"{place}.{name}", strict=name != "usage")


def _check_value(adapter: TypeAdapter[Any], value: Any, place: str, *, strict: bool) -> None:
    try:
        adapter.validate_python(value, strict=strict)
    except ValidationError as error:
        inside, reason = place_and_reason(error)
        raise _unusable_field(".".join([place, *map(str, inside)]), reason) from None


def _check_messages(value: Any, place: str, *, removes: bool) -> None:
    """Check one or several messages, in any form that LangChain reads."""
    several = isinstance(value, Sequence) and not isinstance(value, str)
    for number, one in enumerate(value if several else [value]):
        where = f"{place}.{number}" if several else place
        try:
            message = convert_to_messages([one])[0]
        except Exception as error:  # LangChain raises errors of almost any type
            raise _unusable_field(where, f"it is not a message: {_error_text(error)}") from None
        if message.type == "remove" and not removes:
            raise _unusable_field(
                where, "a run removes no messages; change the state of the thread"
            )


def _unusable_field(place: str, reason: str) -> BadInput:
    return BadInput(f"The field {place} cannot be used: {reason.rstrip('.')}.")


def _error_text(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return first_problem(error)
    return shorten((str(error).splitlines() or [type(error).__name__])[0], 200)


def _is_overwrite(value: Any) -> bool:
    return isinstance(value, Mapping) and {*value} == {_OVERWRITE}


@cache
def _adapters(schema: type) -> dict[str, TypeAdapter[Any]]:
    hints = {name: hint for name, hint in get_type_hints(schema).items() if name != "messages"}
    adapters = {name: TypeAdapter(hint) for name, hint in hints.items()}
    return adapters | ({"usage": _USAGE} if "usage" in hints else {})
