"""Rows of a query beside the rows of accepted ones."""

from collections.abc import Sequence
from random import Random

import pytest
from cases import cases
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from planweave.benchmarks.suites.query_writing import compare
from planweave.benchmarks.suites.query_writing.compare import (
    AcceptedQuery,
    Row,
    Ties,
    match_rows,
    same_cell,
    same_rows,
)

CELLS = st.none() | st.integers(-50, 50) | st.text("abc", max_size=3)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=6)
)


HALVES = [*[0] * 40, *[1] * 40]


@given(TABLES, st.randoms(use_true_random=False))
def test_other_orders_and_more_columns_are_the_same(table: list[Row], random: Random) -> None:
    columns = [*range(len(table[0]))]
    random.shuffle(columns)
    rows = [["more", *(row[column] for column in columns)] for row in table]
    assert same_rows(rows, table, ordered=True)
    random.shuffle(rows)
    assert same_rows(rows, table, ordered=False)


@given(TABLES, st.data())
def test_another_value_is_not_the_same(table: list[Row], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(table) - 1))
    column = data.draw(st.integers(0, len(table[0]) - 1))
    rows = [list(row) for row in table]
    rows[at][column] = "zzz"
    assert not same_rows(rows, table, ordered=False)
    assert not same_rows(rows, table, ordered=True)


@given(TABLES)
def test_a_missing_column_is_not_the_same(table: list[Row]) -> None:
    wider = [(*row, f"only here {number}") for number, row in enumerate(table)]
    assert not same_rows(table, wider, ordered=False)


@cases(
    ([[1, "a"], [2, "b"]], [["a"], ["b"]], True),
    ([[1, "b"], [2, "a"]], [[1, "a"], [2, "b"]], False),  # each column alone would fit
    ([[1], [1]], [[1]], True),  # repeats, as many columns
    ([[1], [2]], [[1], [2], [2]], True),
    ([[1, "x"], [1, "y"]], [[1]], False),  # more rows because of another column
    ([[1], [2], [3]], [[1], [2]], False),
    ([], [[1]], False),
    ([[1]], [], False),
    ([], [], True),
    ([[1], [2]], [[1, 1], [2, 2]], False),  # two equal columns need two
    ([[1, 1], [2, 2]], [[1, 1], [2, 2]], True),
    ([HALVES, HALVES[::-1]], [[*[0] * 20, 5], [*[1] * 20, 5]], False),  # a search that ends
)
def test_rows(rows: Sequence[Row], answer: Sequence[Row], same: bool) -> None:
    assert same_rows(rows, answer, ordered=False) is same


def test_a_long_answer_is_not_compared_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gold query may return a hundred thousand rows: that would take hours."""
    compared: list[None] = []
    same = compare._same_row

    def counted(first: Row, second: Row) -> bool:
        compared.append(None)
        return same(first, second)

    monkeypatch.setattr(compare, "_same_row", counted)
    answer: list[Row] = [[n, "x"] for n in range(20_000)]
    assert not same_rows([[1, "x"], [2, "x"]], answer, ordered=False)
    assert not same_rows([[1, "x"], [2, "x"], [1, "x"]], answer, ordered=False)
    assert len(compared) < 100


@cases(
    (1, 1.0, True),
    (0.1 + 0.2, 0.3, True),
    (33.3333, 33.33333333, True),
    (33.3, 33.33333333, False),
    ("2022", 2022, True),
    ("05", 5, True),
    ("05", "5", False),
    ("abc", 5, False),
    ("nan", float("nan"), False),
    (True, 1, True),
    (None, 0, False),
    (None, "", False),
    ("Ann", "ann", False),
    (["a", "b"], ["b", "a"], True),
    (["a"], ["a", "a"], False),
    ({"labels": ["P"], "properties": {"n": 1}}, {"n": 1, "gone": None}, True),
    ({"type": "T", "properties": {}}, {"type": "T"}, False),
    ({"n": 1}, {"n": 2}, False),
)
def test_cells(first: JsonValue, second: JsonValue, same: bool) -> None:
    assert same_cell(first, second) is same
    assert same_cell(second, first) is same


@cases(
    (False, None, True, 0),
    (True, None, False, 0),
    (True, "order", True, 0),
    (True, "cut", False, None),
)
def test_the_order_of_rows(ordered: bool, ties: Ties, right: bool, place: int | None) -> None:
    reading = AcceptedQuery(query="q", rows=((1,), (2,)), ordered=ordered, ties=ties)
    assert match_rows([[2], [1]], [reading])[:2] == (right, place)
    assert match_rows([[1], [2]], [reading]).right is (ties != "cut")


def test_any_accepted_reading_counts() -> None:
    readings = [AcceptedQuery(query="a", rows=((1,),)), AcceptedQuery(query="b", rows=(("x", 2),))]
    assert match_rows([[2, "x"]], readings) == (True, 1, False)
    assert match_rows([[2, "y"]], readings) == (False, None, False)


def test_fewer_columns_count_where_the_set_allows_it() -> None:
    reading = AcceptedQuery(query="q", rows=(("Ann", 3), ("Bob", 2)), ordered=True, narrower=True)
    assert match_rows([["Ann"], ["Bob"]], [reading]) == (True, 0, True)
    assert match_rows([["Bob"], ["Ann"]], [reading]) == (False, 0, True)
    assert match_rows([[3, "Ann", "x"], [2, "Bob", "y"]], [reading]) == (True, 0, False)
    assert not match_rows([["Ann"]], [reading]).right
    assert not match_rows([["Ann", "x"], ["Bob", "y"]], [reading]).right
    strict = reading.model_copy(update={"narrower": False})
    assert match_rows([["Ann"], ["Bob"]], [strict]) == (False, None, False)
