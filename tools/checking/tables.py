"""The rows of facts as tables: what names a row, which rows a text speaks of, ranks."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from planweave.memory import Fact, Value
from planweave.tools.checking.queries import QueryReading, column_roots, read
from planweave.tools.checking.units import is_unit_word
from planweave.tools.checking.words import (
    ANY,
    GENERIC_ROOTS,
    Condition,
    Direction,
    Superlative,
    listed,
    numbers_of,
    of_kind,
    root,
    roots,
    tokens,
)

Row = tuple[Value, ...]
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?([ T][\d:.]+)?")
_IDENTIFIER = frozenset(map(root, ("id", "code", "number", "no", "key", "nr", "year")))
TOTAL = frozenset(("total", "sum", "altogether", "combined", "overall"))
MEAN = frozenset(("average", "mean"))


class Mention(NamedTuple):
    """A cell that a text names, and where."""

    begin: int
    end: int
    column: int
    cell: Value


@dataclass(frozen=True)
class FactRows:
    """The rows of one fact, or of several alike."""

    facts: tuple[int, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    complete: bool
    reading: QueryReading

    def roots(self, column: int) -> frozenset[str]:
        """The roots of the words that say what a column holds."""
        return column_roots(self.columns[column], self.reading)

    def is_text(self, column: int) -> bool:
        """Whether a column holds texts that are no dates."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and all(isinstance(c, str) and not _DATE.fullmatch(c) for c in cells)

    def is_ordered(self, column: int) -> bool:
        """Whether the cells of a column can be ranked: all numbers, or all dates."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        numeric = all(isinstance(c, int | float) and not isinstance(c, bool) for c in cells)
        dates = all(isinstance(c, str) and _DATE.fullmatch(c) for c in cells)
        return bool(cells) and (numeric or dates)

    def key(self) -> int | None:
        """The column that names the rows: the first text, one without repetition before others."""
        texts = [c for c in range(len(self.columns)) if self.is_text(c)]
        single = [c for c in texts if len({row[c] for row in self.rows}) == len(self.rows)]
        named = [c for c in range(len(self.columns)) if self.roots(c) & _IDENTIFIER]
        return next(iter([*single, *texts, *named]), None)

    def identifies(self, column: int) -> bool:
        """Whether a column is one by which rows are called."""
        named = bool(roots(self.columns[column]) & (_IDENTIFIER | {root("name"), root("title")}))
        return column == self.key() or named

    def mentions(self, text: str) -> list[Mention]:
        """The text cells that a text names, longer ones before those within them."""
        found: list[Mention] = []
        for column in range(len(self.columns)):
            if not self.is_text(column):
                continue
            for cell in dict.fromkeys(row[column] for row in self.rows):
                if isinstance(cell, str) and cell.strip():
                    found += [Mention(a, b, column, cell) for a, b in spans(text, cell)]
        return sorted(
            one
            for one in found
            if not any(
                other.begin <= one.begin
                and one.end <= other.end
                and other.end - other.begin > one.end - one.begin
                for other in found
            )
        )

    def where(self, rows: Iterable[Row]) -> "FactRows":
        """The same with these rows only."""
        return replace(self, rows=tuple(rows))


def spans(text: str, cell: str) -> list[tuple[int, int]]:
    """Where a text names a cell as whole words; a short one in the same case only."""
    flags = re.IGNORECASE if len(cell) > 2 else 0
    pattern = rf"(?<![\w-]){re.escape(cell.strip())}(?![\w]|-\w)"
    return [match.span() for match in re.finditer(pattern, text, flags)]


def views(facts: Sequence[Fact]) -> list[FactRows]:
    """The facts that hold rows; single rows of the same columns are one table.

    A single row without a name gets the one name that its query asks for.
    """
    made = [_named(view) for fact in facts if (view := view_of(fact))]
    return [*made, *_together(made)]


def view_of(fact: Fact) -> FactRows | None:
    """The rows of a fact; None for a page, a calculation and what has none."""
    if fact["quote"] or fact["source"] == "calculator":
        return None
    table = fact.get("table")
    columns = tuple(table["columns"] if table else fact["values"])
    rows = [tuple(row) for row in table["rows"]] if table else [tuple(fact["values"].values())]
    if not columns or not rows:
        return None
    return FactRows(
        facts=(fact["number"],),
        columns=columns,
        rows=tuple(rows),
        complete=table["complete"] if table else True,
        reading=read(fact["query"]),
    )


def _named(view: FactRows) -> FactRows:
    names = view.reading.names
    if len(view.rows) != 1 or len(names) != 1 or any(map(view.is_text, range(len(view.columns)))):
        return view
    return replace(view, columns=("name", *view.columns), rows=((names[0], *view.rows[0]),))


def _together(made: Sequence[FactRows]) -> list[FactRows]:
    """Single rows of the same columns as one table, complete as far as they go."""
    alike: dict[tuple[str, ...], list[FactRows]] = {}
    for view in made:
        if len(view.rows) == 1 and view.key() is not None:
            alike.setdefault(view.columns, []).append(view)
    return [
        FactRows(
            facts=tuple(number for view in group for number in view.facts),
            columns=columns,
            rows=tuple(view.rows[0] for view in group),
            complete=False,
            reading=group[0].reading,
        )
        for columns, group in alike.items()
        if len(group) > 1
    ]


_NOTHING = frozenset(map(root, listed("n x y c v cnt of the per by in a an as id key name names")))


def meaning(column: frozenset[str]) -> frozenset[str]:
    """What the roots of a column say of what it holds: no units and no general words, if others."""
    words = column - _NOTHING
    own = frozenset(word for word in words - GENERIC_ROOTS if not is_unit_word(word))
    return own or (words & GENERIC_ROOTS) or words


def named_rows(view: FactRows, text: str, used: set[int]) -> FactRows:
    """The rows that have what a text names: for each column one of its cells that it names.

    Numbers of the text that identify a row count as well. The columns are added to ``used``.
    """
    rows = view.rows
    named: dict[int, set[Value]] = {}
    for mention in view.mentions(text):
        named.setdefault(mention.column, set()).add(mention.cell)
    for column in range(len(view.columns)):
        if not view.is_text(column) and view.roots(column) & _IDENTIFIER:
            cells = {row[column] for row in view.rows}
            found = {n for n in numbers_of(text) if n in cells}
            if found:
                named[column] = {int(n) if n == int(n) else n for n in found}
    for column, cells in named.items():
        rows = tuple(row for row in rows if row[column] in cells)
        used.add(column)
    return view.where(rows)


def bounded_rows(
    view: FactRows, bounds: Sequence[Condition], used: set[int]
) -> tuple[FactRows, list[Condition]]:
    """The rows that keep the bounds, and the bounds that no column of the table is about."""
    rows, left = view.rows, []
    for bound in bounds:
        column = _bounded_column(view, bound)
        if column is None:
            left.append(bound)
            continue
        used.add(column)
        rows = tuple(
            row
            for row in rows
            if isinstance(cell := row[column], int | float) and bound.holds(float(cell))
        )
    return view.where(rows), left


def _bounded_column(view: FactRows, bound: Condition) -> int | None:
    scores = {
        column: len((view.roots(column) - _NOTHING) & bound.roots)
        for column in range(len(view.columns))
        if view.is_ordered(column)
    }
    best = max(scores.values(), default=0)
    columns = [column for column, score in scores.items() if score == best]
    return columns[0] if best and len(columns) == 1 else None


class Ranked(NamedTuple):
    """What a superlative picks: the rows, by which column and in which direction."""

    rows: tuple[Row, ...]
    column: int
    direction: Direction


def senses_of(
    superlative: Superlative, column: frozenset[str], spoken: frozenset[str]
) -> tuple[Direction | None, float]:
    """The direction in which a column (its roots) is meant, and how surely it is meant at all."""
    own = meaning(column)
    about = len(own & spoken) / len(own) if own else 0.0
    for direction, kind in superlative.senses:
        if kind != ANY and of_kind(kind, column):
            return direction, 1.0 + about
    for direction, kind in superlative.senses:
        if about and (kind == ANY or len({way for way, _ in superlative.senses}) == 1):
            return direction, about
    return None, 0.0


def ranked(view: FactRows, superlative: Superlative, spoken: frozenset[str]) -> list[Ranked]:
    """The rows in the place that a superlative asks for, by each column that it is meant of best.

    A column of which nothing is known but that it is a number counts where it is the only one.
    """
    columns = [c for c in range(len(view.columns)) if view.is_ordered(c)]
    found = [(c, *senses_of(superlative, view.roots(c), spoken)) for c in columns]
    best = max((score for _, direction, score in found if direction), default=0.0)
    chosen = [(c, d) for c, d, score in found if d and score == best]
    anyway = [d for d, kind in superlative.senses if kind == ANY]
    values = [c for c in columns if not roots(view.columns[c]) & _IDENTIFIER]
    if not best and anyway and len(values) == 1 and not view.roots(values[0]) - GENERIC_ROOTS:
        chosen = [(values[0], anyway[0])]
    return [
        Ranked(place(view, column, direction, superlative.place), column, direction)
        for column, direction in chosen
    ]


def ordered_alike(reading: QueryReading, picks: Sequence[Ranked]) -> bool:
    """Whether rows that were cut off come behind those that a query has put first."""
    order = reading.order
    return (
        order is not None and order.place == 1 and {p.direction for p in picks} == {order.direction}
    )


def query_ranks(
    reading: QueryReading,
    superlative: Superlative,
    question: frozenset[str],
    spoken: frozenset[str],
) -> bool:
    """Whether a query itself picks what a superlative asks for: by its order or by MIN and MAX."""

    def meant(words: frozenset[str]) -> Direction | None:
        known = (senses_of(superlative, words, said)[0] for said in (question, spoken))
        return next(filter(None, known), None) or _only_sense(superlative, words)

    order = reading.order
    if order and order.limited and order.place == superlative.place:
        direction = meant(order.roots)
        if direction:
            return direction == order.direction
    found = [direction == meant(words) for direction, words in reading.extremes if meant(words)]
    return superlative.place == 1 and bool(found) and all(found)


def _only_sense(superlative: Superlative, words: frozenset[str]) -> Direction | None:
    """The direction of a superlative by a column that says nothing of what it holds."""
    if words - GENERIC_ROOTS:
        return None
    return next((direction for direction, kind in superlative.senses if kind == ANY), None)


def place(view: FactRows, column: int, direction: Direction, number: int = 1) -> tuple[Row, ...]:
    """The rows whose cell of a column is the ``number``-th highest or lowest."""
    cells = {row[column] for row in view.rows if row[column] is not None}
    values = sorted(cells, reverse=direction == "highest")  # type: ignore[type-var]
    if number > len(values):
        return ()
    return tuple(row for row in view.rows if row[column] == values[number - 1])


def cell_equals(cell: Value, text: str) -> bool:
    """Whether a text is a cell: the same words, or the same number, rounded perhaps."""
    if cell is None:
        return False
    if isinstance(cell, bool):
        return text.strip().lower() in (("true", "yes") if cell else ("false", "no"))
    plain = text.strip().strip("\"'`").strip()
    if isinstance(cell, str):
        return cell.strip().casefold() == plain.casefold()
    found, decimals = numbers_of(plain), re.search(r"\d\.(\d+)", plain)
    places = len(decimals[1]) if decimals else 0
    return len(found) == 1 and same_number(float(cell), found[0], places)


def same_number(known: float, said: float, decimals: int) -> bool:
    """Whether a number that is said is a known one, rounded by no more than half a per cent."""
    if known == said:
        return True
    close = abs(known - said) <= 0.005 * abs(known)
    return close and abs(known - said) <= 0.5001 * 10.0**-decimals


def aggregated(words: set[str], view: FactRows) -> str:
    """Why rows that are not summed up do not answer a question for a total or a mean."""
    names = {word for column in view.columns for word in tokens(column)}
    done = view.reading.aggregates
    if words & MEAN and not words & TOTAL and "avg" not in done and not names & {*MEAN, "avg"}:
        return "The question asks for a mean, and the query takes none."
    if words & TOTAL and not done & {"sum", "count"} and not names & {*TOTAL, "amount"}:
        return "The question asks for a total, and the query takes none."
    if words & TOTAL and "avg" in done and not done & {"sum", "count"}:
        return "The question asks for a total, and the query takes a mean."
    return ""
