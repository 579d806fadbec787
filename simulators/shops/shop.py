"""A shop: the tables of a small business, its rules, and decisions with one best candidate.

``shops.yaml`` in this folder describes each shop. A decision is a query that ranks candidates by
their value; the first one is the right decision.
"""

import random
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import TypeAdapter

from planweave.errors import BadInput
from planweave.simulators.shops.rows import ROWS, Calendar, Row

DOMAINS: tuple[str, ...] = tuple(ROWS)
"""Names of the shops."""

_LEAST_MARGIN = 0.02
_TRIES = 500
_TYPES = {"integer": "INTEGER", "real": "REAL", "text": "TEXT", "date": "DATE"}
_RANKING = re.compile(r"SELECT (\S+) (FROM .+) ORDER BY (.+?)( DESC)? LIMIT 1")


class ShopTable(NamedTuple):
    """A table: its name, its columns as ``shops.yaml`` declares them, and its rows."""

    name: str
    columns: Mapping[str, str]
    rows: Sequence[Row]

    @property
    def sql(self) -> str:
        """The table and its rows as SQL."""
        body = ",\n  ".join(f"{name} {_sql_type(kind)}" for name, kind in self.columns.items())
        values = ",\n".join(f"({', '.join(map(_sql_literal, row))})" for row in self.rows)
        return (
            f"CREATE TABLE {self.name} (\n  {body}\n);\nINSERT INTO {self.name} VALUES\n{values};"
        )


def _sql_type(kind: str) -> str:
    if kind == "key":
        return "INTEGER PRIMARY KEY"
    type_, _, missing = kind.partition(" or ")
    if type_ not in _TYPES:
        return f"INTEGER NOT NULL REFERENCES {type_} (id)"
    return _TYPES[type_] if missing else f"{_TYPES[type_]} NOT NULL"


def _sql_literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int | float):
        return repr(value)
    text = value.isoformat() if isinstance(value, date) else str(value)
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, kw_only=True)
class ShopDecision:
    """A decision question and its right answer."""

    name: str
    text: str
    values: Mapping[str, float]  # of the candidates with rows, by the rules
    smallest: bool = False  # the smallest value is best
    query: str  # finds the best candidate
    candidates: str = ""  # a query that lists them; empty if the question leaves them open

    @property
    def ranking(self) -> list[str]:
        """The candidates, the best first."""
        return sorted(self.values, key=lambda name: self.values[name], reverse=not self.smallest)

    @property
    def best(self) -> str:
        """The right decision."""
        return self.ranking[0]

    @property
    def clear(self) -> bool:
        """Whether there are three or more candidates, and the best leads by a margin."""
        if len(self.values) < 3:
            return False
        first, second = (self.values[name] for name in self.ranking[:2])
        return abs(first - second) > _LEAST_MARGIN * max(abs(first), abs(second))


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A generated database with its rules and questions."""

    name: str
    rules: str
    tables: Sequence[ShopTable]
    decisions: Sequence[ShopDecision]

    @property
    def sql(self) -> str:
        """The database as a script for SQLite."""
        return "\n\n".join(table.sql for table in self.tables) + "\n"


def shop(name: str, seed: int) -> Shop:
    """The first shop of a seed in which every decision is clear."""
    if name not in ROWS:
        raise BadInput(f"There is no shop {name!r}.", fix=f"Known are {', '.join(DOMAINS)}.")
    for attempt in range(_TRIES):
        made = _draw_shop(name, random.Random(f"{name} {seed} {attempt}"))  # noqa: S311 - worlds, not secrets
        if all(decision.clear for decision in made.decisions):
            return made
    raise BadInput(
        f"No shop {name!r} with clear decisions was found for the seed {seed}.",
        fix="Choose another seed.",
    )


class _DecisionEntry(NamedTuple):
    """A decision in the file: two wordings, the ranking query, and the query of the candidates."""

    ask: tuple[str, str]
    query: str
    candidates: str = ""


class _ShopEntry(NamedTuple):
    """A shop in the file; ``since`` is a number of days before today."""

    tables: dict[str, dict[str, str]]
    rules: str
    decisions: dict[str, _DecisionEntry]
    since: int = 0


@cache
def _load_file() -> dict[str, _ShopEntry]:
    text = Path(__file__).with_name("shops.yaml").read_text("utf-8")
    return TypeAdapter(dict[str, _ShopEntry]).validate_python(yaml.safe_load(text))


def _draw_shop(name: str, rng: random.Random) -> Shop:
    written, now = _load_file()[name], Calendar.drawn(rng)
    parts = zip(written.tables.items(), ROWS[name](rng, now), strict=True)
    tables = [ShopTable(table, columns, rows) for (table, columns), rows in parts]
    days = {"today": now.today, "start": now.start, "since": now.ago(written.since)}
    decisions = []
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript("\n".join(table.sql for table in tables))
        for title, asked in written.decisions.items():
            query = asked.query.format_map(days)
            values, smallest = _rank_candidates(database, query)
            decisions.append(
                ShopDecision(
                    name=title,
                    text=rng.choice(asked.ask).format_map(days),
                    values=values,
                    smallest=smallest,
                    query=query,
                    candidates=asked.candidates,
                )
            )
    return Shop(name=name, rules=written.rules.format_map(days), tables=tables, decisions=decisions)


def _rank_candidates(database: sqlite3.Connection, query: str) -> tuple[dict[str, float], bool]:
    """The value of each candidate in a ranking, and whether the smallest is best."""
    found = _RANKING.fullmatch(query)
    assert found is not None  # noqa: S101 (a test reads the whole file)
    option, rows, value, descending = found.groups()
    listed = database.execute(f"SELECT {option}, {value} {rows}").fetchall()
    return {str(one): worth for one, worth in listed if worth is not None}, not descending
