"""The reducers of working memory, and their inverse."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_type_hints

from langgraph.types import Overwrite

from planweave.usage import Usage

Item = TypeVar("Item")

UsageByRole: TypeAlias = dict[str, dict[str, float]]
"""The fields of :class:`planweave.usage.Usage` for each role and tool, as plain JSON."""


def add_usage(left: UsageByRole, right: UsageByRole) -> UsageByRole:
    """Reducer: add usage role by role."""
    return left | {
        role: (Usage.model_validate(left.get(role, {})) + Usage.model_validate(new)).model_dump()
        for role, new in right.items()
    }


def total_usage(usage: UsageByRole) -> Usage:
    """Usage of a whole run, over all roles and tools."""
    return sum((Usage.model_validate(part) for part in usage.values()), Usage())


def keep_latest(_: Item, right: Item) -> Item:
    """Reducer: keep the last value, also where parallel actions write several."""
    return right


def merge(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Reducer: merge what parallel actions have learned."""
    return left | right


def changes(
    state: type[Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    """The update that turns ``before`` into ``after``; growing fields get only their new items."""
    known = reducers(state)  # type: ignore[arg-type]  # a type can be hashed
    return {
        name: _field_update(known.get(name), before[name], value) if name in before else value
        for name, value in after.items()
        if name not in before or before[name] != value
    }


@cache
def reducers(state: type[Any]) -> dict[str, Callable[[Any, Any], Any]]:
    """The reducer of each field; an update of any other field replaces its value."""
    hints = get_type_hints(state, include_extras=True)
    last = {name: [*getattr(hint, "__metadata__", ())][-1:] for name, hint in hints.items()}
    return {name: found[0] for name, found in last.items() if found and callable(found[0])}


def _field_update(reducer: Callable[[Any, Any], Any] | None, before: Any, after: Any) -> Any:
    if reducer is None or reducer is keep_latest:
        return after
    if reducer is add_usage:
        return Overwrite(after) if _has_restarted(before, after) else _usage_since(before, after)
    if isinstance(after, list):
        new: Any = after[len(before) :]
    else:
        new = {key: value for key, value in after.items() if before.get(key) != value}
    return new if reducer(before, new) == after else Overwrite(after)


def _has_restarted(before: UsageByRole, after: UsageByRole) -> bool:
    """Whether any usage is less than before."""
    return any(
        role not in after or after[role].get(name, 0) < value
        for role, used in before.items()
        for name, value in used.items()
    )


def _usage_since(before: UsageByRole, after: UsageByRole) -> UsageByRole:
    return {
        role: {name: value - before.get(role, {}).get(name, 0) for name, value in used.items()}
        for role, used in after.items()
        if before.get(role) != used
    }
