"""The attributes of the candidates of a decision, derived from the schema alone.

An attribute is a number for every candidate: a column of the candidate; a column of the link
between it and what the question names (the flow from a node *to the home*); a sum or average over
all its links; or a column of what the question names. Each can be computed from the tables of a
world, and queried in SQL and in Cypher. Learning finds out which attributes matter.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planweave.learning.queries.formulas import FormulaColumn
from planweave.learning.queries.slots import Place
from planweave.simulators.scenario import Scenario
from planweave.simulators.tables import DataTable, Indices, NodeLabel, RelationshipType, World

COUNT = "links"
"""The column name for counting the links themselves."""


@dataclass(frozen=True)
class Slot:
    """A place for a named value: a text column of the table of a node label."""

    label: str
    column: str


@dataclass(frozen=True)
class Attribute:
    """One number for each candidate."""

    name: str
    table: DataTable  # whose column it is
    column: str
    slot: Slot | None = None  # what the question names: the other end of the link, or the owner
    link: RelationshipType | None = None  # whose rows are read; None for a plain column
    end: Literal["start", "end"] = "start"  # where the candidate is
    aggregate: Literal["sum", "avg"] = "sum"  # over the rows of the link; 0 without any
    flag: str = ""  # a boolean column of the link that must be true, or with `!` before it false

    def number(self, variable: str, shown: str = "") -> str:
        """The column of a row as a number, for SQL and Cypher; ``shown`` is its name there."""
        kinds = {column.name: column.type for column in self.table.columns}
        text = f"{variable}.{shown or self.column}"
        return f"CASE WHEN {text} THEN 1 ELSE 0 END" if kinds[self.column] == "boolean" else text

    @property
    def other(self) -> tuple[str, str]:
        """Column and label of the other end of the link."""
        assert self.link is not None  # noqa: S101 (plain columns have no ends)
        return self.link.end if self.end == "start" else self.link.start


class Attributes:
    """The attributes of a scenario's candidates, by name."""

    def __init__(
        self,
        scenario: Scenario,
        candidate: str,
        slots: Sequence[Slot],
        excluded: Slot | None = None,
    ) -> None:
        self._graph, self.slots, self.excluded = scenario.graph, tuple(slots), excluded
        self._tables = {table.name: table for table in scenario.tables}
        self.candidate = scenario.graph.node(candidate)
        self.known = {attribute.name: attribute for attribute in self._all_attributes()}

    def columns(self, world: World, named: Mapping[Slot, str]) -> dict[str, FormulaColumn]:
        """Every attribute [n] of the n candidates of a world, for the ``named`` values."""
        return {name: self._values(a, world, named) for name, a in self.known.items()}

    def _all_attributes(self) -> Iterator[Attribute]:
        yield from self._columns(self.candidate, None, "")
        for slot in self.slots:
            yield from self._columns(
                self._graph.node(slot.label), slot, f"asked_{slot.label.lower()}_"
            )
        for link in self._graph.relationships:
            both = link.start[1] == link.end[1]
            if link.start[1] == self.candidate.label:
                yield from self._links(link, "start", f"{link.table}_out" if both else link.table)
            if link.end[1] == self.candidate.label:
                yield from self._links(link, "end", f"{link.table}_in" if both else link.table)

    def _columns(self, node: NodeLabel, slot: Slot | None, prefix: str) -> Iterator[Attribute]:
        table = self._tables[node.table]
        for name in _number_columns(table, {node.key}):
            yield Attribute(prefix + node.property(name), table, name, slot)

    def _links(
        self, link: RelationshipType, end: Literal["start", "end"], stem: str
    ) -> Iterator[Attribute]:
        table = self._tables[link.table]
        flags = [column.name for column in table.columns if column.type == "boolean"]
        plain = [c for c in _number_columns(table, {link.start[0], link.end[0]}) if c not in flags]
        other = (link.end if end == "start" else link.start)[1]
        for slot in self.slots:
            for column in (*plain, *flags, COUNT) if slot.label == other else ():
                name = f"{stem}_{slot.label.lower()}_{column}"
                yield Attribute(name, table, column, slot, link, end)
        for column in (*plain, COUNT):
            yield Attribute(f"{stem}_sum_{column}", table, column, None, link, end)
            for flag in flags:
                for sign, word in (("", "if"), ("!", "unless")):
                    name = f"{stem}_sum_{column}_{word}_{flag}"
                    yield Attribute(name, table, column, None, link, end, flag=sign + flag)
        for column in plain:
            name = f"{stem}_avg_{column}"
            yield Attribute(name, table, column, None, link, end, "avg")

    def _rows(self, a: Attribute, end: tuple[str, str], world: World) -> Indices:
        """The row number of the node at that end of each link."""
        node = self._graph.node(end[1])
        return world.places(a.table.name, end[0], node.table, node.key)

    def _values(self, a: Attribute, world: World, named: Mapping[Slot, str]) -> FormulaColumn:
        size, table = len(world[self.candidate.table].rows), world[a.table.name]
        if a.link is None:
            numbers = table.numbers(a.column)
            if a.slot is None:
                return numbers
            return np.full(size, numbers[table.values(a.slot.column).index(named[a.slot])])
        keep = np.ones(len(table.rows), dtype=np.bool_)
        if a.slot is not None:
            owners = world[self._graph.node(a.slot.label).table].values(a.slot.column)
            keep &= self._rows(a, a.other, world) == owners.index(named[a.slot])
        if a.flag:
            keep &= (table.numbers(a.flag.removeprefix("!")) != 0) != a.flag.startswith("!")
        amount = np.ones(len(keep)) if a.column == COUNT else table.numbers(a.column)
        places = self._rows(a, getattr(a.link, a.end), world)[keep]
        total: FormulaColumn = np.bincount(places, amount[keep], size).astype(np.float64)
        if a.aggregate == "sum":
            return total
        return total / np.maximum(np.bincount(places, minlength=size), 1)

    def sql(self, name: str) -> str:
        """The attribute as a SQL expression about the candidate ``c``."""
        a = self.known[name]
        if a.link is None and a.slot is None:
            return a.number("c")
        if a.link is None:
            what, where_it_is = a.number("x"), self._is_named(a, "x")
            return f"(SELECT MAX({what}) FROM {a.table.name} x WHERE {where_it_is})"  # noqa: S608 - names of our own schema
        join, where = (
            "",
            [f"x.{getattr(a.link, a.end)[0]} = c.{self.candidate.key}", *_flag(a)],
        )
        if a.slot is not None:
            column, label = a.other
            owner = self._graph.node(label)
            join = f" JOIN {owner.table} o ON o.{owner.key} = x.{column}"
            where.append(self._is_named(a, "o"))
        number = "1" if a.column == COUNT else a.number("x")
        what = f"COALESCE({a.aggregate.upper()}({number}), 0)"
        conditions = " AND ".join(where)
        return f"(SELECT {what} FROM {a.table.name} x{join} WHERE {conditions})"  # noqa: S608 - as above

    def _is_named(self, a: Attribute, variable: str) -> str:
        assert a.slot is not None  # noqa: S101 (asked only of attributes with a slot)
        table = self._graph.node(a.slot.label).table
        return f"{variable}.{a.slot.column} = {Place(table, a.slot.column)}"

    def cypher(self, name: str) -> tuple[str, str]:
        """A match clause beside the candidate ``c`` (may be empty), and the attribute itself."""
        a = self.known[name]
        if a.link is None and a.slot is None:
            return "", a.number("c", self.candidate.property(a.column))
        if a.link is None and a.slot is not None:
            shown = self._graph.node(a.slot.label).property(a.column)
            return f"MATCH {self._node(a, a.slot, 'x')}", f"max({a.number('x', shown)})"
        assert a.link is not None  # noqa: S101 (the other two cases came first)
        arrow = f"-[x:{a.link.type}]->" if a.end == "start" else f"<-[x:{a.link.type}]-"
        where = "".join(f" WHERE {condition}" for condition in _flag(a))
        match = f"OPTIONAL MATCH (c){arrow}{self._node(a, a.slot, '')}{where}"
        if a.column == COUNT:
            return match, "count(x)"
        return match, f"coalesce({a.aggregate}({a.number('x')}), 0)"

    def _node(self, a: Attribute, slot: Slot | None, variable: str) -> str:
        if slot is None:
            return f"({variable}:{a.other[1]})"
        found = self._graph.node(slot.label).property(slot.column)
        return f"({variable}:{slot.label} {{{found}: {Place(slot.label, found)}}})"


def _number_columns(table: DataTable, excluded: Iterable[str]) -> list[str]:
    """The columns of a table for arithmetic: no text, no key, no reference."""
    excluded_names = set(excluded)
    return [c.name for c in table.columns if c.type != "text" and c.name not in excluded_names]


def _flag(a: Attribute) -> list[str]:
    if not a.flag:
        return []
    return [f"NOT x.{a.flag[1:]}" if a.flag.startswith("!") else f"x.{a.flag}"]
