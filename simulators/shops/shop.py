"""A shop: the tables of a small business, its rules, and decisions with one best candidate.

Rows are named tuples. Their fields give the columns: the types as they are annotated, ``id`` as the
key, and a missing value where ``None`` is allowed.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType, UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from planweave.errors import BadInput

_LEAST_MARGIN = 0.02
_TRIES = 500
_TYPES: Mapping[type, str] = {int: "INTEGER", float: "REAL", str: "TEXT", date: "DATE"}


@dataclass(frozen=True)
class ShopTable:
    """A table: its name, its rows, and the tables that columns refer to."""

    name: str
    rows: Sequence[NamedTuple]
    references: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def sql(self) -> str:
        """The table and its rows as SQL."""
        kind: type[Any] = type(self.rows[0])
        types = get_type_hints(kind)
        columns = [self._column(name, types[name]) for name in kind._fields]
        body = ",\n  ".join(columns)
        values = ",\n".join(f"({', '.join(map(_literal, row))})" for row in self.rows)
        return (
            f"CREATE TABLE {self.name} (\n  {body}\n);\nINSERT INTO {self.name} VALUES\n{values};"
        )

    def _column(self, name: str, annotated: Any) -> str:
        optional = get_origin(annotated) is UnionType
        kind = get_args(annotated)[0] if optional else annotated
        parts = [name, _TYPES[kind]]
        parts += ["PRIMARY KEY"] if name == "id" else [] if optional else ["NOT NULL"]
        if target := self.references.get(name):
            parts.append(f"REFERENCES {target} (id)")
        return " ".join(parts)


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int | float):
        return repr(value)
    text = value.isoformat() if isinstance(value, date) else str(value)
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A decision question and its truth.

    Attributes:
        name: Identifies it in its shop.
        values: What each candidate is worth by the rules; one without a row has none.
        smallest: Whether the smallest value is best, not the largest.
        query: A query that finds the best candidate.
        candidates: A query that lists the candidates; empty where the question leaves them open.
    """

    name: str
    text: str
    values: Mapping[str, float]
    smallest: bool = False
    query: str
    candidates: str = ""

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
        """Whether the best candidate is so by a margin, among three or more."""
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
    decisions: Sequence[Decision]

    @property
    def sql(self) -> str:
        """The database as a script for SQLite."""
        return "\n\n".join(table.sql for table in self.tables) + "\n"


Build = Callable[[random.Random], Shop]


def generate(name: str, build: Build, seed: int) -> Shop:
    """The first shop of this seed in which every decision is clear."""
    for attempt in range(_TRIES):
        made = build(random.Random(f"{name} {seed} {attempt}"))  # noqa: S311 - worlds, not secrets
        if all(decision.clear for decision in made.decisions):
            return made
    raise BadInput(
        f"No shop {name!r} with clear decisions was found for the seed {seed}.",
        fix="Choose another seed.",
    )


class Calendar(NamedTuple):
    """The present of a shop, and the year that it is in."""

    today: date

    @classmethod
    def drawn(cls, rng: random.Random) -> "Calendar":
        """A day in the second half of a recent year."""
        return cls(date(rng.choice((2023, 2024, 2025)), 7, 1) + timedelta(rng.randrange(180)))

    @property
    def year(self) -> int:
        """The current year."""
        return self.today.year

    @property
    def start(self) -> date:
        """Its first day."""
        return date(self.year, 1, 1)

    def ago(self, days: int) -> date:
        """The day so many days before today."""
        return self.today - timedelta(days)

    def this_year(self, rng: random.Random) -> date:
        """Some day of the current year, up to yesterday."""
        return self.ago(1 + rng.randrange((self.today - self.start).days))

    def recent(self, rng: random.Random, days: int = 540) -> date:
        """Some day of the last so many days, up to yesterday."""
        return self.ago(1 + rng.randrange(days))
