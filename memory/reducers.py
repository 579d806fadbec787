"""How working memory grows: the reducers, and their inverse."""

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


def latest(_: Item, right: Item) -> Item:
    """Reducer: the last value holds, also where actions at once write several."""
    return right


def merged(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Reducer: what actions at once have learned holds together."""
    return left | right


def changes(
    state: type[Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    """The update that turns ``before`` into ``after``: of what grows, only what is new."""
    known = reducers(state)  # type: ignore[arg-type]  # a type can be hashed
    return {
        name: _update(known.get(name), before[name], value) if name in before else value
        for name, value in after.items()
        if name not in before or before[name] != value
    }


@cache
def reducers(state: type[Any]) -> dict[str, Callable[[Any, Any], Any]]:
    """By name, how an update is added to what there is; without one it takes its place."""
    hints = get_type_hints(state, include_extras=True)
    last = {name: [*getattr(hint, "__metadata__", ())][-1:] for name, hint in hints.items()}
    return {name: found[0] for name, found in last.items() if found and callable(found[0])}


def _update(reducer: Callable[[Any, Any], Any] | None, before: Any, after: Any) -> Any:
    if reducer is None or reducer is latest:
        return after
    if reducer is add_usage:
        return Overwrite(after) if _begun_anew(before, after) else _used(before, after)
    if isinstance(after, list):
        new: Any = after[len(before) :]
    else:
        new = {key: value for key, value in after.items() if before.get(key) != value}
    return new if reducer(before, new) == after else Overwrite(after)


def _begun_anew(before: UsageByRole, after: UsageByRole) -> bool:
    """Whether less has been used than before."""
    return any(
        role not in after or after[role].get(name, 0) < value
        for role, used in before.items()
        for name, value in used.items()
    )


def _used(before: UsageByRole, after: UsageByRole) -> UsageByRole:
    """What has been used since."""
    return {
        role: {name: value - before.get(role, {}).get(name, 0) for name, value in used.items()}
        for role, used in after.items()
        if before.get(role) != used
    }
