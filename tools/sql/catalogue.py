"""The names of a schema without regard to case, and the columns that join its tables."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from planweave.tools.database import Entity, Field, Schema

ColumnTest: TypeAlias = Callable[[exp.Column], bool]
"""Tells something of a column: whether it holds dates, or rows lack a value in it."""

_LONGEST_PATH = 4
_NUMBER_TYPES = ("int", "bigint", "smallint", "num", "dec", "real", "float", "double")
_DATE_TYPES, _MOMENT_TYPES = ("date", "timestamp"), ("datetime", "timestamp")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}.*)?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}.*")
_TELLING = ("id", "code", "key", "_no", "_name")
_PARTS_OF_A_PERSON = 2
_VAGUE = ("id", "code", "key", "name", "first_name", "last_name", "user_name", "full_name")


class Link(NamedTuple):
    """Two columns whose equality joins their tables."""

    left: str
    left_column: str
    right: str
    right_column: str

    def turned(self) -> "Link":
        """The same link from the other side."""
        return Link(self.right, self.right_column, self.left, self.left_column)


class Catalogue:
    """Names of a schema without regard to case, and the links between its tables."""

    def __init__(self, schema: Schema) -> None:
        self._entities = {entity.name.lower(): entity for entity in schema.entities}
        self.columns: dict[str, dict[str, str]] = {
            name: {field.name.lower(): field.name for field in entity.fields}
            for name, entity in self._entities.items()
        }
        """For each table its columns: as compared, and as written."""
        self.keys: dict[str, set[str]] = {
            name: {field.name.lower() for field in entity.fields if field.key}
            for name, entity in self._entities.items()
        }
        """For each table the columns of its key."""
        fields = [field for entity in schema.entities for field in entity.fields]
        self._moments = {f.name.lower() for f in fields if _holds(f, _MOMENT_TYPES, _MOMENT)}
        self._dates = {f.name.lower() for f in fields if _holds(f, _DATE_TYPES, _DATE)}
        self._numbers = {f.name.lower() for f in fields if f.type.lower().startswith(_NUMBER_TYPES)}

    def name(self, table: str) -> str:
        """A table as written."""
        return self._entities[table].name

    def is_date(self, column: exp.Column) -> bool:
        """Whether columns of that name hold dates."""
        return column.name.lower() in self._dates

    def is_moment(self, column: exp.Column) -> bool:
        """Whether columns of that name hold dates with a time."""
        return column.name.lower() in self._moments

    def is_number(self, column: exp.Column) -> bool:
        """Whether columns of that name hold numbers."""
        return column.name.lower() in self._numbers

    def naming(self, table: str) -> str:
        """The column that names the rows of a table; empty if that is not sure."""
        columns, stem = self.columns.get(table.lower(), {}), table.lower().removesuffix("s")
        for name in ("name", f"{stem}_name", f"{stem}name"):
            if name in columns:
                return columns[name]
        called = [written for name, written in columns.items() if name.endswith("name")]
        for name in ("title", f"{stem}_title", "label", "descr", "description"):
            if name in columns and not called:
                return columns[name]
        found = called or [written for name, written in columns.items() if name.endswith("title")]
        return found[0] if len(found) == 1 else ""

    def names(self, table: str) -> tuple[str, ...]:
        """The columns that name the rows of a table: one, or the first and last names of people."""
        if naming := self.naming(table):
            return (naming,)
        columns = self.columns.get(table.lower(), {})
        plain = {name.replace("_", ""): written for name, written in columns.items()}
        found = [plain.get(first) for first in ("firstname", "givenname", "forename")]
        found += [plain.get(last) for last in ("lastname", "surname", "familyname")]
        people = tuple(name for name in found if name)
        return people if len(people) == _PARTS_OF_A_PERSON else ()

    def stands_for(self, table: str, column: str) -> tuple[str, str]:
        """The table whose rows a column tells apart, and its key; the same table for its own."""
        for link in self.links:
            for end in (link, link.turned()):
                is_key = self.keys.get(end.right) == {end.right_column}
                if (end.left, end.left_column) == (table, column) and is_key:
                    return end.right, end.right_column
        return (table, column) if self.keys.get(table) == {column} else ("", "")

    def homes(self, column: str) -> list[str]:
        """Tables that have the column."""
        return [table for table, columns in self.columns.items() if column in columns]

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Keys that are declared or found; between other tables, columns of one telling name."""
        links = [link for entity in self._entities.values() for link in _declared(entity)]
        joined = {frozenset((link.left, link.right)) for link in links}
        for left, right in combinations(self.columns, 2):
            if frozenset((left, right)) not in joined:
                links += self._by_name(left, right)
        return tuple(links)

    def _by_name(self, left: str, right: str) -> list[Link]:
        for one, other in ((left, right), (right, left)):
            for stem in (one, one.removesuffix("s")):
                if "id" in self.columns[one] and f"{stem}_id" in self.columns[other]:
                    return [Link(other, f"{stem}_id", one, "id")]
        shared = [column for column in self.columns[left] if column in self.columns[right]]
        keys = self.keys[left] ^ self.keys[right]
        telling = [c for c in shared if self._tells(c) or (c in keys and c not in _VAGUE)]
        stems = (left.removesuffix("s"), right.removesuffix("s"))
        telling.sort(key=lambda column: not column.startswith(stems))
        return [Link(left, telling[0], right, telling[0])] if telling else []

    def _tells(self, column: str) -> bool:
        """Whether a column's name says that it stands for a thing: ``aid``, ``state_name``."""
        stems = tuple(table.removesuffix("s") for table in self.columns)
        return column not in _VAGUE and (column.endswith(_TELLING) or column.startswith(stems))

    def path(self, start: set[str], goal: str) -> list[Link] | None:
        """The fewest links from any table of ``start`` to ``goal``; None if there are none."""
        reached: dict[str, list[Link]] = {table: [] for table in sorted(start)}
        frontier = list(reached)
        for _ in range(_LONGEST_PATH):
            following: list[str] = []
            for table in frontier:
                for link in self.links:
                    step = link if link.left == table else link.turned()
                    if step.left == table and step.right not in reached:
                        reached[step.right] = [*reached[table], step]
                        following.append(step.right)
            if goal in reached:
                break
            frontier = following
        return reached.get(goal)

    def are_linked(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether a link leads from one column to the other, or back; both with their tables."""
        return any({one, other} == {link[:2], link[2:]} for link in self.links)

    def is_link(self, left: str, left_column: str, right: str, right_column: str) -> bool:
        """Whether two columns join their tables: by name, by a link, or as reference and key.

        A name that both have joins them only where no link does: two shops of one city are two.
        """
        one, other = (left, left_column), (right, right_column)
        if (left_column in self.keys[left]) != (right_column in self.keys[right]):
            return True
        if self.are_linked(one, other):
            return True
        tables, ends = {left, right}, [{link[:2], link[2:]} for link in self.links]
        if any({a.left, a.right} == tables and a.left_column != a.right_column for a in self.links):
            return False
        both_refer = any(one in a and other in b and a & b for a in ends for b in ends)
        return left_column == right_column or both_refer


class Homes:
    """The tables of a query, and which of them has a column."""

    def __init__(self, tree: exp.Expr, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._tables = {
            table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)
        }

    def of(self, column: exp.Column) -> tuple[str, str] | None:
        """The table that alone has the column, and its name there, as the schema writes them."""
        name, alias = column.name.lower(), column.table.lower()
        sources = {self._tables.get(alias, "")} if alias else {*self._tables.values()}
        homes = [t for t in sources if name in self.catalogue.columns.get(t, {})]
        if len(homes) != 1:
            return None
        return self.catalogue.name(homes[0]), self.catalogue.columns[homes[0]][name]

    def lacking(self, rows: Callable[[str, str], bool]) -> ColumnTest:
        """What tells of a column whether rows have no value in it, as ``rows`` does of a name."""

        def is_lacking(column: exp.Column) -> bool:
            home = self.of(column)
            return home is not None and rows(*home)

        return is_lacking


def _declared(entity: Entity) -> Iterator[Link]:
    for column in entity.fields:
        table, _, key = column.references.rpartition(".")
        if table:
            yield Link(entity.name.lower(), column.name.lower(), table.lower(), key.lower())


def _holds(field: Field, types: tuple[str, ...], form: re.Pattern[str]) -> bool:
    """Whether a column is declared as of a type, or all its samples are written in its form.

    SQLite has no type for dates: most of its tables declare them as texts.
    """
    is_written = bool(field.samples) and all(map(form.fullmatch, field.samples))
    return is_written or field.type.lower().startswith(types)
