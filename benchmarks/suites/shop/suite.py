"""The suite: eight shops, each with its rules, and decisions whose truth the program knows."""

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from planweave import BadInput
from planweave.benchmarks.core.play import play_graph
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Suite, drawn, register
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.shop.play import play_query
from planweave.benchmarks.suites.shop.tables import shop_tables
from planweave.graphs import METHODS
from planweave.memory import Answer, Context
from planweave.simulators.shops import Decision, Shop, shop
from planweave.tools.connect import open_database
from planweave.tools.database import Limits

NAME = "shop"

_LISTED = Limits(rows=10_000, characters=1_000_000)


@register(NAME)
class ShopDecisions(Suite):
    """Each shop is a scenario; any method that decides can be asked."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Right, wrong and vouched for, wrong and flagged, undecided; by shop and by question."""
        return shop_tables(records)


class Asked(NamedTuple):
    """A decision, and the shop that it is about."""

    shop: Shop
    seed: int
    decision: Decision

    @property
    def id(self) -> str:
        """Tells it from all others."""
        name = self.decision.name.replace(" ", "-")
        return f"{self.shop.name}-{self.seed}-{name}"


def choose(names: Iterable[str], seed: int, limit: int | None) -> list[Asked]:
    """Decisions of the shops that a seed gives; a smaller limit chooses a part of a larger one's.

    Raises:
        BadInput: There is no such shop.
    """
    shops = [shop(name, seed) for name in names]
    every = [Asked(made, seed, decision) for made in shops for decision in made.decisions]
    return drawn(every, limit, seed, lambda asked: asked.id)


def samples(
    asked: Iterable[Asked], *, methods: Sequence[str], settings: Context, folder: Path
) -> list[Sample]:
    """Every decision with every method: method by method, shop by shop.

    Args:
        asked: The chosen decisions.
        methods: Names of graphs, or of solvers that write one query.
        settings: The context without sources, rules and candidates.
        folder: Where the databases are written as scripts.

    Raises:
        BadInput: The folder cannot be written.
    """
    ordered = sorted(asked, key=lambda one: one.shop.name)
    return [_sample(one, method, settings, folder) for method in methods for one in ordered]


def _sample(asked: Asked, method: str, settings: Context, folder: Path) -> Sample:
    made, decision = asked.shop, asked.decision
    path = _script(made, folder)
    candidates: tuple[str, ...] = ()
    if decision.candidates:
        listed = open_database(str(path)).run(decision.candidates, _LISTED)
        candidates = tuple(str(row[0]) for row in listed.rows)
    context = settings.model_copy(
        update={"database": str(path), "rules": made.rules, "candidates": candidates}
    )
    return Sample(
        suite=NAME,
        question=asked.id,
        scenario=made.name,
        method=method,
        database="relational",
        asked=decision.text,
        context=context,
        content=path.stem,
        judge=Judge(decision),
        play=play_graph if method in METHODS else play_query,
        aided=True,
    )


def _script(made: Shop, folder: Path) -> Path:
    """The shop's database as a script, named by its content."""
    digest = hashlib.sha256(made.sql.encode()).hexdigest()[:16]
    path = folder / f"{made.name}-{digest}.sql"
    if path.exists():
        return path
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text(made.sql, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written ({error.strerror}).") from None
    return path


@dataclass(frozen=True)
class Judge:
    """Scores the answers to one decision question."""

    decision: Decision

    def __call__(self, answer: Answer | None) -> Score:
        """1 for the best candidate, 0 for another one and for no decision."""
        said = (answer["decision"] if answer else None) or None
        best = self.decision.best
        right = said is not None and is_same(said, best)
        return Score(
            value=float(right),
            answer=said,
            explanation=f"{said or 'no decision'}; best is {best}",
            details={
                "best": best,
                "result": "right" if right else "wrong" if said else "undecided",
                "decision": self.decision.name,
            },
        )


def is_same(said: str, best: str) -> bool:
    """Whether a decision names a candidate: alone, or an id as the only number of a text."""
    if best.isdecimal():
        return re.findall(r"\d+", said) == [best]
    return said.strip().strip("'\".").casefold() == best.casefold()
