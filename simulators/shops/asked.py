"""The rules and decisions of the shops, as ``asked.yaml`` beside this file has them.

A decision is a query that ranks candidates. What it ranks them by is what they are worth, and so
the first of them is the truth.
"""

import random
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import TypeAdapter

from planweave.simulators.shops.shop import Calendar, Decision, Shop, ShopTable

_RANKING = re.compile(r"SELECT (\S+) (FROM .+) ORDER BY (.+?)( DESC)? LIMIT 1")


class _Asked(NamedTuple):
    """A decision as the file has it: two wordings, the ranking, and what lists the candidates."""

    ask: tuple[str, str]
    query: str
    candidates: str = ""


class _Written(NamedTuple):
    """A shop's part of the file; ``since`` is a day so many days ago."""

    rules: str
    decisions: dict[str, _Asked]
    since: int = 0


def with_decisions(
    name: str, rng: random.Random, now: Calendar, tables: Sequence[ShopTable]
) -> Shop:
    """The shop of these tables, with its rules and decisions in words of this draw."""
    written = _file()[name]
    days = {"today": now.today, "start": now.start, "since": now.ago(written.since)}
    decisions = []
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript("\n".join(table.sql for table in tables))
        for title, asked in written.decisions.items():
            query = asked.query.format_map(days)
            values, smallest = _ranked(database, query)
            decisions.append(
                Decision(
                    name=title,
                    text=rng.choice(asked.ask).format_map(days),
                    values=values,
                    smallest=smallest,
                    query=query,
                    candidates=asked.candidates,
                )
            )
    return Shop(name=name, rules=written.rules.format_map(days), tables=tables, decisions=decisions)


@cache
def _file() -> dict[str, _Written]:
    text = Path(__file__).with_suffix(".yaml").read_text("utf-8")
    return TypeAdapter(dict[str, _Written]).validate_python(yaml.safe_load(text))


def _ranked(database: sqlite3.Connection, query: str) -> tuple[dict[str, float], bool]:
    """What each candidate is worth by a ranking, and whether the smallest is best."""
    found = _RANKING.fullmatch(query)
    assert found is not None  # noqa: S101 (a test reads the whole file)
    option, rows, value, descending = found.groups()
    listed = database.execute(f"SELECT {option}, {value} {rows}").fetchall()
    return {str(one): worth for one, worth in listed if worth is not None}, not descending
