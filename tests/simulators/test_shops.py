"""Generated shops: truths are unique, follow from the rows, and change with the seed."""

import hashlib
import sqlite3
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from cases import cases

from planweave import BadInput
from planweave.simulators.shops import DOMAINS, ShopDecision, shop
from planweave.tools.sql import open_sql

SEEDS = range(1, 21)
drawn = cache(shop)


@pytest.mark.parametrize("name", DOMAINS)
def test_truths_are_unique_and_among_the_candidates(name: str) -> None:
    for seed in SEEDS:
        made = drawn(name, seed)
        database = sqlite3.connect(":memory:")
        database.execute("PRAGMA foreign_keys = ON")
        database.executescript(made.sql)
        assert len(made.decisions) >= 5
        for decision in made.decisions:
            where = f"{name} {seed} {decision.name}"
            assert decision.clear, where
            rows = database.execute(decision.query).fetchall()
            assert [str(row[0]) for row in rows] == [decision.best], where
            if not decision.candidates:
                continue
            listed = [row[0] for row in database.execute(decision.candidates)]
            assert len(listed) == len(set(listed)), where
            assert set(decision.values) <= set(listed), where
            if decision.smallest:  # a candidate without a row would be smaller still
                assert set(decision.values) == set(listed), where


def test_a_seed_keeps_its_questions_and_truths() -> None:
    """Published figures are of these; until 2026-11-26 some goods were damaged before they came."""
    digest = hashlib.sha256()
    for name in DOMAINS:
        for seed in SEEDS:
            made = drawn(name, seed)
            asked = [(d.text, d.query, d.best) for d in made.decisions]
            digest.update(f"{made.sql}{made.rules}{asked}".encode())
    assert digest.hexdigest() == "93161328fa89df39a4e3b6336d3db352990e11ef1fab7d266646036bde7589c3"


@pytest.mark.parametrize("name", DOMAINS)
def test_a_shop_is_an_ordinary_database(name: str, tmp_path: Path) -> None:
    made = drawn(name, 3)
    path = tmp_path / "shop.sql"
    path.write_text(made.sql, encoding="utf-8")
    schema = open_sql(path).schema()
    fields = [field for entity in schema.entities for field in entity.fields]
    assert any(field.references for field in fields)
    assert any(field.type == "DATE" for field in fields)
    assert any(None in row for table in made.tables for row in table.rows)
    for decision in made.decisions:
        best = int(decision.best) if decision.best.isdecimal() else decision.best
        assert open_sql(path).run(decision.query).rows == ((best,),)


DECISION = ShopDecision(name="d", text="?", values={"a": 3, "b": 2, "c": 1}, query="")


@cases(
    ({"a": 3, "b": 2, "c": 1}, True),
    ({"a": 3, "b": 3, "c": 1}, False),
    ({"a": 100, "b": 99, "c": 1}, False),
    ({"a": 3, "b": 2}, False),
    ({"a": -1, "b": -2, "c": -3}, True),
    ({"a": 0, "b": 0, "c": -3}, False),
)
def test_a_clear_decision(values: dict[str, float], clear: bool) -> None:
    assert replace(DECISION, values=values).clear is clear
    assert (DECISION.best, replace(DECISION, smallest=True).best) == ("a", "c")


def test_a_shop_without_clear_decisions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShopDecision, "clear", False)
    monkeypatch.setattr(import_module("planweave.simulators.shops.shop"), "_TRIES", 2)
    with pytest.raises(BadInput, match="No shop 'loans' with clear decisions"):
        shop("loans", 1)
    with pytest.raises(BadInput, match="no shop 'bakery'"):
        shop("bakery", 1)
