"""A table of cases above the test that runs each of them."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

_PARAM = type(pytest.param())
Test = TypeVar("Test", bound=Callable[..., object])


def cases(
    *rows: object, ids: Sequence[str] | Callable[[Any], str] | None = None
) -> Callable[[Test], Test]:
    """Run a test once for each row, whose values are the first arguments of the test."""

    def decorated(test: Test) -> Test:
        first = rows[0].values if isinstance(rows[0], _PARAM) else rows[0]
        width = len(first) if isinstance(first, tuple) else 1
        names = list(inspect.signature(test).parameters)[:width]
        each = pytest.mark.parametrize(names if width > 1 else names[0], rows, ids=ids)
        marked: Test = each(test)
        return marked

    return decorated
