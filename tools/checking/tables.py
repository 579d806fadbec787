"""The rows of facts as tables: keys, the rows that a text mentions, ranks."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from planweave.memory import Fact, Value
from planweave.tools.checking.queries import QueryReading, column_roots, read_query
from planweave.tools.checking.units import is_unit_word
from planweave.tools.checking.words import (
    ANY,
    GENERIC_ROOTS,
    Bound,
    Direction,
    Superlative,
    find_numbers,
    is_of_kind,
    root,
    roots,
    tokens,
    word_set,
)

Row = tuple[Value, ...]
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?([ T][\d:.]+)?")
_IDENTIFIER = frozenset(map(root, ("id", "code", "number", "no", "key", "nr", "year")))
TOTAL = frozenset(("total", "sum", "altogether", "combined", "overall"))
MEAN = frozenset(("average", "mean"))


class Mention(NamedTuple):
    """A cell that a text mentions, and its position in the text."""

    begin: int
    end: int
    column: int
    cell: Value


@dataclass(frozen=True)
class FactRows:
    """The rows of one fact, or of several facts with the same columns."""

    facts: tuple[int, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    complete: bool
    reading: QueryReading

    def roots(self, column: int) -> frozenset[str]:
        """The roots of the words that describe a column."""
        return column_roots(self.columns[column], self.reading)

    def is_text(self, column: int) -> bool:
        """Whether all cells of a column are texts and not dates."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and all(isinstance(c, str) and not _DATE.fullmatch(c) for c in cells)

    def is_ordered(self, column: int) -> bool:
        """Whether the cells of a column are all numbers or all dates, which can be ranked."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        numeric = all(isinstance(c, int | float) and not isinstance(c, bool) for c in cells)
        dates = all(isinstance(c, str) and _DATE.fullmatch(c) for c in cells)
        return bool(cells) and (numeric or dates)

    def key(self) -> int | None:
        """The column that names the rows: the first text column, distinct texts preferred."""
        texts = [c for c in range(len(self.columns)) if self.is_text(c)]
        single = [c for c in texts if len({row[c] for row in self.rows}) == len(self.rows)]
        named = [c for c in range(len(self.columns)) if self.roots(c) & _IDENTIFIER]
        return next(iter([*single, *texts, *named]), None)

    def identifies(self, column: int) -> bool:
        """Whether a column names rows: the key, an identifier, a name or a title."""
        named = bool(roots(self.columns[column]) & (_IDENTIFIER | {root("name"), root("title")}))
        return column == self.key() or named

    def mentions(self, text: str) -> list[Mention]:
        """The text cells that a text mentions, without those within longer ones."""
        found: list[Mention] = []
        for column in range(len(self.columns)):
            if not self.is_text(column):
                continue
            for cell in dict.fromkeys(row[column] for row in self.rows):
                if isinstance(cell, str) and cell.strip():
                    found += [Mention(a, b, column, cell) for a, b in find_cell(text, cell)]
        kept, reach = list[Mention](), (0, 0)  # the end that is reached so far, and from where
        for one in sorted(found, key=lambda one: (one.begin, -one.end)):
            if reach[0] < one.end or reach == (one.end, one.begin):
                kept.append(one)
            if reach[0] < one.end:
                reach = one.end, one.begin
        return sorted(kept)

    def where(self, rows: Iterable[Row]) -> "FactRows":
        """The same table with other rows."""
        return replace(self, rows=tuple(rows))


def find_cell(text: str, cell: str) -> list[tuple[int, int]]:
    """Find the positions of a cell in a text, as whole words; a short cell in the same case."""
    flags = re.IGNORECASE if len(cell) > 2 else 0
    pattern = rf"(?<![\w-]){re.escape(cell.strip())}(?![\w]|-\w)"
    return [match.span() for match in re.finditer(pattern, text, flags)]


def views(facts: Sequence[Fact]) -> list[FactRows]:
    """The tables of facts with rows, and a table of the single rows with the same columns.

    A single row without a name gets the one name that its query asks for.
    """
    made = [_add_name(view) for fact in facts if (view := view_of(fact))]
    return [*made, *_join_single_rows(made)]


def view_of(fact: Fact) -> FactRows | None:
    """The table of a fact; None for a quote, a calculation and a fact without rows."""
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
        reading=read_query(fact["query"]),
    )


def _add_name(view: FactRows) -> FactRows:
    names = view.reading.names
    if len(view.rows) != 1 or len(names) != 1 or any(map(view.is_text, range(len(view.columns)))):
        return view
    return replace(view, columns=("name", *view.columns), rows=((names[0], *view.rows[0]),))


def _join_single_rows(made: Sequence[FactRows]) -> list[FactRows]:
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


_NOTHING = frozenset(
    map(root, word_set("n x y c v cnt of the per by in a an as id key name names"))
)


def specific_roots(column: frozenset[str]) -> frozenset[str]:
    """The roots of a column that describe it best: no units and generic words if it has others."""
    words = column - _NOTHING
    own = frozenset(word for word in words - GENERIC_ROOTS if not is_unit_word(word))
    return own or (words & GENERIC_ROOTS) or words


def best_columns(view: FactRows, columns: Sequence[int], words: frozenset[str]) -> list[int]:
    """The columns whose names share most roots with ``words``; empty if none shares any."""
    scores = {c: len(specific_roots(view.roots(c)) & words) for c in columns}
    best = max(scores.values(), default=0)
    return [c for c in columns if scores[c] == best] if best else []


def select_named_rows(view: FactRows, text: str, used: set[int]) -> FactRows:
    """Select the rows with the cells that a text mentions, one in each column that it mentions.

    Numbers of the text that identify a row count as well. The columns are added to ``used``.
    """
    rows = view.rows
    named: dict[int, set[Value]] = {}
    for mention in view.mentions(text):
        named.setdefault(mention.column, set()).add(mention.cell)
    for column in range(len(view.columns)):
        if not view.is_text(column) and view.roots(column) & _IDENTIFIER:
            cells = {row[column] for row in view.rows}
            found = {n for n in find_numbers(text) if n in cells}
            if found:
                named[column] = {int(n) if n == int(n) else n for n in found}
    for column, cells in named.items():
        rows = tuple(row for row in rows if row[column] in cells)
        used.add(column)
    return view.where(rows)


def select_bounded_rows(
    view: FactRows, bounds: Sequence[Bound], used: set[int]
) -> tuple[FactRows, list[Bound]]:
    """Select the rows that meet the bounds; the second result is the bounds without a column.

    The columns are added to ``used``.
    """
    rows, left = view.rows, []
    for bound in bounds:
        column = _find_bounded_column(view, bound)
        if column is None:
            left.append(bound)
            continue
        used.add(column)
        rows = tuple(
            row
            for row in rows
            if isinstance(cell := row[column], int | float) and bound.is_met_by(float(cell))
        )
    return view.where(rows), left


def _find_bounded_column(view: FactRows, bound: Bound) -> int | None:
    scores = {
        column: len((view.roots(column) - _NOTHING) & bound.roots)
        for column in range(len(view.columns))
        if view.is_ordered(column)
    }
    best = max(scores.values(), default=0)
    columns = [column for column, score in scores.items() if score == best]
    return columns[0] if best and len(columns) == 1 else None


class Ranked(NamedTuple):
    """The rows that a superlative selects, and the column and direction of its rank."""

    rows: tuple[Row, ...]
    column: int
    direction: Direction


def find_direction(
    superlative: Superlative, column: frozenset[str], spoken: frozenset[str]
) -> tuple[Direction | None, float]:
    """Find the direction in which a superlative ranks a column (its roots), and how surely.

    The direction is None if the superlative does not refer to the column.
    """
    own = specific_roots(column)
    about = len(own & spoken) / len(own) if own else 0.0
    for direction, kind in superlative.senses:
        if kind != ANY and is_of_kind(kind, column):
            return direction, 1.0 + about
    for direction, kind in superlative.senses:
        if about and (kind == ANY or len({way for way, _ in superlative.senses}) == 1):
            return direction, about
    return None, 0.0


def rank_rows(view: FactRows, superlative: Superlative, spoken: frozenset[str]) -> list[Ranked]:
    """Select the rows in a superlative's place, by each column that it most likely refers to.

    A numeric column with a generic name counts if it is the only one.
    """
    columns = [c for c in range(len(view.columns)) if view.is_ordered(c)]
    found = [(c, *find_direction(superlative, view.roots(c), spoken)) for c in columns]
    best = max((score for _, direction, score in found if direction), default=0.0)
    chosen = [(c, d) for c, d, score in found if d and score == best]
    general = [d for d, kind in superlative.senses if kind == ANY]
    values = [c for c in columns if not roots(view.columns[c]) & _IDENTIFIER]
    if not best and general and len(values) == 1 and not view.roots(values[0]) - GENERIC_ROOTS:
        chosen = [(values[0], general[0])]
    return [
        Ranked(select_rank(view, column, direction, superlative.place), column, direction)
        for column, direction in chosen
    ]


def is_ordered_alike(reading: QueryReading, picks: Sequence[Ranked]) -> bool:
    """Whether a query sorts in the direction of the picks, so that rows cut off come later."""
    order = reading.order
    return (
        order is not None and order.place == 1 and {p.direction for p in picks} == {order.direction}
    )


def is_ranked_by_query(
    reading: QueryReading,
    superlative: Superlative,
    question: frozenset[str],
    spoken: frozenset[str],
) -> bool:
    """Whether a query itself selects what a superlative asks for, by sorting or MIN and MAX."""

    def direction_for(words: frozenset[str]) -> Direction | None:
        known = (find_direction(superlative, words, text)[0] for text in (question, spoken))
        return next(filter(None, known), None) or _general_direction(superlative, words)

    order = reading.order
    if order and order.limited and order.place == superlative.place:
        direction = direction_for(order.roots)
        if direction:
            return direction == order.direction
    wanted = [(one, direction_for(words)) for one, words in reading.extremes]
    found = [one == direction for one, direction in wanted if direction]
    return superlative.place == 1 and bool(found) and all(found)


def _general_direction(superlative: Superlative, words: frozenset[str]) -> Direction | None:
    """The direction in which a superlative ranks a column with a generic name."""
    if words - GENERIC_ROOTS:
        return None
    return next((direction for direction, kind in superlative.senses if kind == ANY), None)


def select_rank(
    view: FactRows, column: int, direction: Direction, number: int = 1
) -> tuple[Row, ...]:
    """Select the rows with the ``number``-th highest or lowest cell of a column."""
    cells = {row[column] for row in view.rows if row[column] is not None}
    values = sorted(cells, reverse=direction == "highest")  # type: ignore[type-var]
    if number > len(values):
        return ()
    return tuple(row for row in view.rows if row[column] == values[number - 1])


def equals_cell(cell: Value, text: str) -> bool:
    """Whether a text is a cell: the same words, or the same number, perhaps rounded."""
    if cell is None:
        return False
    if isinstance(cell, bool):
        return text.strip().lower() in (("true", "yes") if cell else ("false", "no"))
    plain = text.strip().strip("\"'`").strip()
    if isinstance(cell, str):
        return cell.strip().casefold() == plain.casefold()
    found, decimals = find_numbers(plain), re.search(r"\d\.(\d+)", plain)
    places = len(decimals[1]) if decimals else 0
    return len(found) == 1 and is_same_number(float(cell), found[0], places)


def is_same_number(known: float, stated: float, decimals: int) -> bool:
    """Whether a stated number is a known one, rounded to ``decimals`` and by at most 0.5 %."""
    most = min(0.005 * abs(known), 0.5001 * 10.0**-decimals)
    return known == stated or abs(known - stated) <= most


def find_missing_aggregate(words: set[str], view: FactRows) -> str:
    """Find why a query does not compute the total or mean that words ask for; empty if it does."""
    names = {word for column in view.columns for word in tokens(column)}
    used = view.reading.aggregates
    if words & MEAN and not words & TOTAL and "avg" not in used and not names & {*MEAN, "avg"}:
        return "The question asks for a mean, and the query takes none."
    if words & TOTAL and not used & {"sum", "count"} and not names & {*TOTAL, "amount"}:
        return "The question asks for a total, and the query takes none."
    if words & TOTAL and "avg" in used and not used & {"sum", "count"}:
        return "The question asks for a total, and the query takes a mean."
    return ""
